"""What every encoder promises, tested for every encoder in the registry.

A new encoder is tested here as soon as it is registered. All it needs is a line in `DESCRIPTIONS`: a context that
prepares what the encoder loads, without a download, and gives the description to make it from.
"""

from __future__ import annotations

import re
import sys
from contextlib import contextmanager
from importlib.metadata import requires

import numpy as np
import pytest

from breadth.encoders import ENCODERS, SPELLINGS, Encoder, encoder
from breadth.errors import InputError, MissingExtraError, hint_install
from tests.encoders import standins

TEXTS = ["asthma is", "fever", "is cough fever asthma", "cough cough", "fever is asthma asthma is"]
MANY = [TEXTS[i % 5] + " fever" * (i % 7) for i in range(1100)]  # more than any encoder takes at a time


@contextmanager
def describe_builtin(folder, monkeypatch):
    yield "builtin"


@contextmanager
def describe_sentence_transformers(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", standins.sentence_transformers)
    yield "sentence-transformers:some/model"


@contextmanager
def describe_model2vec(folder, monkeypatch):
    standins.write_static_model(folder)
    yield f"model2vec:{folder}"


@contextmanager
def describe_openai(folder, monkeypatch):
    with standins.serve_embeddings() as url:
        yield f"openai:tiny@{url}"


@contextmanager
def describe_onnx(folder, monkeypatch):
    standins.write_onnx_model(folder)
    yield f"onnx:{folder}"


DESCRIPTIONS = {
    "builtin": describe_builtin,
    "sentence-transformers": describe_sentence_transformers,
    "model2vec": describe_model2vec,
    "openai": describe_openai,
    "onnx": describe_onnx,
}


def describe(name, folder, monkeypatch):
    """The context that gives a description of this encoder; an encoder without one fails."""
    if name not in DESCRIPTIONS:
        pytest.fail(
            f"the encoder {name!r} is registered, but the contract suite cannot make one: "
            f"add it to DESCRIPTIONS in tests/encoders/test_contract.py"
        )
    return DESCRIPTIONS[name](folder, monkeypatch)


@pytest.fixture(params=sorted(ENCODERS))
def name(request):
    return request.param


@pytest.fixture
def description(name, tmp_path, monkeypatch):
    with describe(name, tmp_path, monkeypatch) as text:
        yield text


@pytest.fixture
def made(description):
    made = encoder(description)
    yield made
    close(made)


def close(made):
    if hasattr(made, "_client"):  # warnings are errors, and a client that is left open warns
        made._client.close()


def test_it_fits_the_protocol(name, made):
    assert isinstance(made, Encoder)
    assert isinstance(made.dim, int)
    assert made.dim >= 1
    assert made.name.startswith(f"{name}:")


def test_rows_are_float32_of_unit_length(made):
    rows = made.encode(TEXTS)
    assert rows.shape == (len(TEXTS), made.dim)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert len(np.unique(rows.round(5), axis=0)) > 1  # they depend on the text


def test_the_name_stands_for_the_vectors(description, made):
    before, rows = made.name, made.encode(TEXTS)
    again = encoder(description)
    assert made.name == again.name == before
    np.testing.assert_array_equal(again.encode(TEXTS), rows)
    close(again)
    from_name = encoder(made.name)
    assert from_name.name == made.name
    close(from_name)


def test_documents_and_queries_are_accepted(made):
    documents = made.encode(TEXTS, "document")
    np.testing.assert_array_equal(made.encode(TEXTS), documents)
    queries = made.encode(TEXTS, kind="query")
    assert queries.shape == documents.shape
    assert queries.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(queries, axis=1), 1.0, atol=1e-6)


def test_no_texts_give_no_rows(made):
    for kind in ("document", "query"):
        rows = made.encode([], kind)
        assert rows.shape == (0, made.dim)
        assert rows.dtype == np.float32


def test_a_row_depends_on_its_own_text_alone(made):
    rows = made.encode(MANY)
    assert rows.shape == (len(MANY), made.dim)
    for place in (0, 1, 31, 32, 127, 128, 700, 1023, 1024, 1099):
        np.testing.assert_allclose(made.encode([MANY[place]])[0], rows[place], atol=1e-6)
    np.testing.assert_allclose(made.encode(MANY[::-1]), rows[::-1], atol=1e-6)


def test_a_text_without_known_words_is_a_row_of_zeros_or_a_unit_row(made):
    rows = made.encode(["", "asthma", " \n"])
    lengths = np.linalg.norm(rows, axis=1)
    assert rows.shape == (3, made.dim)
    assert lengths[1] == pytest.approx(1.0, abs=1e-6)
    for length in lengths[[0, 2]]:
        assert length == 0 or length == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ("one text", r"texts must be a list of texts, got str; pass \[text\]"),
        (b"bytes", "texts must be a list of texts, got bytes"),
        (None, "texts must be a list of texts, got None"),
        (["asthma", 3], "texts must hold texts only, got 3 at place 1"),
        (["asthma", None], "texts must hold texts only, got None at place 1"),
        (["asthma", "half \ud83d"], "the text at place 1 holds half of a character"),
    ],
)
def test_wrong_texts_are_refused(made, texts, message):
    with pytest.raises(InputError, match=message):
        made.encode(texts)


def test_a_wrong_kind_is_refused(made):
    with pytest.raises(InputError, match="kind must be one of 'document', 'query', got 'passage'"):
        made.encode(TEXTS, "passage")


def test_a_missing_package_names_the_extra(name, description, monkeypatch):
    extra = ENCODERS[name].extra
    packages = [r for r in requires("breadth") if re.search(f"extra == ['\"]{extra}['\"]", r)]
    assert packages, f"the package has no extra {extra!r}"
    for package in packages:
        module = re.match(r"[\w-]+", package)[0].replace("-", "_")
        monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtraError, match=re.escape(hint_install(extra))):
        encoder(description).encode(TEXTS)


def test_its_description_is_spelled_out_and_needs_what_it_says(name):
    form = ENCODERS[name].form
    assert (f"{name}:{form}" if form else name) in SPELLINGS.split(", ")
    if form:
        for incomplete in (name, f"{name}:"):
            with pytest.raises(InputError, match=re.escape(f"encoder must be one of {SPELLINGS}; got {incomplete!r}")):
                encoder(incomplete)


def test_an_encoder_that_the_suite_cannot_make_fails_it(tmp_path, monkeypatch):
    with pytest.raises(pytest.fail.Exception, match="'unheard-of' is registered, but the contract suite cannot make"):
        describe("unheard-of", tmp_path, monkeypatch)


def test_the_suite_makes_no_encoder_that_is_not_registered():
    assert set(DESCRIPTIONS) <= set(ENCODERS)
