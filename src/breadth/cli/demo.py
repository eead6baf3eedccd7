"""`breadth demo`: the other commands on passages that come with the package.

The questions are chosen by a rule, not by hand, when the demo runs. It asks "What is …?" about every disease with at
least 12 passages, sorts these questions by the redundancy of their top 6, and shows the first three and the one in the
middle. The first three are where choosing a set matters most. The one in the middle is an ordinary question.
"""

from __future__ import annotations

import gzip
import json
from collections import Counter
from dataclasses import asdict, dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from breadth import api
from breadth.arrays import Array
from breadth.cli import console
from breadth.cli.comparing import compare, compare_sets, frontier, trace_curves
from breadth.cli.diagnosing import diagnose
from breadth.cli.indexing import build_index, index
from breadth.cli.options import AsJson
from breadth.cli.show_diagnosis import diagnosis_data
from breadth.index import Index
from breadth.index.diagnosis import diagnose as diagnose_index
from breadth.metrics import near_copies

_K = 6
_PASSAGES = 12
"""So many passages a disease must have. Two sets of six can then differ without leaving the subject."""
_SAMPLE = 30
"""How many queries the diagnosis asks, so that the demo stays short without the compiled core."""
_COPY = 0.95
"""The cosine above which two passages are near-copies."""


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="where to put the index and the plots")] = Path(
        "breadth-demo"
    ),
    as_json: AsJson = False,
) -> None:
    """Try the commands on 3,000 real medical passages from nine web sites. A rule chooses the questions."""
    folder.mkdir(parents=True, exist_ok=True)
    passages, made = folder / "medquad.jsonl", folder / "medquad.index"
    packed = files("breadth.cli") / "data" / "medquad.jsonl.gz"
    passages.write_bytes(gzip.decompress(packed.read_bytes()))
    if as_json:
        console.print_json(_gather_data(passages, made))
    else:
        _show_all(folder, passages, made)


def _show_all(folder: Path, passages: Path, made: Path) -> None:
    """Run the commands one after the other, and print what a user would type."""
    _print_command(f"breadth index {passages} -o {made}")
    index(passages, made)
    with Index.open(made) as opened:
        chosen = choose_questions(opened, list_diseases(passages))
    _print_choice(chosen)
    questions = chosen.questions
    for question in questions:
        _print_command(f'breadth compare {made} "{question}" -k {_K}')
        compare(made, question, k=_K)
    can_draw = find_spec("matplotlib") is not None  # without it, the demo shows the tables alone
    curve, diagnosis = folder / "frontier.png", folder / "diagnosis.png"
    _print_command(f'breadth frontier {made} "{questions[0]}" -k {_K}' + (f" --plot {curve}" if can_draw else ""))
    frontier(made, questions[0], k=_K, plot=curve if can_draw else None)
    _print_command(f"breadth diagnose {made} --sample {_SAMPLE}" + (f" --plot {diagnosis}" if can_draw else ""))
    diagnose(made, sample=_SAMPLE, plot=diagnosis if can_draw else None)
    console.print_line(f"\nThe index and the plots are in {folder}. The passages are from MedQuAD (CC BY 4.0).")


def _gather_data(passages: Path, made: Path) -> dict[str, Any]:
    """What the commands find, as plain data."""
    report = build_index(passages, made, quiet=True)
    with Index.open(made) as opened:
        chosen = choose_questions(opened, list_diseases(passages))
        curve = trace_curves(opened, chosen.questions[0], _K)
        return {
            "index": report,
            "choice": asdict(chosen),
            "compare": [compare_sets(opened, question, _K).to_dict() for question in chosen.questions],
            "frontier": None if curve is None else curve.to_dict(),
            "diagnose": diagnosis_data(diagnose_index(opened, sample=_SAMPLE)),
        }


def list_diseases(passages: Path) -> list[str]:
    """The diseases with enough passages, as they are spelled first."""
    spellings: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for line in passages.read_text(encoding="utf-8").splitlines():
        disease = json.loads(line)["focus"].strip()
        spellings.setdefault(disease.lower(), disease)
        counts[disease.lower()] += 1
    return [spelling for key, spelling in spellings.items() if counts[key] >= _PASSAGES]


@dataclass(frozen=True)
class Chosen:
    """The questions that the demo shows, and what sets look like over all questions that were tried.

    questions   the three whose top 6 is most redundant, then the one in the middle of that order
    tried       how many questions there were
    changed     in how many of them the set of breadth differs from the top 6
    kept        in how many of them it has the best hit
    copies      in how many of them the top 6, and the set of breadth, hold a near-copy
    """

    questions: list[str]
    tried: int
    changed: int
    kept: int
    copies: tuple[int, int]


def choose_questions(opened: Index, diseases: list[str]) -> Chosen:
    """Ask "What is …?" about every disease, and choose the questions to show."""
    questions = [f"What is {disease}?" for disease in diseases]
    oracle, vectors = opened.oracle(), opened.encode(questions)
    plain = api.select_many(oracle, vectors, k=_K, method="topk")
    chosen = api.select_many(oracle, vectors, k=_K)
    with_copies = [sum(_has_copies(oracle.rows(found.ids)) for found in sets) for sets in (plain, chosen)]
    pairs = list(zip(plain, chosen, strict=True))
    order = sorted(range(len(questions)), key=lambda number: -plain[number].redundancy)
    return Chosen(
        questions=[questions[number] for number in (*order[:3], order[len(order) // 2])],
        tried=len(questions),
        changed=sum(set(one.ids) != set(other.ids) for one, other in pairs),
        kept=sum(one.ids[0] in other.ids for one, other in pairs),
        copies=(with_copies[0], with_copies[1]),
    )


def _print_choice(chosen: Chosen) -> None:
    console.print_line(
        f"\nWhich questions? A rule chooses them. The demo asks “What is …?” about all {chosen.tried} diseases with at "
        f"least {_PASSAGES} passages, and sorts the questions by the redundancy of their top {_K}. You see the three "
        "most redundant ones, then the one in the middle.\n"
        f"Over all {chosen.tried} questions: the set of breadth differs from the top {_K} in {chosen.changed}, and has "
        f"the best hit in {chosen.kept}. The top {_K} hold a near-copy (cosine above {_COPY:g}) in {chosen.copies[0]}, "
        f"the set of breadth in {chosen.copies[1]}."
    )


def _has_copies(rows: Array) -> bool:
    return bool(near_copies(rows, _COPY).any())


def _print_command(command: str) -> None:
    console.print_line(f"\n$ {command}", style="bold")
