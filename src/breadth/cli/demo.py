"""`breadth demo`: the other commands on passages that come with the package.

The questions are chosen by a rule, not by hand, when the demo runs. It asks "What is …?" about every disease with at
least 12 passages, sorts these questions by the redundancy of their top 6, and shows the first three and the one in the
middle. The first three are where choosing a set matters most. The one in the middle is an ordinary question.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from breadth import api
from breadth.arrays import Array
from breadth.cli import show
from breadth.cli.diagnosing import diagnose
from breadth.cli.indexing import index
from breadth.cli.searching import compare, frontier
from breadth.index import Index
from breadth.metrics import near_copies

_K = 6
_PASSAGES = 12
"""So many passages a disease must have. Two sets of six can then differ without leaving the subject."""
_SAMPLE = 30
"""How many queries the diagnosis asks: without numba it takes a quarter of a second for each."""
_COPY = 0.95
"""The cosine above which two passages are near-copies."""


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="where to put the index and the plots")] = Path(
        "breadth-demo"
    ),
) -> None:
    """Try the commands on 3,000 real medical passages from nine web sites. A rule chooses the questions."""
    folder.mkdir(parents=True, exist_ok=True)
    passages = folder / "medquad.jsonl"
    packed = files("breadth.cli") / "data" / "medquad.jsonl.gz"
    passages.write_bytes(gzip.decompress(packed.read_bytes()))
    made = folder / "medquad.index"
    _print_command(f"breadth index {passages} -o {made}")
    index(passages, made)
    questions = _choose_questions(made, _list_diseases(passages))
    for question in questions:
        _print_command(f'breadth compare {made} "{question}" -k {_K}')
        compare(made, question, k=_K)
    can_draw = find_spec("matplotlib") is not None  # without it, the demo shows the tables alone
    curve, diagnosis = folder / "frontier.png", folder / "diagnosis.png"
    _print_command(f'breadth frontier {made} "{questions[0]}" -k {_K}' + (f" --plot {curve}" if can_draw else ""))
    frontier(made, questions[0], k=_K, plot=curve if can_draw else None)
    _print_command(f"breadth diagnose {made} --sample {_SAMPLE}" + (f" --plot {diagnosis}" if can_draw else ""))
    diagnose(made, sample=_SAMPLE, plot=diagnosis if can_draw else None)
    show.out.print(f"\nThe index and the plots are in {folder}. The passages are from MedQuAD (CC BY 4.0).")


def _list_diseases(passages: Path) -> list[str]:
    """The diseases with enough passages, as they are spelled first."""
    spellings: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for line in passages.read_text(encoding="utf-8").splitlines():
        disease = json.loads(line)["focus"].strip()
        spellings.setdefault(disease.lower(), disease)
        counts[disease.lower()] += 1
    return [spelling for key, spelling in spellings.items() if counts[key] >= _PASSAGES]


def _choose_questions(made: Path, diseases: list[str]) -> list[str]:
    """The questions to show: those with the most redundant top 6, and the one in the middle of that order."""
    questions = [f"What is {disease}?" for disease in diseases]
    with Index.open(made) as opened:
        oracle, vectors = opened.oracle(), opened.encode(questions)
        plain = api.select_many(oracle, vectors, k=_K, theta=1.0)
        chosen = api.select_many(oracle, vectors, k=_K)
        copies = [[_has_copies(oracle.rows(found.ids)) for found in sets] for sets in (plain, chosen)]
    changed = sum(set(one.ids) != set(other.ids) for one, other in zip(plain, chosen, strict=True))
    kept = sum(one.ids[0] in other.ids for one, other in zip(plain, chosen, strict=True))
    order = sorted(range(len(questions)), key=lambda number: -plain[number].redundancy)
    middle = order[len(order) // 2]
    show.out.print(
        f"\nWhich questions? A rule chooses them. The demo asks “What is …?” about all {len(questions)} diseases with "
        f"at least {_PASSAGES} passages, and sorts the questions by the redundancy of their top {_K}. You see the "
        "three most redundant ones, then the one in the middle.\n"
        f"Over all {len(questions)} questions: the set of breadth differs from the top {_K} in {changed}, and has the "
        f"best hit in {kept}. The top {_K} hold a near-copy (cosine above {_COPY:g}) in {sum(copies[0])}, the set of "
        f"breadth in {sum(copies[1])}.",
        soft_wrap=True,
    )
    return [questions[number] for number in (*order[:3], middle)]


def _has_copies(rows: Array) -> bool:
    return bool(near_copies(rows, _COPY).any())


def _print_command(command: str) -> None:
    show.out.print(f"\n$ {command}", style="bold", soft_wrap=True)
