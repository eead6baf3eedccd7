"""What a team does with an index: info, export, delete, check, update, and vectors of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

import breadth as package
from breadth import Index
from tests.cli.commands import breadth
from tests.cli.test_cli import records


def write(path, *lines):
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")


@pytest.fixture
def made(tmp_path):
    """A fresh index of sixty passages."""
    write(tmp_path / "docs.jsonl", *records())
    breadth("index", tmp_path / "docs.jsonl", "-o", tmp_path / "my.index")
    return tmp_path / "my.index"


def read(text):
    return [json.loads(line) for line in text.splitlines()]


def ids_in(path):
    with Index.open(path) as opened:
        return {document.id for document in opened}


def test_the_version():
    assert breadth("--version").stdout == f"breadth {package.__version__}\n"


def test_info(made):
    facts = json.loads(breadth("info", made, "--json").stdout)
    assert facts["documents"] == 60
    assert facts["fields"] == ["source", "year"]
    assert facts["encoder"].startswith("builtin:")
    assert facts["bytes"] > 10_000
    shown = breadth("info", made).stdout
    for words in ("60 passages", "source, year", "builtin:potion", "MB"):
        assert words in shown
    assert "is not a breadth index" in breadth("info", made.parent, code=1).stderr


def test_what_is_exported_can_be_indexed_again(made, tmp_path):
    exported = read(breadth("export", made).stdout)
    assert exported == [{**record, "year": record["year"]} for record in records()]
    some = read(breadth("export", made, "--where", "source = 's1' and year >= 2050").stdout)
    assert [one["id"] for one in some] == ["r51", "r53", "r55", "r57", "r59"]
    assert breadth("export", made, "--where", "source = 'none'").stdout == ""
    done = breadth("export", made, "-o", tmp_path / "out.jsonl", "--vectors")
    assert "60 passages" in done.stdout
    assert "exists; choose another name" in breadth("export", made, "-o", tmp_path / "out.jsonl", code=1).stderr
    breadth("index", tmp_path / "out.jsonl", "-o", tmp_path / "again.index", "--vector-field", "vector")
    with Index.open(made) as one, Index.open(tmp_path / "again.index") as other:
        assert [(d.id, d.text, d.metadata) for d in one] == [(d.id, d.text, d.metadata) for d in other]
        np.testing.assert_allclose(one.oracle().rows(np.arange(60)), other.oracle().rows(np.arange(60)), atol=1e-6)
        assert other.encoder_name == ""
    assert "its vectors were made elsewhere" in breadth("search", tmp_path / "again.index", "asthma", code=1).stderr
    assert "none: the vectors were made elsewhere" in breadth("info", tmp_path / "again.index").stdout


def test_deleting(made, tmp_path):
    assert "2 deleted, 58 passages left" in breadth("delete", made, "r0", "r1").stdout
    done = breadth("delete", made, "r1", "r2")
    assert ("1 deleted" in done.stdout, done.stderr) == (True, "not there: r1\n")
    assert "0 deleted" in breadth("delete", made, "nothing", code=1).stdout
    (tmp_path / "ids.txt").write_text("r3\n\nr4\n")
    told = json.loads(breadth("delete", made, "--ids-from", tmp_path / "ids.txt", "--json").stdout)
    assert told == {"deleted": 2, "missing": [], "documents": 55}
    assert "pass --yes" in breadth("delete", made, "--where", "year > 2050", code=1).stderr
    assert "9 deleted" in breadth("delete", made, "--where", "year > 2050", "--yes").stdout
    assert "0 deleted" in breadth("delete", made, "--where", "year > 2050", "--yes").stdout
    assert ids_in(made) == {f"r{i}" for i in range(5, 51)}
    for arguments in ((), ("r5", "--where", "year > 1")):
        assert "say what to delete" in breadth("delete", made, *arguments, code=1).stderr


def test_checking(made):
    assert "60 passages, whole" in breadth("check", made).stdout
    told = json.loads(breadth("check", made, "--json").stdout)
    assert (told["ok"], told["documents"], told["problems"]) == (True, 60, [])
    store = made / "index.sqlite"
    data = bytearray(store.read_bytes())
    place = data.index(b"fact number 3 about migraine")
    data[place : place + 4] = b"FACT"
    store.write_bytes(data)
    done = breadth("check", made, code=1)
    assert "damaged" in done.stderr
    assert "make it again" in done.stdout


# Pieces (6)


def test_updating_pieces_leaves_documents_with_similar_ids_alone(tmp_path):
    words = [f"asthma{i} cough fever" for i in range(4)]
    write(
        tmp_path / "other.jsonl", {"id": "a#3", "text": "migraine is not a piece"}, {"id": "a#9", "text": "fever alone"}
    )
    breadth("index", tmp_path / "other.jsonl", "-o", tmp_path / "i")
    write(tmp_path / "a.jsonl", {"id": "a", "text": " ".join(words[:3])})
    breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "i", "--chunk", "3w")
    write(tmp_path / "a.jsonl", {"id": "a", "text": " ".join(words[:2])})
    told = json.loads(
        breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "i", "--chunk", "3w", "--update", "--json").stdout
    )
    assert told["removed"] == 1
    assert ids_in(tmp_path / "i") == {"a#0", "a#1", "a#3", "a#9"}
    with Index.open(tmp_path / "i") as opened:
        assert opened.get("a#3").text == "migraine is not a piece"


def test_other_pieces_replace_all_old_ones_or_are_reported(tmp_path):
    write(tmp_path / "a.jsonl", {"id": "a", "text": " ".join(f"asthma{i} cough" for i in range(6))})
    breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "i", "--chunk", "2w")
    before = ids_in(tmp_path / "i")
    assert len(before) == 6
    for chunk in (("--chunk", "4w"), ()):
        done = breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "i", *chunk, code=1)
        assert "--update replaces it" in done.stderr
        assert ids_in(tmp_path / "i") == before
    breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "i", "--chunk", "4w", "--update")
    assert ids_in(tmp_path / "i") == {"a#0", "a#1", "a#2"}
    breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "i", "--update")
    assert ids_in(tmp_path / "i") == {"a"}


def test_a_document_that_stands_twice_is_not_mixed(tmp_path):
    write(tmp_path / "a.jsonl", {"id": "a", "text": "asthma cough"}, {"id": "a", "text": "fever rash migraine pain"})
    told = json.loads(breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "i", "--chunk", "2w", "--json").stdout)
    assert ids_in(tmp_path / "i") == {"a#0"}
    assert [one["reason"] for one in told["skipped"]] == ["the id 'a' was used before"]


# Vectors of one's own, and mistakes


def test_vectors_of_ones_own_need_no_encoder_and_no_text(tmp_path):
    write(
        tmp_path / "a.jsonl",
        {"id": "x", "v": [1, 0]},
        {"id": "y", "v": [0.6, 0.8]},
        {"id": "z", "v": "none"},
        {"id": "w"},
    )
    done = breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "i", "--vector-field", "v")
    assert "no vector: the field v is missing, or not a list of numbers" in done.stderr
    (tmp_path / "q.json").write_text("[1.0, 0.0]")
    found = json.loads(
        breadth(
            "search", tmp_path / "i", "--query-vector", tmp_path / "q.json", "-k", 5, "--on-topic", 0, "--json"
        ).stdout
    )
    assert [hit["id"] for hit in found["hits"]] == ["x", "y"]
    for vector, message in (([3, 0], "of length 3, not 1"), ([1, 0, 0], "a list of 3 numbers, and the others have 2")):
        write(tmp_path / "b.jsonl", {"id": "new", "v": vector})
        assert (
            message
            in breadth("index", tmp_path / "b.jsonl", "-o", tmp_path / "i", "--vector-field", "v", code=1).stderr
        )
    done = breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "i", "--vector-field", "v", "--chunk", "2w", code=1)
    assert "goes without --chunk" in done.stderr


def test_a_demo_for_programs(tmp_path):
    told = json.loads(breadth("demo", "--folder", tmp_path, "--json").stdout)
    assert set(told) == {"index", "choice", "compare", "frontier", "diagnose"}
    assert len(told["compare"]) == 2
    assert told["index"]["medquad"]["documents"] > 2900
    assert told["choice"]["given_up"] == 0 < told["choice"]["repeats"]
    settings = {one["setting"]: one for one in told["diagnose"]["advisories"]["settings"]}
    assert settings["default"]["redundant"] < 0.01 < settings["top-k"]["redundant"]
    assert settings["default"]["lost"] == settings["top-k"]["lost"] == 0 < settings["filter 0.95"]["lost"]


def test_whoever_closes_the_pipe_gets_no_traceback(made):
    command = [sys.executable, "-m", "breadth", "export", str(made)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_the_command_line_without_its_packages_says_how_to_get_them():
    code = "import sys; sys.modules['typer'] = None; from breadth.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ})
    assert done.returncode == 1
    assert done.stderr == "the command line needs typer; in your clone of breadth, run: pip install '.[text]'\n"
