"""Pieces belong to the document that they name as their parent, whatever their ids look like."""

from __future__ import annotations

import pytest

from breadth.errors import InputError
from breadth.index import Document, Index
from breadth.index.batches import split_into_batches
from tests.index.letters import Letters, documents


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "my.index", Letters()) as made:
        yield made


def cut(name, count, text="asthma"):
    return [Document(f"{name}#{i}", f"{text} piece {i} of {name}", {}, parent=name) for i in range(count)]


def ids(index):
    return {document.id for document in index}


def test_documents_whose_ids_look_like_pieces_are_left_alone(index):
    """Indexing "X" in pieces again used to delete an unrelated document "X#7"."""
    index.add([Document("X#3", "my own document"), Document("X#7", "another one"), *documents(3)])
    index.add(cut("Y", 5), whole=True)
    index.update(cut("Y", 2), whole=True)
    assert ids(index) == {"X#3", "X#7", "Y#0", "Y#1", "d0", "d1", "d2"}
    done = index.update(cut("X", 5), whole=True)
    assert done.skipped == (("X#3", "this id is taken by a document that is no piece of 'X'"),)
    assert index.get("X#3").text == "my own document"
    assert index.get("X#7").text == "another one"
    assert index.pieces("X") == ["X#0", "X#1", "X#2", "X#4"]


def test_other_pieces_replace_the_old_ones_and_nothing_else(index):
    index.add([*cut("X", 6), *cut("Z", 3)], whole=True)
    done = index.update(cut("X", 2, "fever"), whole=True)
    assert (done.updated, done.added, done.removed) == (2, 0, 4)
    assert index.pieces("X") == ["X#0", "X#1"]
    assert index.pieces("Z") == ["Z#0", "Z#1", "Z#2"]
    assert index.update(cut("X", 9, "bone"), whole=True).added == 7
    assert len(index.pieces("X")) == 9
    assert index.update(cut("X", 9, "bone"), whole=True).unchanged == 9


def test_a_document_in_one_piece_and_its_pieces_replace_each_other(index):
    index.add([Document("X", "asthma in one piece"), *documents(2)])
    done = index.update(cut("X", 3), whole=True)
    assert (done.added, done.removed) == (3, 1)
    assert ids(index) == {"X#0", "X#1", "X#2", "d0", "d1"}
    done = index.update([Document("X", "asthma in one piece")], whole=True)
    assert (done.added, done.removed) == (1, 3)
    assert ids(index) == {"X", "d0", "d1"}


def test_adding_never_mixes_old_and_new_pieces(index):
    """Indexing again with another length of pieces, without update, used to add the new ones behind the old ones."""
    index.add(cut("X", 3), whole=True)
    assert index.add(cut("X", 3), whole=True).unchanged == 3
    for other in (cut("X", 5), cut("X", 2), [Document("X", "one piece")]):
        with pytest.raises(InputError, match="'X' is there in other pieces; use update"):
            index.add(other, whole=True)
        assert index.find_conflicts(other, whole=True) == {d.id for d in other}
    assert index.find_conflicts(cut("X", 3, "fever"), whole=True) == {"X#0", "X#1", "X#2"}
    assert index.find_conflicts([*cut("X", 3), *cut("Y", 3)], whole=True) == set()
    assert ids(index) == {"X#0", "X#1", "X#2"}


def test_pieces_of_one_document_stay_in_one_batch(index):
    every = [*cut("A", 3), *cut("B", 4), *documents(3), *cut("C", 7)]
    batches = list(split_into_batches(every, 2))
    assert [d for batch in batches for d in batch] == every
    for name in "ABC":
        assert sum(any(d.parent == name for d in batch) for batch in batches) == 1
    index.update(every, batch=2, whole=True)
    index.update([*cut("A", 1), *cut("C", 2)], batch=1, whole=True)
    assert len(index) == 1 + 4 + 3 + 2


def test_a_single_piece_can_be_changed(index):
    index.add(cut("X", 4), whole=True)
    index.update([Document("X#2", "quite different", {}, parent="X")])
    assert index.get("X#2").text == "quite different"
    assert len(index.pieces("X")) == 4
    index.delete(index.pieces("X"))
    assert index.pieces("X") == []
