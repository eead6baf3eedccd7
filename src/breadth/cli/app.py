"""The commands."""

from __future__ import annotations

import gzip
import platform
import sqlite3
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import PackageNotFoundError, entry_points, version
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import breadth
from breadth import encoders
from breadth.cli import plots, show
from breadth.errors import BreadthError, InputError
from breadth.index import Added, Document, Index, Results
from breadth.index.diagnosis import NEAR_COPY, diagnose
from breadth.sources import Skipped, Source, chunk_words

app = typer.Typer(
    name="breadth",
    help="Diverse search: the k passages that are together relevant and different, with a proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for plugin in entry_points(group="breadth.commands"):
    app.add_typer(plugin.load(), name=plugin.name)

_BATCH = 4096
_QUESTIONS = (
    "What are the symptoms of asthma?",
    "How is type 2 diabetes treated?",
    "What causes high blood pressure?",
)
_CURVED = ("mmr", "greedy", "dpp", "frank_wolfe")
_THETAS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)

IndexPath = Annotated[Path, typer.Argument(help="an index made by `breadth index`", metavar="INDEX")]
Query = Annotated[str, typer.Argument(help="what to search for")]
K = Annotated[int, typer.Option("-k", help="how many passages")]
Theta = Annotated[float | None, typer.Option("--theta", help="weight of relevance in [0, 1]; 1 is plain top-k [0.7]")]
Keep = Annotated[float | None, typer.Option("--keep", help="instead of --theta: share of top-k's relevance to keep")]
Where = Annotated[
    str | None, typer.Option("--where", help="SQL condition over metadata: \"source = 'x' and year > 2010\"")
]
AsJson = Annotated[bool, typer.Option("--json", help="machine-readable output")]
EncoderOption = Annotated[str | None, typer.Option("--encoder", help=encoders.SPELLINGS)]
Hybrid = Annotated[float, typer.Option("--hybrid", help="weight of BM25 beside the vectors, in [0, 1]")]


def run() -> None:
    """The entry point: errors of ours are one line on the error stream and exit code 1."""
    try:
        app()
    except (BreadthError, OSError, sqlite3.Error, UnicodeError) as error:
        show.err.print(f"error: {error}", style="red", soft_wrap=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C
            show.err.print("stopped; what was done is kept, and the same command goes on")
        raise


def _open(path: Path, description: str | None) -> Index:
    return Index.open(path, None if description is None else encoders.encoder(description))


@app.command()
def index(
    source: Annotated[Path, typer.Argument(help=".jsonl, .csv, .tsv or .parquet file, or a folder of texts")],
    output: Annotated[Path, typer.Option("--output", "-o", help="the index: a folder, new or to be gone on with")],
    encoder: EncoderOption = None,
    chunk: Annotated[str | None, typer.Option(help="cut texts into pieces: 100w, or 100w/20 to overlap")] = None,
    text_field: Annotated[str | None, typer.Option(help="the field with the text")] = None,
    id_field: Annotated[str | None, typer.Option(help="the field with the id")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="replace documents that are there with other content")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="exit code 3 if any record was skipped")] = False,
    as_json: AsJson = False,
) -> None:
    """Make an index, or go on with one: documents that are there already are not encoded again."""
    words, overlap = chunk_words(chunk) if chunk else (None, 0)
    reading = Source(source, text_field, id_field, words, overlap)
    made = encoders.encoder(encoder) if encoder else None
    target = Index.open(output, made) if (output / "index.sqlite").exists() else Index.create(output, made)
    started = time.perf_counter()
    done = Added()
    with target, _progress(as_json) as bar:
        task = bar.add_task("reading", total=reading.total_bytes, rate="")
        for documents in _batches(reading.documents(), _BATCH):
            batch = target.update(documents) if update else _added(target, documents, reading)
            reading.skipped += [Skipped(reading.places.get(i, i), reason) for i, reason in batch.skipped]
            done += replace(batch, skipped=())
            reading.places.clear()
            rate = (done.added + done.updated) / max(1e-9, time.perf_counter() - started)
            bar.update(task, completed=reading.read_bytes, rate=f"{rate:,.0f} passages/s")
        if update:
            _without_leftovers(target, reading)
        bar.update(task, completed=reading.read_bytes)
        size = len(target)
    seconds = time.perf_counter() - started
    report = {
        "added": done.added,
        "updated": done.updated,
        "unchanged": done.unchanged,
        "skipped": [{"where": s.where, "reason": s.reason} for s in reading.skipped],
        "documents": size,
        "seconds": seconds,
    }
    if as_json:
        show.dump(report)
    else:
        for s in reading.skipped[:20]:
            show.err.print(f"skipped {s.where}: {s.reason}", soft_wrap=True)
        if len(reading.skipped) > 20:
            show.err.print(f"… and {len(reading.skipped) - 20} more; --json lists them all")
        show.out.print(
            f"{output}: {done.added:,} added, {done.updated:,} updated, {done.unchanged:,} unchanged, "
            f"{len(reading.skipped):,} skipped; {size:,} passages in all ({seconds:.1f} s)",
            markup=False,
        )
    if strict and reading.skipped:
        raise typer.Exit(3)


def _added(target: Index, documents: list[Document], reading: Source) -> Added:
    """Add a batch; documents that are there with other content are reported and left as they are."""
    conflicts = target.find_conflicts(documents)
    for document in documents:
        if document.id in conflicts:
            reason = f"{document.id!r} is there with other content; --update replaces it"
            reading.skipped.append(Skipped(reading.places.get(document.id, document.id), reason))
    return target.add([d for d in documents if d.id not in conflicts])


def _without_leftovers(target: Index, reading: Source) -> None:
    """Documents that were cut into more pieces before: take the last ones out."""
    for identity, count in reading.parts.items():
        while f"{identity}#{count}" in target:
            target.delete(f"{identity}#{count}")
            count += 1


def _batches(documents: Iterator[Document], size: int) -> Iterator[list[Document]]:
    batch: list[Document] = []
    for document in documents:
        batch.append(document)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch


def _progress(quiet: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[rate]}"), TimeRemainingColumn())
    return Progress(*columns, console=show.err, disable=quiet or not show.err.is_terminal)


@app.command()
def search(
    index_path: IndexPath,
    query: Query,
    k: K = 10,
    theta: Theta = None,
    keep: Keep = None,
    where: Where = None,
    method: Annotated[str, typer.Option(help=", ".join(breadth.methods()))] = "certified",
    hybrid: Hybrid = 0.0,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """The diverse set for a query, what each passage adds, and the proof in words."""
    with _open(index_path, encoder) as opened:
        found = opened.search(query, k=k, theta=theta, keep=keep, where=where, method=method, hybrid=hybrid)
        adds = None if as_json else [reason.loss for reason in found.selection.explain()]
    if as_json:
        show.dump(show.results_data(found))
        return
    show.out.print(show.hits_table(found, f"{query!r}: {k} of {found.searched:,} passages", adds))
    _footer(found)


def _footer(found: Results) -> None:
    s = found.selection
    show.out.print(
        f"{s.method}, θ = {s.theta:g}: relevance {s.relevance:.3f}, diversity {s.diversity:.3f}. {show.in_words(s)} "
        f"({1000 * float(s.stats['seconds']):.0f} ms)",
        markup=False,
        soft_wrap=True,
    )


@app.command()
def compare(
    index_path: IndexPath,
    query: Query,
    k: K = 10,
    theta: Theta = None,
    keep: Keep = None,
    where: Where = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Top-k beside the diverse set: what was redundant, what came in."""
    with _open(index_path, encoder) as opened:
        plain = opened.search(query, k=k, theta=1.0, where=where)
        diverse = opened.search(query, k=k, theta=theta, keep=keep, where=where)
        oracle = opened.oracle(where)
        copies = breadth.metrics.near_copies(oracle.rows(plain.selection.ids), NEAR_COPY)
    gone, new = {h.id for h in plain} - {h.id for h in diverse}, {h.id for h in diverse} - {h.id for h in plain}
    copied = {h.id for h, copy in zip(plain, copies, strict=True) if copy}
    if as_json:
        data = {"redundant": sorted(copied), "left_out": sorted(gone), "came_in": sorted(new)}
        show.dump({"top_k": show.results_data(plain), "diverse": show.results_data(diverse), **data})
        return
    marks = dict.fromkeys(copied, "copy")
    show.out.print(show.hits_table(plain, f"top-{k}: {len(copied)} near-copies of something above them", marks=marks))
    show.out.print(show.hits_table(diverse, f"diverse: {len(new)} passages came in", marks=dict.fromkeys(new, "new")))
    for name, found in (("top-k", plain), ("diverse", diverse)):
        s = found.selection
        show.out.print(f"{name:8} relevance {s.relevance:.3f}, diversity {s.diversity:.3f}")
    _footer(diverse)


@app.command()
def frontier(
    index_path: IndexPath,
    query: Query,
    k: K = 10,
    where: Where = None,
    plot: Annotated[
        Path | None, typer.Option(help="write the curve, with the other methods on it, to this file")
    ] = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """The relevance-diversity curve of a query, with every method on it."""
    with _open(index_path, encoder) as opened:
        oracle = opened.oracle(where)
        vector = opened.encode([query])[0]
        pool = min(oracle.size, 5000)
        curves: dict[str, list[tuple[float, float]]] = {}
        curve = breadth.frontier(oracle, vector, k=k, thetas=_THETAS)
        curves["certified"] = [(s.relevance, s.diversity) for s in curve]
        for method in _CURVED:
            found = [breadth.select(oracle, vector, k=k, theta=t, method=method, pool=pool) for t in _THETAS]
            curves[method] = [(s.relevance, s.diversity) for s in found]
    knee = curve.knee().theta
    if plot is not None:
        plots.frontier(curves, f"{query} (k = {k})", plot)
    if as_json:
        named = {
            m: [{"theta": t, "relevance": r, "diversity": d} for t, (r, d) in zip(_THETAS, c, strict=True)]
            for m, c in curves.items()
        }
        show.dump({"query": query, "k": k, "knee": knee, "curves": named})
        return
    from rich.table import Table

    table = Table(title=f"{query!r}, k = {k}: relevance / diversity", title_justify="left")
    table.add_column("θ", justify="right")
    for method in curves:
        table.add_column(method, justify="right")
    for place, t in enumerate(_THETAS):
        cells = [f"{c[place][0]:.3f} / {c[place][1]:.3f}" for c in curves.values()]
        table.add_row(f"{t:g}", *cells, style="bold green" if t == knee else None)
    show.out.print(table)
    show.out.print(f"the knee of the curve is at θ = {knee:g}" + (f"; plot: {plot}" if plot else ""))


@app.command(name="diagnose")
def diagnose_command(
    index_path: IndexPath,
    queries: Annotated[
        Path | None, typer.Option(help="a file with one query a line; else beginnings of passages")
    ] = None,
    k: K = 10,
    sample: Annotated[int, typer.Option(help="how many passages to take as queries")] = 100,
    near_copy: Annotated[float, typer.Option(help="cosine from which two passages count as near-copies")] = NEAR_COPY,
    plot: Annotated[Path | None, typer.Option(help="write a plot to this file")] = None,
    encoder: EncoderOption = None,
    as_json: AsJson = False,
) -> None:
    """Do you need diversity? How redundant top-k is on this collection, and which θ would mend it."""
    asked = None
    if queries is not None:
        if not queries.is_file():
            raise InputError(f"there is no file {str(queries)!r}")
        asked = queries.read_text(encoding="utf-8").splitlines()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    quiet = as_json or not show.err.is_terminal
    with _open(index_path, encoder) as opened, Progress(*columns, console=show.err, disable=quiet) as bar:
        task = bar.add_task("queries", total=None)
        found = diagnose(
            opened,
            asked,
            k=k,
            sample=sample,
            near_copy=near_copy,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
        )
    if plot is not None:
        plots.diagnosis(found, plot)
    if as_json:
        show.dump(show.diagnosis_data(found))
        return
    show.out.print(show.diagnosis_table(found))
    show.out.print(found.verdict(), soft_wrap=True)


@app.command()
def demo(
    folder: Annotated[Path, typer.Option("--folder", help="where to put the index and the plots")] = Path(
        "breadth-demo"
    ),
) -> None:
    """Try it: 3,000 real medical passages from nine sites, which repeat each other a lot."""
    folder.mkdir(parents=True, exist_ok=True)
    passages = folder / "medquad.jsonl"
    packed = files("breadth.cli") / "data" / "medquad.jsonl.gz"
    passages.write_bytes(gzip.decompress(packed.read_bytes()))
    made = folder / "medquad.index"
    _told(f"breadth index {passages} -o {made}")
    index(passages, made)
    for question in _QUESTIONS:
        _told(f'breadth compare {made} "{question}" -k 6')
        compare(made, question, k=6)
    _told(f'breadth frontier {made} "{_QUESTIONS[0]}" --plot {folder / "frontier.png"}')
    picture = find_spec("matplotlib") is not None  # without it the tables have to do
    frontier(made, _QUESTIONS[0], plot=folder / "frontier.png" if picture else None)
    _told(f"breadth diagnose {made} --plot {folder / 'diagnosis.png'}")
    diagnose_command(made, plot=folder / "diagnosis.png" if picture else None)
    show.out.print(f"\nThe index and the plots are in {folder}. The passages are from MedQuAD (CC BY 4.0).")


def _told(command: str) -> None:
    show.out.print(f"\n$ {command}", style="bold", soft_wrap=True)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Versions, which extras are there, what is missing and how to get it."""
    extras = {
        "text": ("tokenizers", "typer", "rich"),
        "fast": ("numba",),
        "plot": ("matplotlib",),
        "bm25": ("bm25s",),
        "parquet": ("pyarrow",),
        "measures": ("ir-measures", "pyndeval"),
        "torch": ("torch",),
        "sentence-transformers": ("sentence-transformers",),
        "model2vec": ("model2vec",),
        "openai": ("openai",),
        "onnx": ("onnxruntime",),
        "pyserini": ("pyserini",),
    }
    found = {name: {package: _version(package) for package in packages} for name, packages in extras.items()}
    facts = {
        "breadth": breadth.__version__,
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "sqlite": sqlite3.sqlite_version,
    }
    if as_json:
        show.dump({**facts, "extras": found})
        return
    show.out.print("  ".join(f"{name} {value}" for name, value in facts.items()))
    for name, packages in found.items():
        there = all(packages.values())
        what = ", ".join(f"{p} {v}" if v else f"{p} missing" for p, v in packages.items())
        hint = "" if there else f"   pip install 'breadth[{name}]'"
        show.out.print(f"{'yes' if there else 'no ':3}  {name:22} {what}{hint}", soft_wrap=True)


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
