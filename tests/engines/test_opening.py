"""`breadth.open`: addresses of engines and of indexes."""

from __future__ import annotations

import faiss
import pytest

import breadth
from breadth import InputError
from breadth.engines.address import place_and_part, split_settings
from tests.synthetic import isotropic


@pytest.fixture
def path(tmp_path, rng):
    index = faiss.index_factory(8, "IVF4,Flat", faiss.METRIC_INNER_PRODUCT)
    rows = isotropic(rng, 200, 8)
    index.train(rows)
    index.add(rows)
    faiss.write_index(index, str(tmp_path / "index.faiss"))
    return tmp_path / "index.faiss"


def test_an_address_opens_an_engine_with_its_settings(path):
    assert not breadth.open(f"faiss:{path}").exact
    assert breadth.open(f"faiss:{path}?nprobe=4").exact
    assert breadth.open(f"faiss:{path}", nprobe=4).exact


def test_an_index_is_opened_by_its_path(tmp_path, rng):
    with breadth.Index.create(tmp_path / "my.index") as index:
        index.add([breadth.Document(str(i), f"passage {i}") for i in range(5)], isotropic(rng, 5, index.dim))
    for address in (tmp_path / "my.index", f"index:{tmp_path / 'my.index'}"):
        assert breadth.open(address).size == 5
    with pytest.raises(InputError, match="an index has no setting 'nprobe'"):
        breadth.open(tmp_path / "my.index", nprobe=4)


@pytest.mark.parametrize(
    ("address", "settings", "message"),
    [
        ("nothing:there", {}, "is no index and no address of an engine; the forms are INDEX, faiss:FILE"),
        ("not/there", {}, "is no index and no address"),
        ("faiss:not/there", {}, "there is no file not/there"),
        ("faiss:{path}", {"probes": 3}, "faiss has no setting 'probes'; it has index, nprobe"),
        ("faiss:{path}?nprobe=2", {"nprobe": 3}, "nprobe is given in the address and as an argument"),
        ("faiss:{path}?nprobe=all", {}, "nprobe must be a whole number, got 'all'"),
    ],
)
def test_wrong_addresses_say_what_is_wrong(path, address, settings, message):
    with pytest.raises(InputError, match=message):
        breadth.open(address.format(path=path), **settings)


def test_settings_are_taken_out_of_an_address():
    assert split_settings("a/b?x=1&y=two&z=0.5&on=true&sslmode=require", ("x", "y", "z", "on")) == (
        "a/b?sslmode=require",
        {"x": 1, "y": "two", "z": 0.5, "on": True},
    )
    assert split_settings("a/b", ("x",)) == ("a/b", {})
    assert place_and_part("path", "table")("a/b/docs/") == {"path": "a/b", "table": "docs"}
    with pytest.raises(InputError, match="must end with /TABLE, got 'docs'"):
        place_and_part("path", "table")("docs")
