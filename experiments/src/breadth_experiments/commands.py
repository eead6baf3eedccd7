"""The commands of the paper's experiments: `breadth experiment pool`, `encode`, `retrieve`, `generate`, `report`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from breadth import encoders
from breadth.cli import show
from breadth.errors import InputError
from breadth.index.bm25 import PER_QUERY
from breadth_experiments import encoding, generation, pooling, reader, retrieval, subsets
from breadth_experiments import report as reporting
from breadth_experiments.run import Run

app = typer.Typer(
    help="The paper's experiments, in stages that can be stopped and gone on with.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_TABLE_METHODS = ("topk", "mmr", "dpp", "frank_wolfe", "certified")
_TABLE_THETAS, _TABLE_KS = (0.6, 0.7, 0.8, 0.9), (25, 50)
"""What the paper's tables show, and ours beside it."""

RunFolder = Annotated[Path, typer.Argument(help="the run: a folder of plain files", metavar="RUN")]
Methods = Annotated[list[str] | None, typer.Option("--method", help="only this method (may be repeated)")]
Thetas = Annotated[list[float] | None, typer.Option("--theta", help="only this θ (may be repeated)")]
Ks = Annotated[list[int] | None, typer.Option("-k", help="only this k (may be repeated)")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="only so many questions, the first ones")]
AsJson = Annotated[bool, typer.Option("--json", help="machine-readable output, one object for each stage")]
Dataset = Annotated[str, typer.Option(help=f"asqa, qampari or own; with --folder: {', '.join(subsets.SUBSETS)}")]
Questions = Annotated[Path | None, typer.Option(help="ASQA.json, QAMPARI's dev_data.jsonl, or your own")]
Passages = Annotated[Path | None, typer.Option(help="DPR's psgs_w100.tsv[.gz], or a .jsonl of passages")]
Lucene = Annotated[
    str | None, typer.Option(help="instead of --passages: a Lucene index of Pyserini, e.g. wikipedia-dpr-100w")
]
Folder = Annotated[Path | None, typer.Option(help="a folder with the checked subsets, instead of files")]
EncoderName = Annotated[str | None, typer.Option("--encoder", help=encoders.SPELLINGS)]
Dtype = Annotated[str, typer.Option(help="precision of the vectors on disk: float32 or float16")]
MiniLM = Annotated[
    Path | None, typer.Option("--minilm", help="of the subset asqa: take the MiniLM vectors in this folder of subsets")
]
EngineName = Annotated[str, typer.Option("--engine", help="array, compact (int8 codes, exact) or torch")]
Device = Annotated[str | None, typer.Option(help="of torch: cuda, cuda:1, cpu …")]
Model = Annotated[str, typer.Option(help="the model's name at the endpoint")]
Url = Annotated[
    str | None,
    typer.Option(
        help="an OpenAI-compatible endpoint, e.g. http://localhost:8000/v1 [OPENAI_BASE_URL]; key: OPENAI_API_KEY"
    ),
]
MaxTokens = Annotated[int, typer.Option(min=1, help="longest answer")]
Concurrency = Annotated[int, typer.Option(min=1, help="requests under way at a time")]
Timeout = Annotated[float, typer.Option(min=0.1, help="seconds to wait for one answer")]


@contextmanager
def progress_bar(what: str, quiet: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A bar on the error stream, if that is a terminal; what it gives is called with what is done and the total."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = quiet or not show.err.is_terminal
    with Progress(*columns, TimeRemainingColumn(), console=show.err, disable=hidden) as progress:
        task = progress.add_task(what, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _said(as_json: bool, text: str, **data: object) -> None:
    """A line for people, or one JSON object a line for programs."""
    if as_json:
        show.out.print(json.dumps(data, ensure_ascii=False), markup=False, soft_wrap=True, highlight=False)
    else:
        show.out.print(text, markup=False, soft_wrap=True)


@app.command()
def pool(
    run: RunFolder,
    dataset: Dataset,
    questions: Questions = None,
    passages: Passages = None,
    lucene: Lucene = None,
    folder: Folder = None,
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
    encoder: EncoderName = None,
    dtype: Dtype = "float32",
    minilm: MiniLM = None,
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
    engine: EngineName = "array",
    device: Device = None,
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
    model: Model,
    url: Url = None,
    methods: Methods = None,
    thetas: Thetas = None,
    ks: Ks = None,
    limit: Limit = None,
    max_tokens: MaxTokens = 256,
    concurrency: Concurrency = 4,
    timeout: Timeout = 600.0,
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


@app.command()
def figure(
    run: RunFolder,
    dataset: Dataset,
    questions: Questions = None,
    passages: Passages = None,
    lucene: Lucene = None,
    folder: Folder = None,
    encoder: EncoderName = None,
    dtype: Dtype = "float32",
    minilm: MiniLM = None,
    engine: EngineName = "array",
    device: Device = None,
    ks: Ks = None,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """The paper's Figure 2 in one go: pool, encode, retrieve and report, as far as they are not done yet."""
    pool(run, dataset, questions, passages, lucene, folder, limit=limit, as_json=as_json)
    size = Run.open(run).facts["passages"]
    if max(ks or retrieval.KS) > size:
        raise InputError(f"k must be at most the number of passages ({size}); choose with -k")
    encode(run, encoder, dtype, minilm, as_json)
    retrieve(run, ks=ks, engine=engine, device=device, as_json=as_json)
    report_command(run, as_json)


@app.command()
def tables(
    run: RunFolder,
    model: Model,
    url: Url = None,
    limit: Limit = None,
    max_tokens: MaxTokens = 256,
    concurrency: Concurrency = 4,
    timeout: Timeout = 600.0,
    as_json: AsJson = False,
) -> None:
    """The paper's Tables 1 and 2 in one go, for a run that has its sets: k = 25, 50 and θ = 0.6 … 0.9; report."""
    methods, thetas, ks = list(_TABLE_METHODS), list(_TABLE_THETAS), list(_TABLE_KS)
    generate(run, model, url, methods, thetas, ks, limit, max_tokens, concurrency, timeout, as_json)
    report_command(run, as_json)
