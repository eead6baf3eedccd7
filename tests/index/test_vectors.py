"""Vectors that you pass are the vectors that are kept: a new one is a change, a wrong number changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from breadth.errors import InputError
from breadth.index import Document, Index
from tests.index.letters import Letters, documents
from tests.synthetic import isotropic


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "my.index", dim=8) as made:
        yield made


def stored(index, identity):
    """The vector of a document."""
    oracle = index.oracle()
    place = [d.id for d in index.documents(oracle.numbers)].index(identity)
    return oracle.rows(np.array([place]))[0]


@pytest.mark.parametrize("many", [3, 1500])
def test_another_vector_for_the_same_text_is_a_change(index, rng, many):
    old, new = isotropic(rng, many, 8), isotropic(rng, many, 8)
    index.add(documents(many), vectors=old)
    assert index.update(documents(many), vectors=old).unchanged == many
    done = index.update(documents(many)[:2], vectors=new[:2])
    assert (done.updated, done.unchanged) == (2, 0)
    np.testing.assert_array_equal(stored(index, "d0"), new[0])
    np.testing.assert_array_equal(stored(index, "d2"), old[2])
    assert index.search(new[1], k=1).ids == ["d1"]
    assert len(index) == many
    with pytest.raises(InputError, match="'d2' is there with another vector; use update"):
        index.add(documents(many), vectors=np.vstack((new[:2], new[2:3], old[3:])))
    np.testing.assert_array_equal(stored(index, "d2"), old[2])
    assert index.find_conflicts(documents(many), new) == {f"d{i}" for i in range(2, many)}
    assert index.find_conflicts(documents(many)) == set()
    assert index.add(documents(many), vectors=np.vstack((new[:2], old[2:]))).unchanged == many
    index.optimize()
    np.testing.assert_array_equal(stored(index, "d1"), new[1])


@pytest.mark.parametrize("as_generator", [False, True])
@pytest.mark.parametrize(("count", "rows"), [(9, 10), (10, 9), (0, 1), (9, 0)])
def test_a_wrong_number_of_vectors_changes_nothing(index, rng, count, rows, as_generator):
    """`add(9 documents, 10 vectors)` used to raise an error after it had committed nine."""
    given = (d for d in documents(count)) if as_generator else documents(count)
    vectors = isotropic(rng, rows, 8) if rows else np.empty((0, 8), dtype=np.float32)
    with pytest.raises(InputError, match=r"more rows|fewer rows"):
        index.add(given, vectors=vectors)
    assert len(index) == 0


def test_a_wrong_number_is_noticed_before_the_batch_that_shows_it(index, rng):
    with pytest.raises(InputError, match=r"fewer rows \(25\)"):
        index.add((d for d in documents(30)), vectors=isotropic(rng, 25, 8), batch=10)
    assert len(index) == 20  # whole batches, each with its vectors
    with pytest.raises(InputError, match=r"more rows \(40\) than there are documents \(35\)"):
        index.update((d for d in documents(35)), vectors=isotropic(rng, 40, 8), batch=10)
    assert len(index) == 30


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (np.ones((2, 8), dtype=complex), "must be float32"),
        (np.ma.masked_array(np.eye(8)[:2], mask=np.eye(8)[:2]), "masked array"),
        ([["a"] * 8] * 2, "must be float32|array of numbers"),
        (np.eye(8, dtype=np.int64)[:2], "must be float32"),
        (np.eye(8)[:2] * 2, "row 0 has length 2, not 1"),
        (np.zeros((2, 8)), "row 0 is all zeros"),
        (np.full((2, 8), np.nan), "row 0 holds NaN"),
        (np.eye(9)[:2], "vectors must have 8 columns, as the index has"),
        (np.eye(8)[0], "must be a 2-D array"),
        ([[1.0] * 8, [1.0]], "different lengths|array of numbers"),
        (object(), "must be a 2-D array|array of numbers"),
    ],
)
def test_wrong_vectors_are_refused_and_change_nothing(index, vectors, message):
    with pytest.raises(InputError, match=message):
        index.add(documents(2), vectors=vectors)
    assert len(index) == 0


def test_lists_and_other_precisions_are_taken(index):
    index.add(documents(2), vectors=np.eye(8)[:2].tolist())
    index.add(documents(2, start=2), vectors=np.eye(8, dtype=np.float16)[2:4])
    assert [index.search(np.eye(8)[i], k=1).ids[0] for i in range(4)] == ["d0", "d1", "d2", "d3"]
    assert index.add([], vectors=[]).added == 0


def test_an_update_within_one_batch_keeps_the_last_one(tmp_path):
    with Index.create(tmp_path / "a.index", Letters()) as index:
        done = index.update([Document("a", "asthma"), Document("b", "bone"), Document("a", "skin")])
        assert (done.added, len(index), index.get("a").text) == (2, 2, "skin")
