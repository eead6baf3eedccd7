"""Measure the questions that come with the project, each passage three times, and compare with expected.json.

`python -m benchmarks check` runs this after the slice of the experiments.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.asqa import load
from benchmarks.expected import SHIPPED, ScoreCheck
from benchmarks.serve.collection import Collection
from benchmarks.serve.judged import HALVES, judge_by_answers
from benchmarks.serve.measures import MEASURES
from benchmarks.serve.sets import KS, measure_setting
from benchmarks.serve.settings import SETTINGS
from breadth_experiments.datasets import read_passages, read_questions

EXPECTED = Path(__file__).with_name("expected.json")
COPIES = 2
TOLERANCES = {"recall": 0.03, "copies": 0.3, "best_dropped": 0.05}


def check() -> list[ScoreCheck]:
    """Measure the shipped collection, and compare every score that expected.json has."""
    data = json.loads(EXPECTED.read_text(encoding="utf-8"))
    collection = load_shipped()
    checked = []
    for name, scores in data["scores"].items():
        means = measure_means(collection, name)
        for measure, tolerance in data["tolerances"].items():
            pairs = zip(KS, scores[measure], means[measure], strict=True)
            checked += [ScoreCheck(f"{name}, k = {k}, {measure}", want, tolerance, got) for k, want, got in pairs]
    return checked


def load_shipped() -> Collection:
    """The passages that come with the project, each with two extra copies, judged by their questions' answers."""
    passages = list(read_passages(SHIPPED / "passages.jsonl"))
    questions = read_questions(SHIPPED / "questions.jsonl", "own")
    judged = judge_by_answers(passages, questions, [HALVES[0]] * len(questions))
    _, rows, queries = load(None)
    place = {question.id: number for number, question in enumerate(questions)}
    picked = queries[[place[question.id] for question in judged.questions]]
    return Collection("shipped", judged.with_copies(COPIES), np.repeat(rows, COPIES + 1, axis=0), picked)


def measure_means(collection: Collection, name: str) -> dict[str, list[float]]:
    """The mean of each measure of a setting over the questions, for each k of `KS`."""
    with tempfile.TemporaryDirectory() as folder:
        values = measure_setting(collection, SETTINGS[name], Path(folder) / "sets.jsonl").mean(axis=0)
    return {measure: [float(v) for v in values[: len(KS), place]] for place, measure in enumerate(MEASURES)}


def write_expected() -> None:
    """Write the present scores of all settings to expected.json. Look at the differences before you commit them."""
    collection = load_shipped()
    scores = {}
    for name in SETTINGS:
        means = measure_means(collection, name)
        scores[name] = {measure: [round(value, 4) for value in means[measure]] for measure in TOLERANCES}
    lines = ",\n".join(f"  {json.dumps(name)}: {json.dumps(one)}" for name, one in scores.items())
    head = f' "command": "python -m benchmarks check",\n "tolerances": {json.dumps(TOLERANCES)},'
    EXPECTED.write_text(f'{{\n{head}\n "scores": {{\n{lines}\n }}\n}}\n', encoding="utf-8")
