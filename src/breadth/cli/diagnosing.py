"""`breadth diagnose`: does a collection need diversity?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breadth.cli import plots, show
from breadth.cli.options import AsJson, EncoderOption, IndexPath, K, open_index
from breadth.errors import InputError
from breadth.index.diagnosis import NEAR_COPY
from breadth.index.diagnosis import diagnose as diagnose_index
from breadth.index.judging import read_questions


def diagnose(
    index_path: IndexPath,
    queries: Annotated[
        Path | None, typer.Option(help="a file with one query a line; otherwise the beginnings of passages are queries")
    ] = None,
    answers: Annotated[
        Path | None,
        typer.Option(
            help='a .jsonl file of queries with what a good set finds: {"query": …, "answers": [text or list of '
            'aliases, …]}, or "relevant": [ids], or "aspects": {name: [ids]}'
        ),
    ] = None,
    k: K = 10,
    sample: Annotated[int, typer.Option(help="how many passages to take as queries")] = 100,
    near_copy: Annotated[float, typer.Option(help="cosine from which two passages count as near-copies")] = NEAR_COPY,
    plot: Annotated[Path | None, typer.Option(help="draw the result to this file")] = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Find out what is wrong with top-k on this collection, and which setting is better."""
    texts = None if queries is None else _read_lines(queries)
    questions = None if answers is None else read_questions(answers)
    with open_index(index_path, encoder) as opened, show.count_progress(quiet=as_json) as bar:
        task = bar.add_task("sets", total=None)
        found = diagnose_index(
            opened,
            texts,
            answers=questions,
            k=k,
            sample=sample,
            near_copy=near_copy,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if plot is not None:
        plots.draw_diagnosis(found, plot)
    if as_json:
        show.print_json(show.diagnosis_data(found))
        return
    show.out.print(show.diagnosis_table(found))
    if found.judged:
        show.out.print(show.recall_table(found))
    show.out.print(show.diagnosis_legend(found), style="dim", soft_wrap=True)
    if found.repeats:
        show.out.print("\n" + show.repeats_text(found), soft_wrap=True)
    show.out.print("\n" + found.verdict(), style="bold", soft_wrap=True)
    if not found.judged:
        show.out.print(
            "To compare the settings by what they find, pass questions with answers: --answers.", soft_wrap=True
        )


def _read_lines(path: Path) -> list[str]:
    if not path.is_file():
        raise InputError(f"there is no file {str(path)!r}")
    return path.read_text(encoding="utf-8").splitlines()
