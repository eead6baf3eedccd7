"""Reading writes nothing: a read-only folder can be searched, and a folder looks the same after it was searched."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path

import pytest

from breadth.errors import StoreError
from breadth.index import Index
from tests.index.letters import Letters, documents


@pytest.fixture
def path():
    """An index in a folder that any user may enter."""
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    with Index.create(folder / "my.index", Letters()) as made:
        made.add(documents(1500), batch=1100)
    yield folder / "my.index"
    os.chmod(folder / "my.index", 0o755)  # noqa: PTH101
    shutil.rmtree(folder)


def snapshot(path):
    every = [path, *sorted(path.rglob("*"))]
    return {str(p): (p.stat().st_mtime_ns, p.stat().st_size) for p in every}


def use(index):
    """Everything that reads."""
    assert len(index) == 1500
    assert index.search("fever", k=5, where={"source": "cough"}, hybrid=0.3).searched == 500
    assert index.lookup("heart 3", 2)
    assert index.get("d7").id == "d7"
    assert index.fields == ["source", "year"]
    assert index.check().ok
    assert sum(1 for _ in index) == 1500


def test_reading_leaves_no_trace(path):
    before = snapshot(path)
    with Index.open(path, Letters()) as index:
        use(index)
        assert snapshot(path) == before
    assert snapshot(path) == before


def as_another_user(work):
    """Run a function in a child process without the rights of root; return whether it ended well."""
    pid = os.fork()
    if pid == 0:
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            work()
        except BaseException as error:
            sys.stderr.write(f"{error!r}\n")
            sys.stderr.flush()
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="rights of another user need fork")
def test_a_read_only_folder_can_be_searched_but_not_changed(path):
    for file in (path, *path.rglob("*")):
        file.chmod(0o555 if file.is_dir() else 0o444)

    def read():
        with Index.open(path, Letters()) as index:
            use(index)
            for change in (lambda: index.add(documents(1, start=9000)), lambda: index.delete(["d1"]), index.optimize):
                with pytest.raises(StoreError, match=r"cannot be written .* it can be searched"):
                    change()
            use(index)

    with Index.open(path, Letters()) as index:  # loads everything that a child without rights may not read
        index.search("fever", k=3)
    assert as_another_user(read)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="rights of another user need fork")
def test_a_reader_without_rights_sees_what_a_writer_does_meanwhile(path):
    with Index.open(path, Letters()) as writer:
        writer.add(documents(5, start=2000))
        for file in (path, *path.rglob("*")):
            file.chmod(0o555 if file.is_dir() else 0o444)

        def read():
            with Index.open(path, Letters()) as index:
                assert len(index) == 1505
                assert index.search("fever", k=3).searched == 1505

        assert as_another_user(read)
        path.chmod(0o755)


def test_a_reader_follows_a_writer_that_comes_and_goes(path):
    """The reader reads the file as it is while there is no writer; it notices when there is one, or was one."""
    with Index.open(path, Letters()) as reader:
        for round_ in range(4):
            assert reader.search("fever", k=2).searched == 1500 + 10 * round_
            with Index.open(path, Letters()) as writer:
                writer.add(documents(10, start=3000 + 10 * round_))
                assert len(reader) == 1510 + 10 * round_
                if round_ % 2:
                    writer.optimize()
            assert len(reader) == 1510 + 10 * round_
            assert reader.get(f"d{3000 + 10 * round_}")
        assert reader.check().ok


def test_a_copy_of_a_folder_is_an_index(path, tmp_path):
    shutil.copytree(path, tmp_path / "copy.index")
    with Index.open(tmp_path / "copy.index", Letters()) as index:
        use(index)
