"""Whatever goes wrong is one of the errors of breadth, which says what to do."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from breadth.errors import BreadthError, InputError, StoreError
from breadth.index import Document, Index
from breadth.index.failures import reported
from tests.index.letters import CHILD, Letters, documents


@pytest.fixture
def index(tmp_path):
    with Index.create(tmp_path / "my.index", Letters()) as made:
        made.add(documents(20))
        yield made


def test_a_closed_index_says_that_it_is_closed(index):
    index.close()
    index.close()
    calls = (
        lambda: len(index),
        lambda: index.search("fever", k=1),
        lambda: index.get("d1"),
        lambda: "d1" in index,
        lambda: list(index),
        lambda: index.lookup("fever"),
        lambda: index.oracle(),
        lambda: index.documents([1]),
        lambda: index.fields,
        lambda: index.add(documents(1)),
        lambda: index.delete(["d1"]),
        lambda: index.optimize(),
    )
    for call in calls:
        with pytest.raises(StoreError, match="is closed; open it again"):
            call()
    assert "closed" in repr(index)
    assert "is closed" in index.check().problems[0]


WRONG = {
    "get(1)": (lambda index: index.get(1), "the id must be a text that is not empty, got 1; pass '1'"),
    "get(None)": (lambda index: index.get(None), "the id must be a text"),
    "get of a surrogate": (lambda index: index.get("\ud800"), "lone surrogate"),
    "get of nothing": (lambda index: index.get("nobody"), "there is no document 'nobody'"),
    "delete([1])": (lambda index: index.delete([1]), "ids: an id must be a text .* got 1; pass '1'"),
    "delete(1)": (lambda index: index.delete(1), "ids must be a list of ids, got 1"),
    "add of a dict": (lambda index: index.add([{"id": "a"}]), r"got dict at place 0; write Document\(\*\*record\)"),
    "add of a text": (lambda index: index.add("abc"), "documents must be a list of `Document`s, got one str"),
    "add of one document": (lambda index: index.add(Document("a", "b")), "got one Document; pass a list"),
    "add of nothing": (lambda index: index.add(None), "documents must be a list of `Document`s, got NoneType"),
    "add without text": (lambda index: index.add([Document("a", " ")]), "'a' has no text; pass its vector"),
    "update of numbers": (lambda index: index.update([1, 2]), "must hold `Document`s, got int at place 0"),
    "batch 0": (lambda index: index.add(documents(3), batch=0), "batch must be at least 1"),
    "find_conflicts": (lambda index: index.find_conflicts([3]), "must hold `Document`s"),
    "k = 0": (lambda index: index.search("fever", k=0), "k must be at least 1, got 0"),
    "k a word": (lambda index: index.search("fever", k="many"), "k must be a whole number"),
    "surrogate query": (lambda index: index.search("\ud83d", k=1), "query holds half of a character"),
    "empty query": (lambda index: index.search("", k=1), "query is empty"),
    "query None": (lambda index: index.search(None, k=1), "query"),
    "surrogate words": (lambda index: index.lookup("\ud83d"), "text holds half of a character"),
    "words of a number": (lambda index: index.lookup(3), "text must be a string, got 3"),
    "limit 0": (lambda index: index.lookup("x", 0), "limit must be at least 1"),
    "pinned number": (lambda index: index.search("fever", k=1, pinned=[3]), "pinned: an id must be a text"),
    "excluded number": (lambda index: index.search("fever", k=1, excluded=3), "excluded must be a list of ids, got 3"),
    "scores empty": (lambda index: index.search("fever", k=1, scores={}), "scores is empty"),
    "scores by number": (lambda index: index.search("fever", k=1, scores={3: 1.0}), "scores: an id must be a text"),
    "scores a word": (lambda index: index.search("fever", k=1, scores={"d1": "x"}), r"scores\['d1'\] must be a finite"),
    "unknown option": (lambda index: index.search("fever", k=1, colour="red"), "has no option 'colour'"),
    "documents of texts": (lambda index: index.documents(["x"]), "numbers must be whole numbers"),
    "documents of floats": (lambda index: index.documents([1.5]), "numbers must be whole numbers"),
    "documents of a text": (lambda index: index.documents("12"), "numbers must be a list of row numbers, got '12'"),
    "documents of nothing": (lambda index: index.documents(None), "numbers must be a list of row numbers"),
    "documents of a large number": (lambda index: index.documents([10**30]), "numbers must be whole numbers"),
    "pieces": (lambda index: index.pieces(3), "parent must be a text"),
    "hybrid": (lambda index: index.search("fever", k=1, hybrid="x"), "hybrid must be a number"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_wrong_arguments_are_errors_that_say_so(index, name):
    call, message = WRONG[name]
    with pytest.raises(InputError, match=message):
        call(index)
    assert len(index) == 20
    assert "d1" in index


def test_what_is_asked_in_vain_is_simply_not_there(index):
    assert 1 not in index
    assert None not in index
    assert index.delete(["nobody", "nobody"]) == 0
    assert index.delete([]) == 0


_FULL = """
import resource, signal, sys
from breadth.errors import StoreError
from breadth.index import Index, Document
from tests.index.letters import Letters, documents

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
index = Index.open(sys.argv[1], Letters())
before = len(index)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
done = before
try:
    for start in range(1000, 200_000, int(sys.argv[3])):
        count = int(sys.argv[3])
        index.add([Document(f"d{i}", f"fever {i} " + "x" * 500) for i in range(start, start + count)], batch=count)
        done += count
except StoreError as error:
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(error)
    assert "the disk is full" in str(error), error
    assert len(index) == done, (len(index), done)
    assert index.check().ok, index.check()
    index.add(documents(3, start=500_000))  # there is room again
    assert len(index) == done + 3
    sys.exit(0)
sys.exit(7)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a limit on the size of files needs POSIX")
@pytest.mark.parametrize(("limit", "batch"), [(400_000, 20), (400_000, 1500), (1_500_000, 1500)])
def test_a_full_disk_is_said_and_nothing_committed_is_lost(index, limit, batch):
    """A limit on the size of files stands in for a full disk: the system refuses to write more."""
    index.close()
    command = [sys.executable, "-c", _FULL, str(index.path), str(limit), str(batch)]
    environment = {**CHILD, "PATH": ""}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (OSError(28, "No space left on device"), "the disk is full"),
        (OSError(30, "Read-only file system"), "cannot be written"),
        (PermissionError(13, "Permission denied"), "cannot be written"),
        (OSError(5, "Input/output error"), "cannot be used"),
    ],
)
def test_errors_of_the_system_are_explained(error, message):
    with pytest.raises(StoreError, match=message) as caught, reported(Path("my.index")):
        raise error
    assert isinstance(caught.value, BreadthError)


def test_errors_of_your_own_pass_through(index):
    """What your documents or your encoder raise is yours."""

    def failing():
        yield from documents(2, start=100)
        raise PermissionError("my own file")

    with pytest.raises(PermissionError, match="my own file"):
        index.add(failing())
    assert len(index) == 20
    index.add(documents(2, start=100))
    assert len(index) == 22


def test_fewer_documents_than_asked_for_are_no_error(index):
    found = index.search("fever", k=50, distinct=1.0, on_topic=0)
    assert (len(found), found.asked, found.searched) == (20, 50, 20)
    assert found.selection.stats["asked"] == 50
    some = index.search("fever", k=50, where={"year": {"$lt": 2003}}, distinct=1.0, on_topic=0)
    assert (len(some), some.asked, some.searched) == (3, 50, 3)
    for method in ("topk", "mmr", "dpp", "greedy", "exact", "frank_wolfe"):
        assert len(index.search("fever", k=9, where={"year": {"$lt": 2003}}, method=method, pool=3)) == 3
    none = index.search("fever", k=5, where={"year": 1900})
    assert (list(none), none.asked, none.searched, none.ids) == ([], 5, 0, [])
    assert none.selection.k == 0
    assert list(index.search("fever", k=5, where={"year": 1900}, hybrid=0.5, group_by="source")) == []
    assert list(index.search("x", k=5, where={"year": 1900}, scores={"d1": 0.5})) == []
    assert index.lookup("xylophone") == []


def test_no_document_that_is_relevant_enough_is_no_error(index):
    none = index.search("fever", k=5, floor=1.5)
    assert (list(none), none.asked, none.searched) == ([], 5, 20)
    vectors = Letters().encode(["fever", "zzzz", "asthma"])
    found = index.search_many(vectors, k=3, floor=0.5)
    assert [len(one) > 0 for one in found] == [True, False, True]
    assert found[0].ids == index.search(vectors[0], k=3, floor=0.5).ids
    assert list(index.search("fever", k=2, excluded=[f"d{i}" for i in range(20)])) == []
    some = [f"d{i}" for i in range(20) if i % 20 != 2]
    assert list(index.search("fever", k=2, where={"year": {"$lt": 2002}}, excluded=some)) == []
    with pytest.raises(InputError, match="no single row costs at most budget=2"):
        index.search("fever", k=3, budget=2)
