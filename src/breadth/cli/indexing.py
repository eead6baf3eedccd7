"""`breadth index`: from files to an index."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from breadth import encoders
from breadth.cli import console
from breadth.cli.options import AsJson, EncoderOption
from breadth.errors import InputError
from breadth.index import Added, Document, Index
from breadth.index.calibration import calibrate
from breadth.index.writer import BATCH
from breadth.sources import Source, describe_formats, open_source, parse_chunk

_LISTED = 20
"""How many skipped records are listed without --json."""
_CALIBRATED = 20
"""Texts of a new index by which its encoder is judged."""
_CHARACTERS = 1 << 25
"""Characters of text that are held in memory before they are written."""


def index(
    source: Annotated[Path, typer.Argument(help=f"what to read: {describe_formats()}", metavar="SOURCE")],
    output: Annotated[Path, typer.Option("--output", "-o", help="the folder of the index; made if it does not exist")],
    encoder: EncoderOption = None,
    chunk: Annotated[
        str | None, typer.Option(help="cut texts into pieces of so many words: 100w, or 100w/20 to overlap by 20")
    ] = None,
    text_field: Annotated[str | None, typer.Option(help="the field with the text")] = None,
    id_field: Annotated[str | None, typer.Option(help="the field with the id")] = None,
    vector_field: Annotated[
        str | None, typer.Option(help="the field with the vector, a list of numbers of unit length; no encoder then")
    ] = None,
    update: Annotated[
        bool, typer.Option("--update", help="replace documents whose id is there with other content")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="exit with code 3 if any record was skipped")] = False,
    as_json: AsJson = False,
) -> None:
    """Make an index, or add to one. Documents that are there already are not encoded again.

    Records that cannot be used are listed. If no record can be used, or a file cannot be read to its end, the exit code
    is 1.
    """
    if vector_field is not None and chunk is not None:
        raise InputError("--vector-field goes without --chunk: the vector is that of the whole text")
    report = build_index(source, output, encoder, chunk, text_field, id_field, vector_field, update, quiet=as_json)
    if as_json:
        console.print_json(report)
    else:
        _print_report(output, report)
    if report["error"]:
        if as_json:
            raise typer.Exit(1)
        raise InputError(report["error"])
    if strict and report["skipped_count"]:
        raise typer.Exit(3)


def build_index(
    source: Path,
    output: Path,
    encoder: str | None = None,
    chunk: str | None = None,
    text_field: str | None = None,
    id_field: str | None = None,
    vector_field: str | None = None,
    update: bool = False,
    quiet: bool = False,
) -> dict[str, Any]:
    """Read a source into an index, and report what became of its records."""
    words, overlap = parse_chunk(chunk) if chunk else (None, 0)
    reading = open_source(source, text_field, id_field, vector_field, words, overlap)
    chosen = encoders.encoder(encoder) if encoder else None
    there = Index.exists(output)
    target = Index.open(output, chosen) if there else None
    if target is not None and vector_field is not None:
        reading.dim = target.dim
    started = time.perf_counter()
    done, size, warning = Added(), 0, None
    batches = split_by_size(reading.documents())
    first = next(batches, None)
    if target is None and first is not None:  # nothing is made before there is something to put into it
        target = Index.create(output, chosen, dim=reading.dim if chosen is None else None)
    if target is not None:
        with target:
            done = _add_all(target, reading, [] if first is None else _chain(first, batches), update, quiet)
            size = len(target)
            warning = None if there or reading.vector_field is not None or not size else _warn_of_encoder(target)
    return {
        "added": done.added,
        "updated": done.updated,
        "unchanged": done.unchanged,
        "removed": done.removed,
        "skipped": [{"where": one.where, "reason": one.reason} for one in reading.skipped],
        "skipped_count": reading.skipped_count,
        "documents": size,
        "seconds": time.perf_counter() - started,
        "error": _find_error(reading, done),
        "warning": warning,
    }


def _warn_of_encoder(target: Index) -> str | None:
    """What is wrong with the encoder of a new index, if copies are too far from each other to be compared."""
    found = calibrate(target, sample=_CALIBRATED)
    return None if found.is_enough else " ".join(found.describe()[:3])


def split_by_size(documents: Iterable[Document]) -> Iterator[list[Document]]:
    """Yield documents in lists that are bounded in number and in size. The pieces of a document stay together."""
    batch: list[Document] = []
    size = 0
    for document in documents:
        if (len(batch) >= BATCH or size >= _CHARACTERS) and batch[-1].root != document.root:
            yield batch
            batch, size = [], 0
        batch.append(document)
        size += len(document.text)
    if batch:
        yield batch


def _chain(first: list[Document], rest: Iterator[list[Document]]) -> Iterator[list[Document]]:
    yield first
    yield from rest


def _add_all(target: Index, reading: Source, batches: Iterable[list[Document]], update: bool, quiet: bool) -> Added:
    """Add everything that the source holds, with a progress bar; the source collects what was skipped."""
    started = time.perf_counter()
    done = Added()
    with console.rate_progress(quiet) as bar:
        task = bar.add_task("reading", total=reading.total_bytes, rate="")
        for documents in batches:
            vectors = _take_vectors(reading, documents)
            if update:
                batch = target.update(documents, vectors, whole=True)
            else:
                batch = _add_batch(target, documents, vectors, reading)
            for identity, reason in batch.skipped:
                reading.skip(reading.places.get(identity, identity), reason)
            done += replace(batch, skipped=())
            reading.places.clear()
            reading.vectors.clear()
            rate = (done.added + done.updated) / max(1e-9, time.perf_counter() - started)
            bar.update(task, completed=reading.read_bytes, rate=f"{rate:,.0f} passages/s")
        bar.update(task, completed=reading.read_bytes)
    return done


def _take_vectors(reading: Source, documents: list[Document]) -> Any:
    """The vectors of these documents, if the source has any."""
    return None if reading.vector_field is None else np.array([reading.vectors[one.id] for one in documents])


def _add_batch(target: Index, documents: list[Document], vectors: Any, reading: Source) -> Added:
    """Add a batch; a document that is there with other content, or in other pieces, is reported and left as it is."""
    conflicts = target.find_conflicts(documents, vectors, whole=True)
    for document in documents:
        if document.id in conflicts:
            where = reading.places.get(document.id, document.id)
            reading.skip(where, f"{document.id!r} is in the index with other content; --update replaces it")
    kept = [place for place, document in enumerate(documents) if document.id not in conflicts]
    rows = None if vectors is None else vectors[kept]
    return target.add([documents[place] for place in kept], rows, whole=True) if kept else Added()


def _find_error(reading: Source, done: Added) -> str:
    """Why the command failed: nothing could be used, or reading stopped. An empty text if it did not fail."""
    if reading.stopped is not None:
        return f"{reading.stopped.where}: {reading.stopped.reason}"
    if done.added or done.updated or done.unchanged:
        return ""
    if not reading.skipped_count:
        return f"{reading.path} holds no record, so there is nothing to index"
    reasons = Counter(one.reason for one in reading.skipped)
    reason, count = reasons.most_common(1)[0]
    which = "" if count == reading.skipped_count else f"for {count:,} of {reading.skipped_count:,}, "
    return f"no record of {reading.path} could be used: {which}{reason}{_advise(reading, reason)}"


def _advise(reading: Source, reason: str) -> str:
    """What to try, from what was seen."""
    fields = ", ".join(repr(name) for name in reading.fields)
    if reason.startswith("no text") and fields:
        return f". The records have the fields {fields}; name the one with the text: --text-field NAME"
    if reason.startswith("the id") and fields:
        return f". The records have the fields {fields}; name the one with the id: --id-field NAME"
    return ""


def _print_report(output: Path, report: dict[str, Any]) -> None:
    skipped, count = report["skipped"], report["skipped_count"]
    for one in skipped[:_LISTED]:
        console.print_note(f"skipped {one['where']}: {one['reason']}")
    if count > _LISTED:
        console.print_note(
            f"… and {count - _LISTED:,} more; --json lists {'them' if count == len(skipped) else 'more'}"
        )
    if report["warning"]:
        console.print_note(report["warning"])
    if report["documents"]:
        console.print_line(
            f"{output}: {report['added']:,} added, {report['updated']:,} updated, {report['unchanged']:,} unchanged, "
            + (f"{report['removed']:,} old pieces removed, " if report["removed"] else "")
            + f"{count:,} skipped; {report['documents']:,} passages in all ({report['seconds']:.1f} s)"
        )
