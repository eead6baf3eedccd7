"""Files that were made, or damaged, to break whoever reads them. None gives a traceback; what is good is indexed.

Each entry of `FILES` writes a file (or folder), and says which documents are found and a part of the message. Most run
in this process. Those that would never end, or fill the memory, run in another one with limits.
"""

from __future__ import annotations

import codecs
import ctypes
import gzip
import json
import os
import resource
import socket
import struct
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from breadth import Index, cli
from breadth.sources import parquet as parquet_reader
from breadth.sources.files import MOST_BYTES

GOOD = '{"id": "good", "text": "asthma is a disease"}'
LAST = '{"id": "last", "text": "fever is a symptom"}'
BOTH = ["good", "last"]


def lines(*between):
    """JSON lines between two good ones."""
    return "\n".join((GOOD, *between, LAST)).encode()


def table(*rows, head="id,text"):
    return "\n".join((head, "good,asthma is a disease", *rows, "last,fever is a symptom", "")).encode()


def parquet(rows, **options):
    def write(path):
        pq.write_table(rows if isinstance(rows, pa.Table) else pa.Table.from_pylist(rows), path, **options)

    return write


def parquet_with_columns(path):
    """Two columns of one name."""
    texts = pa.array(["asthma is a disease", "x"])
    pq.write_table(pa.table([pa.array(["good", "last"]), texts, texts], names=["id", "text", "text"]), path)


def cut_parquet(path):
    rows = [{"id": f"r{i}", "text": f"asthma number {i}"} for i in range(50)]
    pq.write_table(pa.Table.from_pylist(rows), path)
    path.write_bytes(path.read_bytes()[:-20])


def scratched_parquet(path):
    """Zeros in the pages of a file whose end is whole."""
    rows = [{"id": f"r{i}", "text": f"asthma number {i} of {i * i}"} for i in range(2000)]
    pq.write_table(pa.Table.from_pylist(rows), path, compression="none", row_group_size=500)
    data = bytearray(path.read_bytes())
    data[40:200] = bytes(160)
    path.write_bytes(data)


def folder(path):
    """A folder with something of everything."""
    path.mkdir()
    (path / "good.txt").write_text("asthma is a disease")
    (path / "last.md").write_bytes(codecs.BOM_UTF8 + b"fever is a symptom")
    (path / "half.txt").write_bytes(b"caf\xe9")
    (path / "wide.txt").write_text("fever", encoding="utf-16")
    (path / "empty.txt").write_bytes(b"")
    (path / ".hidden.txt").write_text("secret")
    (path / ".git").mkdir()
    (path / ".git" / "note.txt").write_text("secret")
    (path / "picture.png").write_bytes(b"")
    (path / "broken.txt").symlink_to(path / "nowhere")
    (path / "loop.txt").symlink_to(path / "loop.txt")
    (path / "outside.txt").symlink_to("/etc/passwd")
    (path / "elsewhere").symlink_to("/etc")
    os.mkfifo(path / "pipe.txt")
    (path / "zero.txt").symlink_to("/dev/zero")
    with (path / "large.txt").open("wb") as file:
        file.truncate(MOST_BYTES + 1)  # it takes no room on the disk
    (path / os.fsdecode(b"name\xff.txt")).write_text("asthma")


DEEP = '{"id": "deep", "text": "asthma", "x": ' + "[" * 100_000 + "]" * 100_000 + "}"
RUNAWAY = "\n".join(f"r{i},fact {i} about asthma" for i in range(50))

FILES = {
    # JSON lines
    "empty.jsonl": (b"", [], "holds no record"),
    "blank.jsonl": (b"\n\n  \n", [], "holds no record"),
    "mark_only.jsonl": (codecs.BOM_UTF8, [], "holds no record"),
    "marked.jsonl": (codecs.BOM_UTF8 + lines(), BOTH, ""),
    "utf16.jsonl": (lines().decode().encode("utf-16"), [], "is UTF-16; save it as UTF-8"),
    "utf32.jsonl": (lines().decode().encode("utf-32"), [], "is UTF-32; save it as UTF-8"),
    "zeros.jsonl": (bytes(1000), [], "broken JSON"),
    "gzip.jsonl": (gzip.compress(lines() * 50), [], "could be used"),
    "latin.jsonl": (lines() + b'\n{"id": "x", "text": "caf\xe9"}', BOTH, "latin.jsonl:3: not UTF-8"),
    "deep.jsonl": (lines(DEEP), BOTH, "deep.jsonl:2: nested too deeply"),
    "deeper_metadata.jsonl": (lines('{"id": "d", "text": "a", "x": ' + "[" * 90 + "]" * 90 + "}"), BOTH, "jsonl:2: "),
    "twice.jsonl": (lines('{"id": "x", "text": "a", "text": "b"}'), BOTH, "the key 'text' stands twice"),
    "twice_inside.jsonl": (lines('{"id": "x", "text": "a", "m": {"n": 1, "n": 2}}'), BOTH, "the key 'n' stands twice"),
    "half_character.jsonl": (lines('{"id": "x", "text": "half \\ud83d"}'), BOTH, "a character"),
    "half_id.jsonl": (lines('{"id": "\\udfff", "text": "a"}'), BOTH, "a character"),
    "not_a_number.jsonl": (
        lines('{"id": "nan", "text": "fever", "x": NaN, "y": -Infinity}'),
        ["good", "last", "nan"],
        "",
    ),
    "large_number.jsonl": (
        lines('{"id": "n", "text": "fever", "x": 1' + "0" * 5000 + "}"),
        BOTH,
        "jsonl:2: broken JSON",
    ),
    "numbers.jsonl": (lines("1", "null", '"text"', "[]", "true"), BOTH, "not a JSON object but int"),
    "no_text.jsonl": (lines('{"id": "x"}', '{"id": "y", "text": 3}', '{"id": "z", "text": " "}'), BOTH, "no text"),
    "other_fields.jsonl": (b'{"key": 1, "words": "asthma"}\n', [], "fields 'key', 'words'; name the one with the text"),
    "odd_ids.jsonl": (
        lines('{"id": 1.5, "text": "a"}', '{"id": "", "text": "a"}', '{"id": [], "text": "a"}'),
        BOTH,
        "id field",
    ),
    "same_id.jsonl": (lines(GOOD), BOTH, "'good' was used before"),
    "after.jsonl": (lines(GOOD + " " + LAST), BOTH, "something follows"),
    "control.jsonl": (lines('{"id": "\\u001b[2J", "text": "fever \\u001b]52;c;aGFjaw==\\u0007"}'), None, ""),
    "long_text.jsonl": (lines(json.dumps({"id": "x", "text": "asthma " * 200_000})), BOTH, "cut it into pieces"),
    # JSON arrays
    "array.json": (f"[{GOOD},{LAST}]".encode(), BOTH, ""),
    "pretty.json": (json.dumps([json.loads(GOOD), json.loads(LAST)], indent=4).encode(), BOTH, ""),
    "pretty_array.jsonl": (json.dumps([json.loads(GOOD), json.loads(LAST)], indent=4).encode(), BOTH, ""),
    "objects.json": ("\n".join(json.dumps(json.loads(one), indent=2) for one in (GOOD, LAST)).encode(), BOTH, ""),
    "open_array.json": (f"[\n{GOOD},\n{LAST}".encode(), BOTH, "the array is not closed"),
    "cut_array.json": (f"[\n{GOOD},\n{LAST[:20]}".encode(), ["good"], "cut_array.json:3: broken JSON"),
    "deep_array.json": (f"[{GOOD},\n{DEEP}]".encode(), ["good"], "deep_array.json:2: nested too deeply"),
    "latin_array.json": (
        f"[{GOOD},\n".encode() + b'{"id": "x", "text": "caf\xe9"},' + f"{LAST}]".encode(),
        BOTH,
        "not UTF-8",
    ),
    "odd_array.json": (f"[{GOOD}, 1, [2], null, {LAST}]".encode(), BOTH, "not a JSON object but int"),
    "more_than_an_array.json": (f"[{GOOD},{LAST}] []".encode(), BOTH, "something follows after the array"),
    "nested_records.json": (json.dumps({"documents": [json.loads(GOOD)]}, indent=1).encode(), [], "fields 'documents'"),
    # Tables
    "empty.csv": (b"", [], "holds no record"),
    "header_only.csv": (b"id,text\n", [], "holds no record"),
    "semicolons.csv": (table().replace(b",", b";"), BOTH, ""),
    "bars.csv": (table().replace(b",", b"|"), BOTH, ""),
    "tabs.csv": (table().replace(b",", b"\t"), BOTH, ""),
    "commas.tsv": (table(), BOTH, ""),
    "open_quote.csv": (table('x,"never closed'), BOTH, "open_quote.csv:3: broken CSV"),
    "runaway_quote.csv": (
        table('x,"never closed', RUNAWAY),
        [*BOTH, *(f"r{i}" for i in range(50))],
        "runaway_quote.csv:3",
    ),
    "quote_that_closes_late.csv": (
        table('x,"never closed', RUNAWAY, 'y,"a good, quoted text"'),
        [*BOTH, "y", *(f"r{i}" for i in range(50))],
        "quote_that_closes_late.csv:3",
    ),
    "quotes_inside.csv": (table('x,"He said "no" to me"'), BOTH, "quotes_inside.csv:3: broken CSV"),
    "twice.csv": (table(head="id,text,text").replace(b"disease", b"disease,x"), [], "the column 'text' stands twice"),
    "nameless.csv": (
        b"id,text,,\ngood,asthma is a disease,,\nx,a,b,\nlast,fever is a symptom,,\n",
        BOTH,
        "without a name",
    ),
    "ragged.csv": (table("x", "x,y,z"), BOTH, "not as many cells as the header has: 1, not 2"),
    "zeros.csv": (table("a\0b,c"), None, ""),
    "latin.csv": (table() + b"x,caf\xe9\n", BOTH, "latin.csv:4: not UTF-8"),
    "latin_header.csv": (b"id,text,caf\xe9\n1,a,b\n", [], "the header is not UTF-8"),
    "utf16.csv": (table().decode().encode("utf-16"), [], "is UTF-16; save it as UTF-8"),
    "marked.csv": (codecs.BOM_UTF8 + table(), BOTH, ""),
    "old_mac.csv": (table().replace(b"\n", b"\r"), BOTH, ""),
    "one_column.csv": (b"words\nasthma\n", [], "fields 'words'; name the one with the text"),
    "long_cell.csv": (table("x," + "asthma " * 200_000), BOTH, "cut it into pieces"),
    # Parquet
    "empty.parquet": (b"", [], "is not a Parquet file"),
    "text.parquet": (b"PAR1 is how it begins", [], "is not a Parquet file"),
    "cut.parquet": (cut_parquet, [], "is not a Parquet file, or is damaged"),
    "scratched.parquet": (scratched_parquet, None, "damaged"),
    "twice.parquet": (parquet_with_columns, [], "the column 'text' stands twice"),
    "no_rows.parquet": (
        parquet(pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())})),
        [],
        "holds no record",
    ),
    "half.parquet": (
        parquet(pa.table({"id": ["x"], "text": pa.array([b"caf\xe9"], pa.binary()).view(pa.string())})),
        [],
        "not UTF-8",
    ),
    "bytes.parquet": (parquet([{"id": "good", "text": b"asthma"}]), [], "no text"),
    # What is no file
    "folder": (folder, ["good.txt", "last.md"], ""),
    "nothing_here": (lambda path: path.mkdir(), [], "it is empty"),
    "tables_only": (lambda path: (path.mkdir(), (path / "a.csv").write_bytes(table())), [], "it holds 1 .csv"),
    "link.jsonl": (lambda path: path.symlink_to("nowhere"), [], "there is no file or folder"),
    "loop.jsonl": (lambda path: path.symlink_to(path), [], "cannot be read"),
    "folder.jsonl": (lambda path: path.mkdir(), [], "it is empty"),
    "name.docx": (b"", [], "can read .jsonl"),
}


def write(path, content):
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        content(path)


@pytest.fixture
def index(tmp_path, monkeypatch, capsys):
    """A function that indexes a file, and returns the ids of its documents, what was printed, and the exit code."""

    def run(name, *arguments):
        target = tmp_path / "made.index"
        monkeypatch.setattr(sys, "argv", ["breadth", "index", str(tmp_path / name), "-o", str(target), *arguments])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        ids = []
        if target.exists():
            with Index.open(target) as made:
                ids = [d.id for d in made.documents(made.oracle().numbers)] if len(made) else []
        return ids, printed, ended.value.code or 0

    return run


@pytest.mark.parametrize("name", FILES)
def test_no_file_gives_a_traceback(name, tmp_path, index):
    content, wanted, message = FILES[name]
    write(tmp_path / name, content)
    ids, printed, code = index(name)
    assert message in printed.err
    if wanted is not None:
        assert sorted(ids) == sorted(wanted)
    assert (code == 0) == (bool(ids) and "nothing from here on was read" not in printed.err)
    for character in ("\x1b", "\x07", "\x00"):
        assert character not in printed.out + printed.err
    if not ids:
        assert not (tmp_path / "made.index").exists()
        assert printed.err.count("error: ") == 1


REASON = "a document's id holds half of a character (a lone surrogate), got 'name\\udcff.txt'; decode it anew"


def test_everything_in_a_folder_that_is_left_out_is_reported(tmp_path, index):
    folder(tmp_path / "folder")
    _, printed, code = index("folder", "--json")
    assert code == 0
    report = json.loads(printed.out)
    assert {one["where"]: one["reason"].split(":")[0] for one in report["skipped"]} == {
        ".git": "hidden",
        ".hidden.txt": "hidden",
        "broken.txt": "a link that leads nowhere",
        "elsewhere": "a link to a folder; links to folders are not followed",
        "empty.txt": "no text",
        "half.txt": "not UTF-8",
        "large.txt": "the file is longer than 64 MB",
        "loop.txt": "a link that leads nowhere",
        "name\udcff.txt": REASON,
        "outside.txt": "a link to a file outside the folder",
        "picture.png": "not a .txt, .md, .rst file",
        "pipe.txt": "a pipe, not a file",
        "wide.txt": "UTF-16; save it as UTF-8",
        "zero.txt": "a device, not a file",
    }


def limit():
    """Two gigabytes and a minute: for a process that should need far less."""
    resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (60, 60))


def index_with_limits(path, *arguments, begin=limit):
    command = [sys.executable, "-m", "breadth", "index", str(path), "-o", str(path.parent / "made.index"), *arguments]
    environment = {**os.environ, "BREADTH_COMPILED": "0", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, capture_output=True, text=True, timeout=120, preexec_fn=begin, env=environment)


def parquet_bomb(path):
    """A text of 1 MB, a thousand times: a few kilobytes that unfold to a gigabyte."""
    entries = pa.DictionaryArray.from_arrays(pa.array([0] * 2000, pa.int32()), pa.array(["asthma " * 250_000]))
    ids = pa.array([f"r{i}" for i in range(2000)])
    pq.write_table(pa.table({"id": ids, "text": entries}), path, compression="zstd")
    assert path.stat().st_size < 100_000


def endless_line(path):
    """A line that is a little too long, then good ones."""
    with path.open("wb") as file:
        file.truncate(MOST_BYTES + 10)
        file.seek(0, os.SEEK_END)
        file.write(b"\n" + lines())


def endless_cell(path):
    with path.open("wb") as file:
        file.write(b'id,text\ngood,asthma\nx,"')
        file.write(b"a" * (MOST_BYTES + 10))
        file.write(b"\nlast,fever is a symptom\n")


BOMBS = {
    "bomb.parquet": (parquet_bomb, 1, "cut it into pieces"),
    "pipe.jsonl": (os.mkfifo, 1, "is a pipe, not a file"),
    "zero.jsonl": (lambda path: path.symlink_to("/dev/zero"), 1, "is a device, not a file"),
    "line.jsonl": (endless_line, 0, "line.jsonl:1: the line is longer than 64 MB"),
    "cell.csv": (endless_cell, 0, "cell.csv:3: broken CSV: the row is longer than 64 MB"),
}


@pytest.mark.parametrize("name", BOMBS)
def test_what_has_no_end_is_bounded(name, tmp_path):
    make, code, message = BOMBS[name]
    make(tmp_path / name)
    done = index_with_limits(tmp_path / name)
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert done.returncode == code


def test_a_page_that_unfolds_to_too_much_is_not_unfolded(tmp_path, index, monkeypatch):
    monkeypatch.setattr(parquet_reader, "_MOST_UNFOLDED", 1 << 20)
    row = {"id": "x", "text": "asthma", "x": bytes(4_000_000)}
    rows = [row, {**row, "id": "good", "x": b"small"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet", row_group_size=1, compression="zstd")
    ids, printed, code = index("a.parquet")
    assert (ids, code) == (["good"], 0)
    assert "a.parquet:1: the 1 rows from here on unfold to more than" in printed.err


def test_a_socket_is_refused(tmp_path, index, monkeypatch):
    path = tmp_path / "s.jsonl"
    with socket.socket(socket.AF_UNIX) as server:
        monkeypatch.chdir(tmp_path)  # the name of a socket is at most about 100 bytes long
        server.bind("s.jsonl")
        _, printed, code = index("s.jsonl")
    assert (code, "is a socket, not a file" in printed.err) == (1, True)
    assert path.exists()


def limit_and_obey():
    """The same, for a process that obeys the rights of files also if root runs it."""
    limit()
    if os.getuid() == 0:
        for right in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
            ctypes.CDLL(None).prctl(24, right, 0, 0, 0)  # PR_CAPBSET_DROP


@pytest.mark.skipif(sys.platform != "linux", reason="root gives up its rights in the way of Linux")
def test_what_may_not_be_read_is_reported_and_the_rest_goes_on(tmp_path):
    source = tmp_path / "folder"
    (source / "closed").mkdir(parents=True)
    (source / "closed" / "inside.txt").write_text("asthma")
    (source / "good.txt").write_text("asthma is a disease")
    (source / "closed.txt").write_text("secret")
    (source / "closed").chmod(0)
    (source / "closed.txt").chmod(0)
    done = index_with_limits(source, "--json", begin=limit_and_obey)
    (source / "closed").chmod(0o700)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["added"] == 1
    assert {one["where"]: one["reason"] for one in report["skipped"]} == {
        "closed": "the folder cannot be read: Permission denied",
        "closed.txt": "cannot be read: Permission denied",
    }
    (source / "closed.txt").rename(tmp_path / "closed.jsonl")
    done = index_with_limits(tmp_path / "closed.jsonl", begin=limit_and_obey)
    assert done.returncode == 2
    assert "is not readable" in done.stderr


def test_there_are_enough_of_them():
    assert len(FILES) + len(BOMBS) >= 40
    assert struct.calcsize("P") == 8  # the limits above are for 64 bits
