"""The commands as a user types them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from breadth import native
from breadth.cli import doctor
from breadth.encoders import ENCODERS
from breadth.sources import FORMATS, open_source
from tests.cli.commands import breadth

ROOT = Path(__file__).parents[2]
TOPICS = ["asthma in children", "heart failure", "kidney stones", "broken bones", "skin rash", "migraine"]


def records(count=60):
    return [
        {
            "id": f"r{i}",
            "text": f"{TOPICS[i % 6]}: fact number {i // 6} about {TOPICS[i % 6]}",
            "source": f"s{i % 2}",
            "year": 2000 + i,
        }
        for i in range(count)
    ]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """An index made from a file with some broken records."""
    folder = tmp_path_factory.mktemp("cli")
    lines = [json.dumps(r).encode() for r in records()]
    lines[10:10] = [b"{broken", b'{"id": "no text"}', lines[3], b'{"id": "x", "text": "caf\xe9"}', b"[1]", b""]
    (folder / "docs.jsonl").write_bytes(b"\n".join(lines))
    done = breadth("index", folder / "docs.jsonl", "-o", folder / "my.index", "--json")
    return folder, json.loads(done.stdout)


def test_indexing_reports_every_record_that_was_left_out(made):
    _, report = made
    assert report["added"] == 60
    assert report["documents"] == 60
    reasons = {s["where"]: s["reason"] for s in report["skipped"]}
    assert "broken JSON" in reasons["docs.jsonl:11"]
    assert "no text" in reasons["docs.jsonl:12"]
    assert "'r3' was used before" in reasons["docs.jsonl:13"]
    assert "not UTF-8" in reasons["docs.jsonl:14"]
    assert "not a JSON object" in reasons["docs.jsonl:15"]
    assert len(reasons) == 5


def test_the_same_command_again_goes_on_where_it_was(made):
    folder, _ = made
    report = json.loads(breadth("index", folder / "docs.jsonl", "-o", folder / "my.index", "--json").stdout)
    assert (report["added"], report["unchanged"]) == (0, 60)
    assert (
        breadth("index", folder / "docs.jsonl", "-o", folder / "my.index", "--strict", code=3).stderr.count("skipped ")
        == 5
    )


def test_searching(made):
    folder, _ = made
    asked = ("search", folder / "my.index", "asthma", "-k", 4, "--theta", 0.6, "--json")
    found = json.loads(breadth(*asked, "--on-topic", 0).stdout)
    assert len(found["hits"]) == 4
    assert found["certificate"]["exact"]
    assert found["hits"][0]["text"].startswith("asthma")
    all_differ = json.loads(breadth(*asked).stdout)  # they differ in a number: none is a copy of another
    assert [hit["copies"] for hit in all_differ["hits"]] == [[]] * 4
    assert all_differ["hits"][0]["variants"][0]["differences"]
    shown = breadth("search", folder / "my.index", "asthma", "-k", 4, "--where", "source = 's0' and year > 2010").stdout
    assert "relevance" in shown
    assert "Proved" in shown
    kept = json.loads(breadth("search", folder / "my.index", "asthma", "-k", 4, "--keep", 0.9, "--json").stdout)
    assert 0 <= kept["theta"] <= 1


def test_comparing(made):
    folder, _ = made
    found = json.loads(
        breadth(
            "compare", folder / "my.index", "heart failure", "-k", 5, "--theta", 0.5, "--sharpness", 1, "--json"
        ).stdout
    )
    top, diverse = ({h["id"] for h in found[name]["hits"]} for name in ("top_k", "diverse"))
    assert set(found["left_out"]) == top - diverse
    assert set(found["came_in"]) == diverse - top
    assert found["diverse"]["diversity"] > found["top_k"]["diversity"]
    assert "repeats" in breadth("compare", folder / "my.index", "heart failure", "-k", 5).stdout


def test_frontier_and_diagnosis_with_plots(made):
    folder, _ = made
    curve = breadth("frontier", folder / "my.index", "migraine", "-k", 5, "--plot", folder / "curve.png", "--json")
    assert set(json.loads(curve.stdout)["curves"]) == {"certified", "mmr", "greedy", "dpp", "frank_wolfe"}
    (folder / "q.txt").write_text("asthma\n\nkidney\n")
    found = breadth(
        "diagnose", folder / "my.index", "--queries", folder / "q.txt", "-k", 5, "--plot", folder / "d.png", "--json"
    )
    told = json.loads(found.stdout)
    assert told["queries"] == 2
    assert [one["setting"] for one in told["settings"]][:2] == ["top-k", "default"]
    assert told["settings"][0]["kept"] == 1
    assert "recall" not in told["settings"][0]
    for name in ("curve.png", "d.png"):
        assert (folder / name).read_bytes().startswith(b"\x89PNG")
    shown = breadth("diagnose", folder / "my.index", "--sample", 5, "-k", 5).stdout
    assert "5 beginnings of passages as queries, k = 5, 60 passages" in shown
    for words in ("repeats", "lost", "off-topic", "dropped", "relevance", "theta=0.7, sharpness=1"):
        assert words in shown
    assert "recall" not in shown


def test_a_diagnosis_with_answers_compares_the_recall_of_settings(made):
    folder, _ = made
    questions = [{"query": topic, "answers": [f"fact number {n}" for n in range(3)]} for topic in TOPICS]
    questions += [{"query": topic, "aspects": {"a": ["r0", "r1"], "b": ["r2"]}} for topic in TOPICS]
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, questions)))
    arguments = ("diagnose", folder / "my.index", "--answers", folder / "a.jsonl", "-k", 5)
    told = json.loads(breadth(*arguments, "--plot", folder / "a.png", "--json").stdout)
    assert told["queries"] == 12
    assert (folder / "a.png").read_bytes().startswith(b"\x89PNG")
    for one in told["settings"]:
        assert 0 <= one["recall"]["low"] <= one["recall"]["mean"] <= one["recall"]["high"] <= 1
        assert one["over_top_k"]["mean"] == pytest.approx(one["recall"]["mean"] - told["settings"][0]["recall"]["mean"])
    assert max(one["behind_best"]["mean"] for one in told["settings"]) == 0
    shown = breadth(*arguments).stdout
    for words in ("12 questions, k = 5", "recall in %, with 95% intervals", "minus top-k's", "minus the best"):
        assert words in shown
    assert told["verdict"] in shown


def test_mistakes_in_a_file_of_answers(made):
    folder, _ = made

    def complain(*lines):
        (folder / "bad.jsonl").write_text("\n".join(lines))
        done = breadth("diagnose", folder / "my.index", "--answers", folder / "bad.jsonl", code=1)
        assert "Traceback" not in done.stderr
        return done.stderr

    good = '{"query": "asthma", "answers": ["fact"]}'
    assert "bad.jsonl, line 2: broken JSON" in complain(good, "{broken")
    assert "bad.jsonl, line 3: needs exactly one of the fields" in complain(good, good, '{"query": "asthma"}')
    assert "the document 'r99', which the index does not hold" in complain('{"query": "asthma", "relevant": ["r99"]}')
    assert "bad.jsonl holds no question" in complain("")


def test_the_doctor_tells_what_is_there():
    told = json.loads(breadth("doctor", "--json").stdout)
    assert told["extras"]["text"]["tokenizers"]
    assert told["core"] == native.describe()
    assert doctor.CORE[told["core"]] in breadth("doctor").stdout


def test_the_doctor_knows_every_extra_that_is_declared(monkeypatch):
    declared = (ROOT / "pyproject.toml").read_text(encoding="utf-8").split("[project.optional-dependencies]")[1]
    names = re.findall(r"^([a-z0-9-]+) = \[", declared.split("\n[")[0], re.MULTILINE)
    lines = [f"some-{name}>=1.2; extra == '{name}'" for name in names] + ["numpy>=1.24", 'a[b]>=1 ; extra == "text"']
    monkeypatch.setattr(doctor, "requires", lambda _: lines)
    assert doctor.list_extras() == {
        name: [f"some-{name}", "a"] if name == "text" else [f"some-{name}"]
        for name in names
        if name not in ("bench", "dev")
    }
    assert {entry.extra for entry in ENCODERS.values()} <= set(names)
    assert "For what is missing, in your clone of breadth, run: pip install '.[" in breadth("doctor").stdout


def test_the_help_lists_every_encoder_and_format():
    shown = " ".join(breadth("index", "--help").stdout.split())
    for name in (*ENCODERS, *FORMATS):
        assert name in shown


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["search", "nowhere", "x"], 1, "nowhere is not a breadth index"),
        (["index", "nowhere.jsonl", "-o", "x"], 1, "there is no file or folder 'nowhere.jsonl'"),
        (["search"], 2, "Missing argument"),
        (["index", __file__, "-o", "x"], 1, "can read .jsonl"),
    ],
)
def test_mistakes_are_one_clear_line(tmp_path, monkeypatch, arguments, code, message):
    monkeypatch.chdir(tmp_path)
    done = breadth(*arguments, code=code)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_mistakes_in_a_search(made):
    folder, _ = made

    def complain(*arguments):
        done = breadth("search", folder / "my.index", *arguments, code=1)
        assert done.stderr.count("\n") == 1
        assert done.stdout == ""
        return done.stderr

    assert "k must be at least 1, got 0" in complain("x", "-k", 0)
    assert "--where: " in complain("x", "--where", "colour is red")
    assert "theta must be in [0, 1]" in complain("x", "--theta", 3)
    assert "--theta must be a number in [0, 1] or auto, got 'high'" in complain("x", "--theta", "high")
    assert "was made with the encoder" in complain("x", "--encoder", "openai:e@http://localhost:9/v1")
    assert "say what to search for" in complain()
    assert "say how many these are: --pool 1000" in complain("x", "--method", "mmr")
    assert "or --pool to restrict the rows" in complain("x", "--method", "exact", "-k", 10)
    assert "--option must be like NAME=VALUE, got 'step'" in complain("x", "--option", "step")
    assert "has no option 'stop'" in complain("x", "--method", "frank_wolfe", "--option", "stop=3")
    assert "there is no file 'nowhere.json'" in complain("--scores", "nowhere.json")
    assert "holds no word that the encoder" in complain("ꙮꙮ")


def test_cells_of_a_csv_that_are_numbers_can_be_compared(tmp_path):
    (tmp_path / "a.csv").write_text("id,text,year,code\n1,asthma,1999,007\n2,fever,2015,x\n3,cough,2020,1.5\n")
    breadth("index", tmp_path / "a.csv", "-o", tmp_path / "my.index")
    found = breadth(
        "search", tmp_path / "my.index", "fever", "-k", 1, "--where", "year > 2010 and year < 2018", "--json"
    )
    assert [h["id"] for h in json.loads(found.stdout)["hits"]] == ["2"]
    assert [d.metadata["code"] for d in open_source(tmp_path / "a.csv").documents()] == ["007", "x", 1.5]


def test_a_folder_without_texts_makes_no_index(tmp_path):
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "a.png").write_bytes(b"")
    assert "holds no .txt" in breadth("index", tmp_path / "pictures", "-o", tmp_path / "p.index", code=1).stderr
    assert not (tmp_path / "p.index").exists()


def test_a_text_that_became_shorter_leaves_no_pieces_behind(tmp_path):
    def write(words):
        (tmp_path / "a.jsonl").write_text(json.dumps({"id": "a", "text": " ".join(["asthma"] * words)}))

    write(10)
    breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "my.index", "--chunk", "3w")
    write(4)
    done = breadth("index", tmp_path / "a.jsonl", "-o", tmp_path / "my.index", "--chunk", "3w", "--update", "--json")
    assert json.loads(done.stdout)["documents"] == 2
