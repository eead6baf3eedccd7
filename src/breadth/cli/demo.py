"""`breadth demo`: the other commands on passages that come with the package."""

from __future__ import annotations

import gzip
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from breadth.cli import show
from breadth.cli.diagnosing import diagnose
from breadth.cli.indexing import index
from breadth.cli.searching import compare, frontier

_QUESTIONS = (
    "What are the symptoms of asthma?",
    "How is type 2 diabetes treated?",
    "What causes high blood pressure?",
)


def demo(
    folder: Annotated[Path, typer.Option("--folder", help="where to put the index and the plots")] = Path(
        "breadth-demo"
    ),
) -> None:
    """Try the commands on 3,000 real medical passages from nine web sites, which repeat each other a lot."""
    folder.mkdir(parents=True, exist_ok=True)
    passages = folder / "medquad.jsonl"
    packed = files("breadth.cli") / "data" / "medquad.jsonl.gz"
    passages.write_bytes(gzip.decompress(packed.read_bytes()))
    made = folder / "medquad.index"
    _print_command(f"breadth index {passages} -o {made}")
    index(passages, made)
    for question in _QUESTIONS:
        _print_command(f'breadth compare {made} "{question}" -k 6')
        compare(made, question, k=6)
    can_draw = find_spec("matplotlib") is not None  # without it, the demo shows the tables alone
    curve, diagnosis = folder / "frontier.png", folder / "diagnosis.png"
    _print_command(f'breadth frontier {made} "{_QUESTIONS[0]}"' + (f" --plot {curve}" if can_draw else ""))
    frontier(made, _QUESTIONS[0], plot=curve if can_draw else None)
    _print_command(f"breadth diagnose {made}" + (f" --plot {diagnosis}" if can_draw else ""))
    diagnose(made, plot=diagnosis if can_draw else None)
    show.out.print(f"\nThe index and the plots are in {folder}. The passages are from MedQuAD (CC BY 4.0).")


def _print_command(command: str) -> None:
    show.out.print(f"\n$ {command}", style="bold", soft_wrap=True)
