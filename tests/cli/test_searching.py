"""What the library can do, the command line can do: fewer documents than k, no match, every argument of a search."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys

import numpy as np
import pytest

from breadth import Index, methods, select
from breadth.cli.searching import search
from breadth.methods.registry import METHODS
from tests.cli.commands import breadth
from tests.cli.test_cli import TOPICS, records

HOSTILE = "\x1b[2J\x1b]52;c;aGFjaw==\x07\x9b31m\u202ereversed"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    where = tmp_path_factory.mktemp("searching")
    with_tags = [{**record, "tags": [record["text"].split()[0], "all"]} for record in records()]
    (where / "docs.jsonl").write_text("\n".join(map(json.dumps, with_tags)))
    breadth("index", where / "docs.jsonl", "-o", where / "my.index")
    return where


@pytest.fixture
def find(folder):
    """A function that searches, and returns the JSON."""
    return lambda *arguments: json.loads(breadth("search", folder / "my.index", *arguments, "--json").stdout)


def ids_of(found):
    return [hit["id"] for hit in found["hits"]]


# Fewer documents than k (10)


def test_more_than_there_is_gives_what_there_is_and_says_so(folder, find):
    found = find("asthma", "-k", 1000, "--distinct", 1, "--on-topic", 0)
    assert len(found["hits"]) == 60
    assert (found["asked"], found["searched"]) == (1000, 60)
    shown = breadth("search", folder / "my.index", "asthma", "-k", 1000).stdout
    assert "You asked for 1000 passages. There are 60 to choose from." in shown
    few = breadth("search", folder / "my.index", "asthma", "-k", 20, "--where", "year < 2003", "--on-topic", 0).stdout
    assert "You asked for 20 passages. There are 3 to choose from." in few


@pytest.mark.parametrize("command", ["search", "compare", "frontier"])
def test_no_match_is_an_empty_result(folder, command):
    arguments = (command, folder / "my.index", "asthma", "--where", "year > 9000")
    done = breadth(*arguments)
    assert done.stderr == ""
    assert "There is no passage to choose from." in done.stdout
    told = json.loads(breadth(*arguments, "--json").stdout)
    assert {"search": [], "compare": [], "frontier": {}}[command] == (
        told["hits"] if command == "search" else told["top_k"]["hits"] if command == "compare" else told["curves"]
    )


def test_fewer_than_k_in_the_other_commands(folder):
    compared = json.loads(breadth("compare", folder / "my.index", "asthma", "-k", 99, "--json").stdout)
    assert len(compared["top_k"]["hits"]) == 60
    curve = json.loads(
        breadth("frontier", folder / "my.index", "asthma", "-k", 99, "--thetas", "0.5,1", "--json").stdout
    )
    assert curve["k"] == 60
    assert [point["theta"] for point in curve["curves"]["mmr"]] == [0.5, 1.0]


# Every argument (13)


def test_every_argument_of_select_is_an_option():
    """Functions, arrays and pairs cannot be typed, and an index is exact, so there is nothing to audit."""
    typed = {"pin": "pinned", "exclude": "excluded", "query_vector": "query", "group_by": "groups", "option": "options"}
    options = {typed.get(name, name) for name in inspect.signature(search).parameters}
    wanted = set(inspect.signature(select).parameters) | set(inspect.signature(Index.search).parameters)
    by_python_alone = {"self", "choose", "costs", "count", "audit", "at_least", "apart", "unlike", "texts"}
    other_names = {"vectors": "index_path", "groups": "groups", "pinned": "pinned", "excluded": "excluded"}
    assert {other_names.get(name, name) for name in wanted - by_python_alone} - {"group_by"} <= options


@pytest.mark.parametrize("method", methods())
def test_every_method_can_be_asked(find, method):
    pool = 12 if METHODS[method].small else 40
    found = find("heart failure", "-k", 3, "--method", method, "--pool", pool, "--distinct", 1, "--on-topic", 0)
    assert found["method"] == method
    assert len(found["hits"]) == 3


def test_theta_auto_and_options_of_methods(find, folder):
    assert 0.0 <= find("asthma", "-k", 3, "--theta", "auto")["theta"] <= 1.0
    loose, proved = (find("asthma", "-k", 9, "--distinct", 1, "--prove", seconds) for seconds in (0, 2))
    assert proved["certificate"]["gap"] <= loose["certificate"]["gap"] + 1e-9  # rounding
    found = find("asthma", "-k", 3, "--method", "frank_wolfe", "--option", "max-iterations=3", "--option", "step=exact")
    assert found["method"] == "frank_wolfe"
    assert "among the 40 most relevant" in breadth("search", folder / "my.index", "asthma", "--pool", 40).stdout
    assert find("asthma", "-k", 3, "--time-limit", 5)["hits"]
    scores = [hit["score"] for hit in find("asthma", "-k", 30, "--distinct", 1, "--min-score", 0.5)["hits"]]
    assert min(scores) >= 0.5


def test_scores_and_vectors_from_outside(find, folder, tmp_path):
    (tmp_path / "scores.json").write_text(json.dumps({"r0": 3.5, "r1": 2, "r9": -1}))
    found = find("--scores", tmp_path / "scores.json", "-k", 2)
    assert ids_of(found) == ["r0", "r1"]
    assert found["coverage"] is None
    with Index.open(folder / "my.index") as opened:
        vector = opened.encode(["kidney stones"])[0]
    np.save(tmp_path / "q.npy", vector)
    (tmp_path / "q.json").write_text(json.dumps(vector.astype(float).tolist()))
    wanted = ids_of(find("kidney stones", "-k", 4, "--distinct", 1))
    for name in ("q.npy", "q.json"):
        assert ids_of(find("--query-vector", tmp_path / name, "-k", 4, "--distinct", 1)) == wanted
    for name, content, message in (
        ("bad.npy", b"\x93NUMPY broken", "cannot be read as an array"),
        ("bad.json", b'{"a": 1}', "must hold a JSON list of numbers"),
        ("bad.json", b"[1, 2", "is not JSON"),
        ("bad.json", b"[NaN]", "entry 0 of bad.json must be finite"),
        ("bad.json", b"[" * 100_000, "is not JSON"),
    ):
        (tmp_path / name).write_bytes(content)
        done = breadth("search", folder / "my.index", "--query-vector", tmp_path / name, code=1)
        assert message in done.stderr


def test_filters_are_text(find):
    everything = ("-k", 60, "--distinct", 1, "--on-topic", 0)
    found = find("asthma", *everything, "--where", "source = 's0' and year < 2010")
    assert sorted(ids_of(found)) == ["r0", "r2", "r4", "r6", "r8"]
    found = find("asthma", *everything, "--where", "tags contains 'heart'")
    assert {tuple(hit["metadata"]["tags"]) for hit in found["hits"]} == {("heart", "all")}
    assert find("asthma", "--where", "not exists year")["hits"] == []


def test_a_misspelt_field_is_pointed_out(folder):
    done = breadth("search", folder / "my.index", "asthma", "--where", "(yeer > 2000 or sorce.x = 1) and year > 1")
    assert "note: no passage has the field 'yeer'; the fields are source, tags, year\n" in done.stderr
    assert "'sorce.x'" in done.stderr
    assert "'year'" not in done.stderr


@pytest.mark.parametrize(
    "attack", ["source = 's0' or '1'='1'", "x) UNION SELECT 1 --", "1; DROP TABLE documents", "(" * 500, "year ="]
)
def test_what_is_no_filter_is_refused(folder, attack):
    done = breadth("search", folder / "my.index", "asthma", "--where", attack, code=1)
    assert done.stderr.startswith("error: --where: ")
    assert done.stderr.count("\n") == 1


# What is printed (15, 17)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """An index whose texts, ids and metadata try to steer the terminal."""
    where = tmp_path_factory.mktemp("hostile")
    records = [
        {"id": f"{HOSTILE}{i}", "text": f"{topic} {HOSTILE}", HOSTILE: HOSTILE} for i, topic in enumerate(TOPICS)
    ]
    records += [{"id": f"copy {HOSTILE}{i}", "text": f"{topic} {HOSTILE}"} for i, topic in enumerate(TOPICS)]
    (where / "docs.jsonl").write_text("\n".join(map(json.dumps, records)))
    breadth("index", where / "docs.jsonl", "-o", where / "my.index")
    return where


@pytest.mark.parametrize(
    "arguments",
    [
        ("search", f"asthma {HOSTILE}"),
        ("search", f"asthma {HOSTILE}", "-k", 99, "--on-topic", 0),
        ("compare", f"asthma {HOSTILE}", "-k", 4),
        ("frontier", f"asthma {HOSTILE}", "-k", 2, "--thetas", "0.5,1"),
        ("diagnose", "-k", 2),
        ("info",),
        ("delete", HOSTILE),
        ("check",),
    ],
)
def test_nothing_steers_the_terminal(hostile, arguments):
    command, *rest = arguments
    done = breadth(command, hostile / "my.index", *rest, code=1 if command == "delete" else 0)
    for stream in (done.stdout, done.stderr):
        assert not any(character in stream for character in "\x1b\x07\x9b\u202e")
    if command not in ("check", "frontier"):
        assert r"\x1b[2J" in done.stdout + done.stderr
    if command not in ("delete", "check", "info"):
        json.loads(breadth(command, hostile / "my.index", *rest, "--json").stdout)


def test_what_is_piped_is_not_wrapped(folder):
    command = [sys.executable, "-m", "breadth", "search", str(folder / "my.index"), "asthma", "-k", "3", "--distinct=1"]
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}  # such a width is kept
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
    rows = [line for line in shown.splitlines() if "about asthma in children" in line]
    assert len(rows) == 3  # each passage on a line of its own
    assert all("fact number" in row for row in rows)


def test_a_query_with_half_a_character_is_one_line(folder):
    for command in ("search", "compare", "frontier"):
        done = breadth(command, folder / "my.index", "asthma \udcff", code=1)
        assert "half of a character" in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--sample", 0), "--sample must be at least 1, got 0"),
        (("--sample", 5, "--queries", "q.txt"), "--sample goes without --queries"),
        (("--seed", -1), "--seed must be at least 0"),
        (("--queries", "nowhere.txt"), "there is no file 'nowhere.txt'"),
        (("-k", 1000), "k must be at most"),
    ],
)
def test_what_a_diagnosis_is_told_is_checked(folder, arguments, message):
    assert message in breadth("diagnose", folder / "my.index", *arguments, code=1).stderr
