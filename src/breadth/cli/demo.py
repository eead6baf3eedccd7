"""`breadth demo`: the other commands on passages that come with the package.

Security advisories repeat each other, and often differ in a version or a function alone. The questions are chosen by a
rule, not by hand, when the demo runs: it asks for "denial of service in …" for every package, and shows the question
whose top 6 repeats itself most, and the one in the middle of that order. Medical passages repeat each other little:
there the demo shows the curve of a question, and the diagnosis.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any

import typer

from breadth.cli import console
from breadth.cli.comparing import compare, compare_sets, frontier, trace_curves
from breadth.cli.diagnosing import diagnose
from breadth.cli.indexing import build_index, index
from breadth.cli.options import AsJson
from breadth.cli.show_diagnosis import diagnosis_data
from breadth.index import Index
from breadth.index.diagnosis import diagnose as diagnose_index

_K = 6
_SAMPLE = 30
"""How many queries the diagnosis asks, so that the demo stays short without the compiled core."""
_QUESTION = "What is asthma?"


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="where to put the index and the plots")] = Path(
        "breadth-demo"
    ),
    as_json: AsJson = False,
) -> None:
    """Try the commands on 353 security advisories and 3,000 medical passages. A rule chooses the questions."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("advisories", "medquad"):
        packed = files("breadth.cli") / "data" / f"{name}.jsonl.gz"
        (folder / f"{name}.jsonl").write_bytes(gzip.decompress(packed.read_bytes()))
    if as_json:
        console.print_json(_gather_data(folder))
    else:
        _show_all(folder)


def _show_all(folder: Path) -> None:
    """Run the commands one after the other, and print what a user would type."""
    advisories, medquad = _index(folder, "advisories"), _index(folder, "medquad")
    with Index.open(advisories) as opened:
        chosen = choose_questions(opened, list_packages(folder / "advisories.jsonl"))
    _print_choice(chosen)
    for question in chosen.questions:
        _print_command(f'breadth compare {advisories} "{question}" -k {_K}')
        compare(advisories, question, k=_K)
    can_draw = find_spec("matplotlib") is not None  # without it, the demo shows the tables alone
    curve, diagnosis = folder / "frontier.png", folder / "diagnosis.png"
    _print_command(f'breadth frontier {medquad} "{_QUESTION}" -k {_K}' + (f" --plot {curve}" if can_draw else ""))
    frontier(medquad, _QUESTION, k=_K, plot=curve if can_draw else None)
    _print_command(f"breadth diagnose {medquad} --sample {_SAMPLE}" + (f" --plot {diagnosis}" if can_draw else ""))
    diagnose(medquad, sample=_SAMPLE, plot=diagnosis if can_draw else None)
    _print_command(f"breadth diagnose {advisories} --sample {_SAMPLE}")
    diagnose(advisories, sample=_SAMPLE)
    console.print_line(
        f"\nThe indexes and the plots are in {folder}. The passages are from MedQuAD and the PyPA advisory database "
        "(both CC BY 4.0)."
    )


def _index(folder: Path, name: str) -> Path:
    passages, made = folder / f"{name}.jsonl", folder / f"{name}.index"
    _print_command(f"breadth index {passages} -o {made}")
    index(passages, made)
    return made


def _gather_data(folder: Path) -> dict[str, Any]:
    """What the commands find, as plain data."""
    made = {name: folder / f"{name}.index" for name in ("advisories", "medquad")}
    reports = {name: build_index(folder / f"{name}.jsonl", path, quiet=True) for name, path in made.items()}
    with Index.open(made["advisories"]) as advisories, Index.open(made["medquad"]) as medquad:
        chosen = choose_questions(advisories, list_packages(folder / "advisories.jsonl"))
        curve = trace_curves(medquad, _QUESTION, _K)
        return {
            "index": reports,
            "choice": asdict(chosen),
            "compare": [compare_sets(advisories, question, _K).to_dict() for question in chosen.questions],
            "frontier": None if curve is None else curve.to_dict(),
            "diagnose": {
                name: diagnosis_data(diagnose_index(opened, sample=_SAMPLE))
                for name, opened in (("advisories", advisories), ("medquad", medquad))
            },
        }


def list_packages(passages: Path) -> list[str]:
    """The packages that the advisories are about."""
    lines = passages.read_text(encoding="utf-8").splitlines()
    return sorted({json.loads(line)["package"] for line in lines})


@dataclass(frozen=True)
class Chosen:
    """The questions that the demo shows, and what sets look like over all questions that were tried.

    questions   the one whose top 6 repeats itself most, then the one in the middle of that order
    tried       how many questions there were
    repeats     how many passages of the top 6 are left out, because a passage of the set says all of them
    given_up    how many are neither in the set nor said by a passage of it
    """

    questions: list[str]
    tried: int
    repeats: int
    given_up: int


def choose_questions(opened: Index, packages: list[str]) -> Chosen:
    """Ask about every package, and choose the questions to show."""
    questions = [f"denial of service in {package}" for package in packages]
    plain, chosen = opened.search_many(questions, k=_K, method="topk"), opened.search_many(questions, k=_K)
    given_up = [len(found.given_up) for found in chosen]
    repeats = [
        len(set(top.ids) - set(found.ids)) - lost for top, found, lost in zip(plain, chosen, given_up, strict=True)
    ]
    order = sorted(range(len(questions)), key=lambda number: -repeats[number])
    shown = [questions[order[0]], questions[order[len(order) // 2]]]
    return Chosen(questions=shown, tried=len(questions), repeats=sum(repeats), given_up=sum(given_up))


def _print_choice(chosen: Chosen) -> None:
    console.print_line(
        f"\nWhich questions? A rule chooses them. The demo asks “denial of service in …” about all {chosen.tried} "
        f"packages. You see the question whose top {_K} repeats itself most, then the one in the middle.\n"
        f"Over all {chosen.tried} questions, breadth leaves out {chosen.repeats} of the {_K * chosen.tried} passages, "
        f"because a passage of the set says all of them. It gives up {chosen.given_up}."
    )


def _print_command(command: str) -> None:
    console.print_line(f"\n$ {command}", style="bold")
