"""`breadth index`: from files to an index."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from breadth import encoders
from breadth.cli import show
from breadth.cli.options import AsJson, EncoderOption
from breadth.index import Added, Document, Index
from breadth.index.writer import BATCH, split_into_batches
from breadth.sources import Skipped, Source, describe_formats, parse_chunk

_LISTED = 20
"""How many skipped records are listed without --json."""


def index(
    source: Annotated[Path, typer.Argument(help=f"what to read: {describe_formats()}")],
    output: Annotated[Path, typer.Option("--output", "-o", help="the folder of the index; made if it does not exist")],
    encoder: EncoderOption = None,
    chunk: Annotated[
        str | None, typer.Option(help="cut texts into pieces of so many words: 100w, or 100w/20 to overlap by 20")
    ] = None,
    text_field: Annotated[str | None, typer.Option(help="the field with the text")] = None,
    id_field: Annotated[str | None, typer.Option(help="the field with the id")] = None,
    update: Annotated[
        bool, typer.Option("--update", help="replace documents whose id is there with other content")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="exit with code 3 if any record was skipped")] = False,
    as_json: AsJson = False,
) -> None:
    """Make an index, or add to one. Documents that are there already are not encoded again."""
    words, overlap = parse_chunk(chunk) if chunk else (None, 0)
    reading = Source(source, text_field, id_field, words, overlap)
    chosen = encoders.encoder(encoder) if encoder else None
    target = Index.open(output, chosen) if Index.exists(output) else Index.create(output, chosen)
    started = time.perf_counter()
    with target:
        done = _add_all(target, reading, update, quiet=as_json)
        size = len(target)
    report = {
        "added": done.added,
        "updated": done.updated,
        "unchanged": done.unchanged,
        "skipped": [{"where": one.where, "reason": one.reason} for one in reading.skipped],
        "documents": size,
        "seconds": time.perf_counter() - started,
    }
    if as_json:
        show.print_json(report)
    else:
        _print_report(output, report)
    if strict and reading.skipped:
        raise typer.Exit(3)


def _add_all(target: Index, reading: Source, update: bool, quiet: bool) -> Added:
    """Add everything that the source holds, with a progress bar; the source collects what was skipped."""
    started = time.perf_counter()
    done = Added()
    with show.rate_progress(quiet) as bar:
        task = bar.add_task("reading", total=reading.total_bytes, rate="")
        for documents in split_into_batches(reading.documents(), BATCH):
            batch = target.update(documents) if update else _add_batch(target, documents, reading)
            reading.skipped += [Skipped(reading.places.get(i, i), reason) for i, reason in batch.skipped]
            done += replace(batch, skipped=())
            reading.places.clear()
            rate = (done.added + done.updated) / max(1e-9, time.perf_counter() - started)
            bar.update(task, completed=reading.read_bytes, rate=f"{rate:,.0f} passages/s")
        if update:
            _delete_leftover_pieces(target, reading)
        bar.update(task, completed=reading.read_bytes)
    return done


def _add_batch(target: Index, documents: list[Document], reading: Source) -> Added:
    """Add a batch; a document whose id is there with other content is reported and left as it is."""
    conflicts = target.find_conflicts(documents)
    for document in documents:
        if document.id in conflicts:
            where = reading.places.get(document.id, document.id)
            reading.skip(where, f"{document.id!r} is in the index with other content; --update replaces it")
    return target.add([d for d in documents if d.id not in conflicts])


def _delete_leftover_pieces(target: Index, reading: Source) -> None:
    """Delete the last pieces of documents that were cut into more pieces before."""
    for identity, count in reading.parts.items():
        while f"{identity}#{count}" in target:
            target.delete(f"{identity}#{count}")
            count += 1


def _print_report(output: Path, report: dict[str, Any]) -> None:
    skipped = report["skipped"]
    for one in skipped[:_LISTED]:
        show.err.print(f"skipped {one['where']}: {one['reason']}", soft_wrap=True)
    if len(skipped) > _LISTED:
        show.err.print(f"… and {len(skipped) - _LISTED} more; --json lists them all")
    show.out.print(
        f"{output}: {report['added']:,} added, {report['updated']:,} updated, {report['unchanged']:,} unchanged, "
        f"{len(skipped):,} skipped; {report['documents']:,} passages in all ({report['seconds']:.1f} s)"
    )
