"""An index that is not what was written is an error that says so; the checks find it before anybody searches."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

import numpy as np
import pytest

from breadth.errors import BreadthError, DamagedError, StoreError
from breadth.index import Document, Index, merging
from tests.index.letters import Letters, documents

PAGE = 4096


@pytest.fixture
def path(tmp_path, monkeypatch):
    """An index with several vector files and some vectors that are in none."""
    monkeypatch.setattr(merging, "FLUSH", 100)
    with Index.create(tmp_path / "my.index", Letters()) as made:
        for start in (0, 300, 600):
            made.add(documents(300, start=start), batch=300)
        made.add(documents(20, start=900))
        made.delete(["d5", "d305"])
    return tmp_path / "my.index"


def files(path):
    return sorted((path / "segments").iterdir())


def ask(path):
    with Index.open(path, Letters()) as index:
        found = [index.search(word, k=5) for word in ("asthma", "fever skin")]
        found.append(index.search("bone", k=5, where={"source": "cough"}))
        return [(one.ids, one.selection.objective, [hit.text for hit in one]) for one in found]


def test_a_whole_index_passes_the_checks(path):
    with Index.open(path, Letters()) as index:
        found = index.check()
        assert (found.ok, found.documents, found.segments, found.problems) == (True, 918, 3, ())
        index.optimize()
        assert index.check().segments == 1
        assert index.check().ok


def test_a_damaged_page_of_a_vector_file_is_an_error_or_changes_nothing(path, rng):
    right = ask(path)
    pages = [(file, start) for file in files(path) for start in range(0, file.stat().st_size, PAGE)]
    for place in rng.choice(len(pages), 40, replace=False):
        file, start = pages[place]
        good = file.read_bytes()
        file.write_bytes(good[:start] + bytes(PAGE) + good[start + PAGE :])
        with suppress(DamagedError):
            assert ask(path) == right  # a row that no answer needs
        with Index.open(path, Letters()) as index:
            assert not index.check().ok or good[start : start + PAGE] == bytes(PAGE)
        file.write_bytes(good)
    assert ask(path) == right


def test_vector_files_that_were_exchanged_are_noticed(path):
    one, other, _ = files(path)
    one.rename(path / "x")
    other.rename(one)
    (path / "x").rename(other)
    with pytest.raises(DamagedError, match="is not the file that the index wrote there"):
        ask(path)
    with Index.open(path, Letters()) as index:
        assert "is not the file that the index wrote there" in " ".join(index.check().problems)


def test_a_vector_file_of_another_index_is_noticed(path, tmp_path):
    with Index.create(tmp_path / "other.index", Letters()) as other:
        other.add(documents(300), batch=300)
    ours, theirs = files(path)[0], files(tmp_path / "other.index")[0]
    shutil.copy(theirs, ours)
    with pytest.raises(DamagedError, match="is not the file that the index wrote there"):
        ask(path)


def test_a_vector_file_that_is_missing_or_cut_is_named(path):
    file = files(path)[1]
    good = file.read_bytes()
    file.unlink()
    with pytest.raises(DamagedError, match=f"lacks the file .*{file.name}"):
        ask(path)
    with Index.open(path, Letters()) as index:
        assert file.name in " ".join(index.check().problems)
        assert index.get("d7").id == "d7"  # documents can still be read
    file.write_bytes(good[: len(good) // 2])
    with pytest.raises(DamagedError, match="is truncated"):
        ask(path)
    file.write_bytes(good)
    assert ask(path)


def test_a_vector_file_that_is_cut_while_it_is_used_does_not_end_the_process(path):
    with Index.open(path, Letters()) as index:
        oracle = index.oracle()
        for file in files(path):
            os.truncate(file, 100)
        with pytest.raises(DamagedError, match="has become shorter"):
            index.search("fever", k=5)
        with pytest.raises(DamagedError):
            oracle.rows(np.arange(oracle.size))


def test_damaged_pages_of_the_sqlite_file_are_errors_of_ours(path, rng):
    """SQLite has no checksums of its own. Documents, vectors and the list of segments have."""
    right, store = ask(path), path / "index.sqlite"
    good = store.read_bytes()
    silent = []
    for start in range(0, len(good), PAGE):
        data = bytearray(good)
        data[start : start + PAGE] = bytes(PAGE) if start % 3 else rng.bytes(PAGE)
        store.write_bytes(data)
        try:
            if ask(path) != right:
                silent.append(start // PAGE)
        except BreadthError:
            continue
    store.write_bytes(good)
    assert ask(path) == right
    assert silent == []


def test_documents_whose_bytes_changed_are_noticed(path):
    store = path / "index.sqlite"
    data = store.read_bytes()
    assert data.count(b"heart asthma number 3") >= 1
    store.write_bytes(data.replace(b"heart asthma number 3", b"heart asthma number 4"))
    with Index.open(path, Letters()) as index:
        with pytest.raises(DamagedError, match="the document in row 3 does not match its checksum"):
            index.get("d3")
        assert not index.check().ok


@pytest.mark.parametrize("content", [b"", b"SQLite format 3\0" + bytes(84), b"x" * 5000, bytes(5000)])
def test_what_is_no_sqlite_file_is_refused(path, content):
    (path / "index.sqlite").write_bytes(content)
    with pytest.raises(StoreError):
        Index.open(path, Letters())


def test_an_index_of_the_old_format_says_what_to_do(path):
    with Index.open(path, Letters()) as index:
        index._collection.connections.writer().execute("UPDATE facts SET value = '1' WHERE name = 'format'")
    with pytest.raises(
        StoreError, match=r"has format 1, this program reads format 2; make the index again from its doc"
    ):
        Index.open(path, Letters())


def test_a_document_without_a_vector_is_found_by_the_checks(path):
    with Index.open(path, Letters()) as index:
        db = index._collection.connections.writer()
        db.execute("DELETE FROM pending WHERE number = 910")
        db.execute("UPDATE state SET generation = generation + 1, epoch = epoch + 1")
        assert "1 documents have no vector" in " ".join(index.check().problems)


def test_a_full_text_that_lacks_words_is_found_by_the_checks(path):
    with Index.open(path, Letters()) as index:
        db = index._collection.connections.writer()
        text = index.get("d7").text
        db.execute("INSERT INTO words(words, rowid, text) VALUES ('delete', 7, ?)", (text,))
        for _ in range(2):
            assert "words stand more or less often" in " ".join(index.check().problems)
        db.execute("INSERT INTO words(rowid, text) VALUES (7, ?)", (text,))
        assert index.check().ok


def test_an_empty_index_is_whole(tmp_path):
    with Index.create(tmp_path / "empty.index", Letters()) as index:
        assert index.check() == type(index.check())(0, 0)
        index.add([Document("a", "asthma")])
        assert index.check().ok
