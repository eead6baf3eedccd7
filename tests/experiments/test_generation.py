"""The generation stage from a run folder to the tables, with a fake endpoint as the reader."""

from __future__ import annotations

import json
import re

import pytest

from breadth.errors import EndpointError, InputError
from breadth_experiments import records
from breadth_experiments.generation import generate
from breadth_experiments.generation_tables import Estimate, Row, latex, load_rows, markdown
from breadth_experiments.reader import Reader
from breadth_experiments.run import Passage, Question, Run
from tests.experiments.endpoint import serving

PASSAGES = ["Heat", "Strain", "Gummo", "Sanctuary"]
SETTINGS = [("topk", 2, None), ("frank_wolfe", 2, 0.7), ("frank_wolfe", 2, 0.9), ("topk", 3, None)]


@pytest.fixture
def endpoint():
    """A reader that answers with the titles of the passages it is shown."""
    with serving() as one:
        one.answer = lambda content: "\n".join(re.findall(r"^\[\d+\] (.*)$", content, re.MULTILINE))
        yield one


@pytest.fixture
def run(tmp_path):
    """Three questions; top-k finds the first of two wanted answers, Frank–Wolfe both, in another order."""
    made = Run(tmp_path / "run")
    made.note(dataset="tiny", answers="list")
    made.write_passages(Passage(str(row), title, f"About {title}.") for row, title in enumerate(PASSAGES))
    made.write_questions(Question(f"q{n}", f"Which {n}?", (("Heat",), ("Strain", "The Strain"))) for n in range(3))
    rows = {"topk": [0, 2, 3], "frank_wolfe": [1, 0, 2]}
    lines = [
        {"method": method, "k": k, "theta": theta, "question": f"q{n}", "rows": rows[method][:k], "recall": 1.0}
        for method, k, theta in SETTINGS
        for n in range(3)
    ]
    records.write(made.path("retrieved.jsonl"), lines)
    return made


def reader(endpoint, run, **options):
    return Reader("tiny", endpoint.url, cache=run.path("cache.jsonl"), concurrency=2, wait=0.001, **options)


def generated(run):
    return list(records.read(run.path("generated.jsonl")))


def test_from_the_retrieved_sets_to_the_tables(endpoint, run):
    reports = []
    with reader(endpoint, run) as one:
        assert generate(run, one, progress=lambda done, total: reports.append((done, total))) == 12
        assert len(endpoint.asked) == 9  # both θ retrieved the same passages in the same order
        assert generate(run, one) == 0
    assert reports[-1] == (12, 12)
    assert reports == sorted(reports)
    lines = generated(run)
    assert [line["question"] for line in lines] == ["q0"] * 4 + ["q1"] * 4 + ["q2"] * 4
    first = lines[1]
    assert first["prompt"]
    assert {name: first[name] for name in first if name != "prompt"} == {
        "method": "frank_wolfe", "k": 2, "theta": 0.7, "question": "q0", "model": "tiny", "kind": "list",
        "answer": "Strain\nHeat", "precision": 1.0, "recall": 1.0, "f1": 1.0,
    }  # fmt: skip
    rows = load_rows(run)
    assert [(row.method, row.theta, row.k, row.questions) for row in rows] == [
        ("topk", None, 2, 3),
        ("topk", None, 3, 3),
        ("frank_wolfe", 0.7, 2, 3),
        ("frank_wolfe", 0.9, 2, 3),
    ]
    assert rows[0].measures == {
        "P": Estimate(0.5, 0.5, 0.5),
        "R": Estimate(0.5, 0.5, 0.5),
        "F1": Estimate(0.5, 0.5, 0.5),
        "R≥0.8": Estimate(0.0, 0.0, 0.0),
        "F1≥0.5": Estimate(1.0, 1.0, 1.0),
    }


def test_the_choice_of_settings_and_questions(endpoint, run):
    with reader(endpoint, run) as one:
        assert generate(run, one, methods=["frank_wolfe"], thetas=[0.9], questions=2) == 2
        assert generate(run, one, ks=[2], thetas=[0.9], questions=1) == 1  # top-k has no θ and fits
        assert generate(run, one, ks=[3]) == 3
        there = r"frank_wolfe with k in \[2\] and theta in \[0\.7, 0\.9\]; topk with k in \[2, 3\]$"
        with pytest.raises(InputError, match=rf"fits methods=\['mmr'\], ks=any, thetas=any .*{there}"):
            generate(run, one, methods=["mmr"])
        with pytest.raises(InputError, match="questions must be at least 1, got 0"):
            generate(run, one, questions=0)
        with pytest.raises(InputError, match="kind must be one of list, paragraph, got 'poem'"):
            generate(run, one, kind="poem")
    assert {(line["question"], line["method"]) for line in generated(run) if line["theta"] == 0.9} == {
        ("q0", "frank_wolfe"),
        ("q1", "frank_wolfe"),
    }


def test_a_paragraph_is_asked_for_and_scored_as_one(endpoint, run):
    with reader(endpoint, run) as one:
        generate(run, one, kind="paragraph", ks=[2], methods=["topk"])
    assert "paragraph" in endpoint.asked[0]["messages"][-1]["content"]
    (row,) = load_rows(run)
    assert row.measures == {"Recall": Estimate(0.5, 0.5, 0.5), "Recall=1.0": Estimate(0.0, 0.0, 0.0)}
    assert "| Top-k | — | **0.5000** | **0.0000** |" in markdown([row])


def test_a_dead_reader_and_a_line_half_written_cost_nothing_that_was_done(endpoint, run):
    endpoint.dies_after = 4
    with reader(endpoint, run) as one, pytest.raises(EndpointError):
        generate(run, one)
    assert len(list(records.read(run.path("cache.jsonl")))) == 4
    with run.path("generated.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"method": "to')
    endpoint.dies_after = None
    endpoint.asked.clear()
    with reader(endpoint, run) as one:
        assert generate(run, one) == 12
    assert len(endpoint.asked) == 5
    assert len(generated(run)) == 12


def test_answers_to_other_passages_are_not_taken_for_these(endpoint, run):
    with reader(endpoint, run) as one:
        generate(run, one)
        changed = [{**line, "rows": line["rows"][::-1]} for line in records.read(run.path("retrieved.jsonl"))]
        records.write(run.path("retrieved.jsonl"), changed)
        with pytest.raises(InputError, match=r"from another prompt.*move the file away"):
            generate(run, one)
        records.write(run.path("retrieved.jsonl"), [{**changed[0], "rows": [7]}])
        with pytest.raises(InputError, match=r"rows up to 7 but passages\.jsonl has 4 lines"):
            generate(run, one)


def test_missing_stages(endpoint, tmp_path, run):
    with reader(endpoint, run) as one:
        run.path("retrieved.jsonl").unlink()
        with pytest.raises(InputError, match="breadth experiment retrieve"):
            generate(run, one)
        with pytest.raises(InputError, match="breadth experiment generate"):
            load_rows(run)
        records.write(run.path("retrieved.jsonl"), [])
        with pytest.raises(InputError, match=r"retrieved\.jsonl is empty"):
            generate(run, one)
        run.path("run.json").write_text(json.dumps({}), encoding="utf-8")
        with pytest.raises(InputError, match=r"run\.json says under \"answers\" .* got None"):
            generate(run, one)


def row(method, theta, k, recall, full, questions=10, model="tiny_1"):
    found = {"Recall": Estimate(recall, recall - 0.1, recall + 0.1), "Recall=1.0": Estimate(full, full, full)}
    return Row(model, "paragraph", method, theta, k, questions, found)


ROWS = [
    row("topk", None, 5, 0.48, 0.2),
    row("topk", None, 10, 0.47, 0.2),
    row("mmr", 0.8, 5, 0.4947, 0.2),
    row("mmr", 0.8, 10, 0.4, 0.1),
    row("mmr", 0.9, 5, 0.3, 0.1),
    row("other_one", 0.5, 5, 0.1, 0.1),
]


def test_markdown_has_the_layout_of_the_paper():
    assert markdown(ROWS).splitlines() == [
        "**tiny_1**, 10 questions",
        "",
        "| Method | θ | Recall (k=5) | Recall=1.0 (k=5) | Recall (k=10) | Recall=1.0 (k=10) |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
        "| Top-k | — | 0.4800 | **0.2000** | **0.4700** | **0.2000** |",
        "| MMR | 0.8 | **0.4947** | **0.2000** | 0.4000 | 0.1000 |",
        "|  | 0.9 | 0.3000 | 0.1000 | — | — |",
        "| other_one | 0.5 | 0.1000 | 0.1000 | — | — |",
    ]
    assert "**0.4947** [0.395, 0.595]" in markdown(ROWS, intervals=True)
    two = markdown([*ROWS, row("dpp", 0.5, 5, 0.1, 0.1, questions=7), row("topk", None, 5, 0.1, 0.1, model="big")])
    assert "7 to 10 questions: lines over different questions do not compare" in two
    assert "**big**, 10 questions" in two
    with pytest.raises(InputError, match="at least one row"):
        markdown([])


def test_latex_has_the_layout_of_the_paper():
    text = latex(ROWS)
    assert r"\begin{tabular}{@{}ll | cc | cc@{}}" in text
    assert r"\multicolumn{2}{c|}{$\boldsymbol{k = 5}$} & \multicolumn{2}{c}{$\boldsymbol{k = 10}$} \\" in text
    assert r"\cmidrule(lr){3-4} \cmidrule(lr){5-6}" in text
    assert r"Top-$k$ & --- & 0.4800 & \textbf{0.2000} & \textbf{0.4700} & \textbf{0.2000} \\" in text
    assert r"\multirow{2}{*}{MMR} & 0.8 & \textbf{0.4947}" in text
    assert r"& 0.9 & 0.3000 & 0.1000 & --- & --- \\" in text
    assert r"other\_one & 0.5" in text
    assert r"\caption{tiny\_1, 10 questions.}" in text
    assert text.count(r"\midrule") == 3
