"""The commands of the paper's experiments: `breadth experiment pool`, `encode`, `retrieve`, `generate`, `report` …"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from breadth import encoders
from breadth.errors import InputError
from breadth.index import PER_QUERY
from breadth_experiments import encoding, generation, grid, pooling, retrieval, subsets
from breadth_experiments.engine import Engine
from breadth_experiments.latency import measure_latency
from breadth_experiments.progress import progress_bar
from breadth_experiments.reader import Reader
from breadth_experiments.report import write_report
from breadth_experiments.run import Run

app = typer.Typer(
    help="Reproduce the paper's experiments, stage by stage. A stage that was stopped resumes where it was.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

_TABLE_METHODS = ("topk", "mmr", "dpp", "frank_wolfe", "certified")
_TABLE_THETAS, _TABLE_KS = (0.6, 0.7, 0.8, 0.9), (25, 50)
"""What the paper's tables show, and our method beside it."""

RunFolder = Annotated[Path, typer.Argument(help="the folder of the run", metavar="RUN")]
Methods = Annotated[list[str] | None, typer.Option("--method", help="only this method (may be repeated)")]
Thetas = Annotated[list[float] | None, typer.Option("--theta", help="only this θ (may be repeated)")]
Ks = Annotated[list[int] | None, typer.Option("-k", help="only this k (may be repeated)")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="only this many questions, from the start")]
AsJson = Annotated[bool, typer.Option("--json", help="machine-readable output: a JSON object for each stage")]
Dataset = Annotated[str, typer.Option(help=f"asqa, qampari or own; with --folder one of {', '.join(subsets.SUBSETS)}")]
Questions = Annotated[
    Path | None, typer.Option(help="the questions: ASQA.json, QAMPARI's dev_data.jsonl, or a file of your own")
]
Passages = Annotated[
    Path | None, typer.Option(help="the passages: DPR's psgs_w100.tsv[.gz], or a .jsonl file of your own")
]
Lucene = Annotated[
    str | None, typer.Option(help="instead of --passages: a Lucene index of Pyserini, for example wikipedia-dpr-100w")
]
Folder = Annotated[Path | None, typer.Option(help="instead of files: the folder with the checked subsets")]
EncoderName = Annotated[str | None, typer.Option("--encoder", help=encoders.SPELLINGS)]
Dtype = Annotated[str, typer.Option(help="precision of the vectors on disk: float32 or float16")]
MiniLM = Annotated[
    Path | None, typer.Option("--minilm", help="for the subset asqa: use the MiniLM vectors in this folder of subsets")
]
EngineName = Annotated[
    str, typer.Option("--engine", help="what searches: array, compact (int8 codes, exact as well) or torch")
]
Device = Annotated[str | None, typer.Option(help="for the engine torch: cuda, cuda:1, cpu …")]
Model = Annotated[str, typer.Option(help="the model's name at the endpoint")]
Url = Annotated[
    str | None,
    typer.Option(
        help="an OpenAI-compatible endpoint, for example http://localhost:8000/v1 [OPENAI_BASE_URL]; the key is "
        "OPENAI_API_KEY"
    ),
]
MaxTokens = Annotated[int, typer.Option(min=1, help="longest answer, in tokens")]
Concurrency = Annotated[int, typer.Option(min=1, help="requests under way at a time")]
Timeout = Annotated[float, typer.Option(min=0.1, help="seconds to wait for one answer")]


def _print_result(as_json: bool, text: str, **data: object) -> None:
    """Print a line for people, or a JSON object for programs."""
    typer.echo(json.dumps(data, ensure_ascii=False) if as_json else text)


@app.command()
def pool(
    run: RunFolder,
    dataset: Dataset,
    questions: Questions = None,
    passages: Passages = None,
    lucene: Lucene = None,
    folder: Folder = None,
    top: Annotated[int, typer.Option(min=1, help="passages that BM25 finds for each question")] = PER_QUERY,
    copies: Annotated[int, typer.Option(min=0, help="for a subset: near-copies to add to each passage")] = 0,
    limit: Limit = None,
    as_json: AsJson = False,
) -> None:
    """Gather questions and candidate passages: BM25's best for each question, merged, each passage once."""
    if (folder is None) == (questions is None):
        raise InputError("pass --folder (the checked subsets) or --questions (a file), exactly one of them")
    with progress_bar("questions", as_json) as progress:
        if folder is not None:
            made = pooling.pool_subset(
                run, dataset, folder, per_question=top, copies=copies, limit=limit, progress=progress
            )
        else:
            if copies:
                raise InputError("--copies goes with --folder")
            made = pooling.pool_files(
                run,
                dataset,
                Path(str(questions)),
                passages,
                lucene=lucene,
                per_question=top,
                limit=limit,
                progress=progress,
            )
    facts = made.facts
    _print_result(as_json, f"{run}: {facts['questions']:,} questions, {facts['passages']:,} passages", **facts)


@app.command()
def encode(
    run: RunFolder,
    encoder: EncoderName = None,
    dtype: Dtype = "float32",
    minilm: MiniLM = None,
    as_json: AsJson = False,
) -> None:
    """Encode every passage and question. The paper's encoder is sentence-transformers:BAAI/bge-m3."""
    opened = Run.open(run)
    if minilm is not None:
        if encoder is not None or opened.facts["dataset"] != "asqa" or opened.facts["copies"]:
            raise InputError("--minilm goes with the subset asqa without copies, and without --encoder")
        encoding.store_vectors(opened, "all-MiniLM-L6-v2", *subsets.load_minilm(minilm, opened.questions()))
    else:
        made = encoders.encoder(encoder) if encoder else encoders.encoder("builtin")
        with progress_bar("texts", as_json) as progress:
            encoding.encode(opened, made, dtype=dtype, progress=progress)
    facts = opened.facts
    _print_result(as_json, f"{run}: vectors of {facts['encoder']}, {facts['dim']} dimensions", **facts)


@app.command()
def retrieve(
    run: RunFolder,
    methods: Methods = None,
    thetas: Thetas = None,
    ks: Ks = None,
    limit: Limit = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="processes [as many as cores; 1 for a large collection or torch]")
    ] = None,
    engine: EngineName = "array",
    device: Device = None,
    sample: Annotated[int, typer.Option(min=0, help="questions to measure latency on, 0 for none")] = 10,
    as_json: AsJson = False,
) -> None:
    """Find the sets of every method, θ, k and question, then measure the latency of single queries."""
    opened = Run.open(run)
    cells = grid.Grid(tuple(methods or grid.METHODS), tuple(thetas or grid.THETAS), tuple(ks or grid.KS))
    searcher = Engine(engine, device)
    with progress_bar("sets", as_json) as progress:
        found = retrieval.retrieve(opened, cells, engine=searcher, workers=workers, limit=limit, progress=progress)
    timed = 0
    if sample:
        with progress_bar("latency", as_json) as progress:
            timed = measure_latency(opened, cells, engine=searcher, sample=sample, progress=progress)
    _print_result(as_json, f"{run}: {found:,} new sets, {timed:,} queries timed", sets=found, timed=timed)


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
    """Let a reader model answer from the retrieved passages. Answers are kept, so running again costs nothing."""
    opened = Run.open(run)
    with (
        Reader(
            model,
            url,
            max_tokens=max_tokens,
            concurrency=concurrency,
            timeout=timeout,
            cache=opened.path("answers.jsonl"),
        ) as reader,
        progress_bar("answers", as_json) as progress,
    ):
        made = generation.generate(
            opened, reader, methods=methods, ks=ks, thetas=thetas, questions=limit, progress=progress
        )
    _print_result(as_json, f"{run}: {made:,} new answers from {model}", answers=made)


@app.command(name="report")
def report_command(run: RunFolder, as_json: AsJson = False) -> None:
    """Write figures (PNG, SVG) and tables (Markdown, LaTeX) of what the run has so far."""
    written = write_report(Run.open(run))
    _print_result(as_json, "\n".join(str(path) for path in written), files=[str(path) for path in written])


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
    """Make the paper's Figure 2 in one command: pool, encode, retrieve and report. Stages that are done are skipped."""
    pool(run, dataset, questions, passages, lucene, folder, limit=limit, as_json=as_json)
    size = Run.open(run).facts["passages"]
    if max(ks or grid.KS) > size:
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
    """Make the paper's Tables 1 and 2 for a run with sets: generate at k = 25, 50 and θ = 0.6 … 0.9, and report."""
    methods, thetas, ks = list(_TABLE_METHODS), list(_TABLE_THETAS), list(_TABLE_KS)
    generate(run, model, url, methods, thetas, ks, limit, max_tokens, concurrency, timeout, as_json)
    report_command(run, as_json)
