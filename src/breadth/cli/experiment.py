"""The commands of the paper's experiments: `breadth experiment pool`, `encode`, `retrieve`, `generate`, `report`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from breadth import encoders
from breadth.cli import show
from breadth.errors import InputError
from breadth.experiments import encoding, generation, pooling, reader, retrieval, subsets
from breadth.experiments import report as reporting
from breadth.experiments.run import Run
from breadth.index.bm25 import PER_QUERY

app = typer.Typer(
    help="The paper's experiments, in stages that can be stopped and gone on with.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

RunFolder = Annotated[Path, typer.Argument(help="the run: a folder of plain files", metavar="RUN")]
Methods = Annotated[list[str] | None, typer.Option("--method", help="only this method (may be repeated)")]
Thetas = Annotated[list[float] | None, typer.Option("--theta", help="only this θ (may be repeated)")]
Ks = Annotated[list[int] | None, typer.Option("-k", help="only this k (may be repeated)")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="only so many questions, the first ones")]
AsJson = Annotated[bool, typer.Option("--json", help="machine-readable output")]


@contextmanager
def progress_bar(what: str, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A bar on the error stream, if that is a terminal; what it gives is called with what is done and the total."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = quiet or not show.err.is_terminal
    with Progress(*columns, TimeRemainingColumn(), console=show.err, disable=hidden) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _said(as_json: bool, text: str, **data: object) -> None:
    if as_json:
        show.dump(data)
    else:
        show.out.print(text, markup=False, soft_wrap=True)


@app.command()
def pool(
    run: RunFolder,
    dataset: Annotated[str, typer.Option(help=f"asqa, qampari or own; with --folder: {', '.join(subsets.SUBSETS)}")],
    questions: Annotated[Path | None, typer.Option(help="ASQA.json, QAMPARI's dev_data.jsonl, or your own")] = None,
    passages: Annotated[Path | None, typer.Option(help="DPR's psgs_w100.tsv[.gz], or a .jsonl of passages")] = None,
    lucene: Annotated[
        str | None, typer.Option(help="instead of --passages: a Lucene index of Pyserini, e.g. wikipedia-dpr-100w")
    ] = None,
    folder: Annotated[Path | None, typer.Option(help="a folder with the checked subsets, instead of files")] = None,
    top: Annotated[int, typer.Option(min=1, help="passages that BM25 takes for each question")] = PER_QUERY,
    copies: Annotated[int, typer.Option(min=0, help="of a subset: near-copies to add for each passage")] = 0,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Questions and candidate passages: BM25's best for each question, merged, each passage once."""
    if (folder is None) == (questions is None):
        raise InputError("pass --folder (the checked subsets) or --questions (published files), one of them")
    with progress_bar("questions", as_json) as tell:
        if folder is not None:
            made = pooling.from_subset(
                run, dataset, folder, per_question=top, copies=copies, limit=limit, progress=tell
            )
        else:
            if copies:
                raise InputError("--copies goes with --folder")
            made = pooling.from_files(
                run,
                dataset,
                Path(str(questions)),
                passages,
                lucene=lucene,
                per_question=top,
                limit=limit,
                progress=tell,
            )
    facts = made.facts
    _said(as_json, f"{run}: {facts['questions']:,} questions, {facts['passages']:,} passages", **facts)


@app.command()
def encode(
    run: RunFolder,
    encoder: Annotated[str | None, typer.Option(help=encoders.SPELLINGS)] = None,
    dtype: Annotated[str, typer.Option(help="float32 or float16")] = "float32",
    minilm: Annotated[
        Path | None, typer.Option(help="of the subset asqa: take the MiniLM vectors in this folder of subsets")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """A vector for every passage and question; the paper's encoder is sentence-transformers:BAAI/bge-m3."""
    opened = Run.open(run)
    if minilm is not None:
        if encoder is not None or opened.facts["dataset"] != "asqa" or opened.facts["copies"]:
            raise InputError("--minilm goes with the subset asqa without copies, and without --encoder")
        encoding.put(opened, "all-MiniLM-L6-v2", *subsets.minilm(minilm, opened.questions()))
    else:
        made = encoders.encoder(encoder) if encoder else encoders.encoder("builtin")
        with progress_bar("texts", as_json) as tell:
            encoding.encode(opened, made, dtype=dtype, progress=tell)
    facts = opened.facts
    _said(as_json, f"{run}: vectors of {facts['encoder']}, {facts['dim']} dimensions", **facts)


@app.command()
def retrieve(
    run: RunFolder,
    methods: Methods = None,
    thetas: Thetas = None,
    ks: Ks = None,
    limit: Limit = None,
    workers: Annotated[int | None, typer.Option(min=1, help="processes [as many as cores, 1 if large]")] = None,
    engine: Annotated[str, typer.Option(help="array, compact (int8 codes, exact) or torch")] = "array",
    device: Annotated[str | None, typer.Option(help="of torch: cuda, cuda:1, cpu …")] = None,
    sample: Annotated[int, typer.Option(min=0, help="questions to measure latency on, 0 for none")] = 10,
    as_json: AsJson = False,
) -> None:
    """Every method × θ × k × question, then the latency of single queries."""
    opened = Run.open(run)
    grid = retrieval.Grid(
        tuple(methods or retrieval.METHODS), tuple(thetas or retrieval.THETAS), tuple(ks or retrieval.KS)
    )
    how = retrieval.Engine(engine, device)
    with progress_bar("sets", as_json) as tell:
        found = retrieval.retrieve(opened, grid, engine=how, workers=workers, limit=limit, progress=tell)
    timed = 0
    if sample:
        with progress_bar("latency", as_json) as tell:
            timed = retrieval.latency(opened, grid, engine=how, sample=sample, progress=tell)
    _said(as_json, f"{run}: {found:,} new sets, {timed:,} queries timed", sets=found, timed=timed)


@app.command()
def generate(
    run: RunFolder,
    model: Annotated[str, typer.Option(help="the model's name at the endpoint")],
    url: Annotated[
        str | None, typer.Option(help="an OpenAI-compatible endpoint, e.g. http://localhost:8000/v1")
    ] = None,
    methods: Methods = None,
    thetas: Thetas = None,
    ks: Ks = None,
    limit: Limit = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="longest answer")] = 256,
    concurrency: Annotated[int, typer.Option(min=1, help="requests under way at a time")] = 4,
    timeout: Annotated[float, typer.Option(help="seconds to wait for one answer")] = 600.0,
    as_json: AsJson = False,
) -> None:
    """A reader model answers from the retrieved passages; answers are kept, so that a rerun costs nothing."""
    opened = Run.open(run)
    with (
        reader.Reader(
            model,
            url,
            max_tokens=max_tokens,
            concurrency=concurrency,
            timeout=timeout,
            cache=opened.path("answers.jsonl"),
        ) as asked,
        progress_bar("answers", as_json) as tell,
    ):
        made = generation.generate(opened, asked, methods=methods, ks=ks, thetas=thetas, questions=limit, progress=tell)
    _said(as_json, f"{run}: {made:,} new answers of {model}", answers=made)


@app.command(name="report")
def report_command(run: RunFolder, as_json: AsJson = False) -> None:
    """Figures (PNG, SVG) and tables (Markdown, LaTeX) of what is there so far."""
    written = reporting.report(Run.open(run))
    _said(as_json, "\n".join(str(path) for path in written), files=[str(path) for path in written])
