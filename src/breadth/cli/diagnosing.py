"""`breadth diagnose`: does a collection need diversity? `breadth calibrate`: does its encoder suit it?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from breadth.checks import check_count
from breadth.cli import console, plots
from breadth.cli import show_diagnosis as show
from breadth.cli.inputs import read_lines
from breadth.cli.options import AsJson, EncoderOption, IndexPath, K, open_index
from breadth.errors import InputError
from breadth.index.calibration import calibrate as calibrate_index
from breadth.index.diagnosis import Diagnosis
from breadth.index.diagnosis import diagnose as diagnose_index
from breadth.index.judging import read_questions

_SAMPLE = 100


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
    sample: Annotated[
        int | None, typer.Option(help=f"how many passages to take as queries, without a file of them [{_SAMPLE}]")
    ] = None,
    seed: Annotated[int, typer.Option(help="which passages are drawn")] = 0,
    plot: Annotated[Path | None, typer.Option(help="draw the result to this file")] = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Find out what is wrong with top-k on this collection, and which setting is better."""
    if seed < 0:
        raise InputError(f"--seed must be at least 0, got {seed}")
    if sample is not None and not (queries is None and answers is None):
        raise InputError("--sample goes without --queries and --answers: they say what is asked")
    texts = None if queries is None else read_lines(queries)
    questions = None if answers is None else read_questions(answers)
    with open_index(index_path, encoder) as opened, console.count_progress(quiet=as_json) as bar:
        task = bar.add_task("sets", total=None)
        found = diagnose_index(
            opened,
            texts,
            answers=questions,
            k=k,
            sample=check_count(_SAMPLE if sample is None else sample, "--sample"),
            seed=seed,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if plot is not None:
        plots.draw_diagnosis(found, plot)
    if as_json:
        console.print_json(show.diagnosis_data(found))
    else:
        print_diagnosis(found)


def calibrate(
    index_path: IndexPath,
    sample: Annotated[int, typer.Option(help="how many passages to take")] = _SAMPLE,
    seed: Annotated[int, typer.Option(help="which passages are drawn")] = 0,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Find out whether the encoder of an index brings copies close enough together to be compared."""
    if seed < 0:
        raise InputError(f"--seed must be at least 0, got {seed}")
    with open_index(index_path, encoder) as opened:
        found = calibrate_index(opened, sample=check_count(sample, "--sample"), seed=seed)
    if as_json:
        console.print_json(found.to_dict())
    else:
        console.print_line("\n".join(found.describe()))


def print_diagnosis(found: Diagnosis) -> None:
    """Show tables, what their columns mean, examples and the verdict."""
    console.print_table(show.diagnosis_title(found), show.diagnosis_table(found))
    if found.judged:
        console.print_table("recall in %, with 95% intervals", show.recall_table(found))
    console.print_line(show.diagnosis_legend(found), style="dim")
    if found.repeats:
        console.print_line("\n" + show.repeats_text(found))
    console.print_line("\n" + found.verdict(), style="bold")
    if not found.judged:
        console.print_line("To compare the settings by what they find, pass questions with answers: --answers.")
