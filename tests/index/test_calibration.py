"""What an encoder makes of copies and contradictions."""

from __future__ import annotations

import numpy as np
import pytest

from breadth.errors import InputError
from breadth.index import Document, Index
from breadth.index.calibration import calibrate
from tests.index.letters import Letters

TEXT = (
    "The tool needs version {} of the runtime, which must be installed by hand before the first start of the server on "
    "a new machine."
)


class Apart:
    """An encoder that sees no likeness at all."""

    name, dim = "apart", 64

    def encode(self, texts, kind="document"):
        return np.eye(64, dtype=np.float32)[[hash(text) % 64 for text in texts]]


def make(folder, encoder=None):
    index = Index.create(folder, encoder)
    index.add([Document(str(n), TEXT.format(n)) for n in range(30)] + [Document("short", "Short text.")])
    return index


def test_copies_are_close_and_contradictions_too(tmp_path):
    with make(tmp_path / "my.index") as index:
        found = calibrate(index)
        again = calibrate(index)
    assert (len(found.copies), len(found.contradictions)) == (60, 30)
    assert found.is_enough
    assert found.compared > 0.9
    assert np.median(found.contradictions) > 0.95  # a vector takes them for copies
    assert found.to_dict() == again.to_dict()
    assert "60 copies (a text and a part of it)" in found.describe()[0]
    assert "would take" in found.describe()[-1]


def test_an_encoder_that_tears_copies_apart_is_warned_of(tmp_path):
    with make(tmp_path / "my.index", Apart()) as index:
        found = calibrate(index, sample=20)
    assert not found.is_enough
    assert any(line.startswith("Warning: with this encoder") for line in found.describe())


def test_short_texts_and_missing_encoders(tmp_path):
    with Index.create(tmp_path / "short.index", Letters()) as index:
        index.add([Document("a", "heart"), Document("b", "lung")])
        assert calibrate(index).to_dict()["copies"] == {"pairs": 0}
        assert "there is nothing to cut" in calibrate(index).describe()[0]
        with pytest.raises(InputError, match="sample must be at least 1"):
            calibrate(index, sample=0)
    with Index.create(tmp_path / "vectors.index", dim=4) as index:
        index.add([Document("a", "heart")], np.eye(4)[:1])
        with pytest.raises(InputError, match="calibrate needs the encoder"):
            calibrate(index)
