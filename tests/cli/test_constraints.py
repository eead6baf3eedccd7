"""Sharpness and constraints on the command line. Commands run in this process: only what they print is looked at."""

from __future__ import annotations

import json
import sys

import pytest

from breadth import cli
from breadth.settings import DEFAULT
from tests.cli.test_cli import records


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """An index of sixty passages on six topics from two sources."""
    where = tmp_path_factory.mktemp("constraints")
    again = [{**record, "id": f"again {record['id']}", "text": record["text"].upper()} for record in records()[:12]]
    (where / "docs.jsonl").write_text("\n".join(map(json.dumps, [*records(), *again])))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["breadth", "index", str(where / "docs.jsonl"), "-o", str(where / "my.index")])
        with pytest.raises(SystemExit, match=r"^0$"):
            cli.main()
    return where


@pytest.fixture
def breadth(folder, monkeypatch, capsys):
    """A function that runs a command on the index, and returns what it printed."""

    def run(command, *arguments, code=0):
        monkeypatch.setattr(sys, "argv", ["breadth", command, str(folder / "my.index"), *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        printed = capsys.readouterr()
        assert (ended.value.code or 0) == code, printed.err
        return printed

    return run


@pytest.fixture
def search(breadth):
    """A function that searches, and returns the JSON."""
    return lambda *arguments: json.loads(breadth("search", *arguments, "--json").out)


def ids_of(found):
    return [hit["id"] for hit in found["hits"]]


def test_searching_with_constraints(search):
    grouped = search("asthma", "-k", 6, "--group-by", "source", "--on-topic", 0)
    assert sorted(hit["metadata"]["source"] for hit in grouped["hits"]) == ["s0", "s1"]
    assert grouped["stats"]["asked"] == 6
    grouped = search("asthma", "-k", 6, "--group-by", "source", "--per-group", 2, "--distinct", 1)
    assert [hit["metadata"]["source"] for hit in grouped["hits"]].count("s0") == 2
    chosen = ids_of(search("asthma", "-k", 4, "--pin", "r5", "--pin", "r9", "--exclude", "r0", "--exclude", "r6"))
    assert {"r5", "r9"} <= set(chosen)
    assert not {"r0", "r6"} & set(chosen)
    assert search("asthma", "-k", 8, "--floor", 1.5)["hits"] == []  # nothing is relevant enough: no mistake
    low = search("asthma", "-k", 8, "--floor", 0.5, "--distinct", 1)
    assert low["hits"]
    assert all(hit["score"] >= 0.5 - 1e-6 for hit in low["hits"])
    cheap = search("asthma", "-k", 10, "--budget", 20)
    assert 0 < sum(len(hit["text"].split()) for hit in cheap["hits"]) <= 20


def test_searching_with_another_sharpness(search):
    for sharpness in (1, 4):
        found = search("asthma", "-k", 4, "--sharpness", sharpness, "--theta", 0.6)
        assert found["sharpness"] == sharpness
        assert found["objective"] == pytest.approx(0.6 * found["relevance"] - 0.4 * found["redundancy"])
        assert all(hit["copies"] == [] for hit in found["hits"])  # the paper's setting drops no copies


def test_hits_show_what_they_stand_for(search, breadth):
    found = search("asthma", "-k", 4)
    assert found["sharpness"] == DEFAULT.sharpness
    copies = [copy for hit in found["hits"] for copy in hit["copies"]]
    assert copies
    assert all(set(copy) == {"id", "cosine", "relation", "metadata"} for copy in copies)
    assert not {copy["id"] for copy in copies} & set(ids_of(found))
    assert "says all of" in breadth("search", "asthma", "-k", 4).out
    best = ids_of(search("asthma", "-k", 1, "--method", "topk"))[0]
    assert best in [i for hit in found["hits"][:1] for i in (hit["id"], *(copy["id"] for copy in hit["copies"]))]


def test_keeping_the_best_hit_or_not(search):
    best = search("asthma", "-k", 1, "--theta", 1)["hits"][0]["score"]
    for flag, theta in (("--keep-best", 0.0), ("--keep-best", 0.5)):
        kept = search("asthma", "-k", 3, flag, "--theta", theta, "--sharpness", 1)
        assert kept["hits"][0]["score"] == pytest.approx(best, abs=1e-6)
    free = search("asthma", "-k", 3, "--no-keep-best", "--theta", 0.0, "--distinct", 1)
    assert free["objective"] >= search("asthma", "-k", 3, "--theta", 0.0, "--distinct", 1)["objective"] - 1e-9


def test_comparing_and_drawing_with_constraints(breadth):
    found = breadth(
        "compare",
        "asthma",
        "-k",
        4,
        "--group-by",
        "source",
        "--per-group",
        1,
        "--distinct",
        1,
        "--on-topic",
        0,
        "--json",
    )
    assert len(json.loads(found.out)["diverse"]["hits"]) == 2
    curve = breadth("frontier", "asthma", "-k", 4, "--sharpness", 2, "--distinct", 0.9, "--no-keep-best", "--json")
    points = json.loads(curve.out)["curves"]["certified"]
    relevances = [point["relevance"] for point in points]
    assert relevances == sorted(relevances)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--sharpness", 3], 1, "sharpness must be 1 or an even number, got 3"),
        (["--sharpness", "x"], 2, "--sharpness"),
        (["--distinct", 1.5], 1, "distinct must be in [-1, 1], got 1.5"),
        (["--per-group", 2], 1, "per_group needs --group-by, the metadata field"),
        (["--group-by", "colour"], 1, "no document has the field 'colour'"),
        (["--pin", "nobody"], 1, "pinned: there is no document 'nobody'"),
        (["--exclude", "nobody"], 1, "excluded: there is no document 'nobody'"),
        (["--pin", "r1", "--exclude", "r1"], 1, "pinned and excluded contradict each other"),
        (["--budget", 1], 1, "no single row costs at most budget=1"),
        (["--theta", 0.5, "--keep", 0.9], 1, "pass theta or keep, not both"),
    ],
)
def test_wrong_constraints_are_one_clear_line(breadth, arguments, code, message):
    done = breadth("search", "asthma", "-k", 3, *arguments, code=code)
    assert message in " ".join(done.err.split())
    assert "Traceback" not in done.err
