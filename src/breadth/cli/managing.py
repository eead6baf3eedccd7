"""`breadth info`, `export`, `delete` and `check`: what a team does with an index beside searching it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import numpy as np
import typer

from breadth.arrays import Array
from breadth.cli import console, show
from breadth.cli.inputs import read_lines
from breadth.cli.options import AsJson, Filter, IndexPath, Where, read_where, warn_of_unknown_fields
from breadth.errors import InputError
from breadth.filters import matches, read_filter
from breadth.index import Document, Index
from breadth.sources.source import ID_FIELDS, TEXT_FIELDS

_AT_A_TIME = 1000
"""Documents that are read at a time."""
_LISTED = 20
_ID, _TEXT, _VECTOR = ID_FIELDS[0], TEXT_FIELDS[0], "vector"
"""The fields of an exported document; `breadth index` finds them."""


def info(index_path: IndexPath, as_json: AsJson = False) -> None:
    """Show what an index holds: how many passages, which encoder, which fields, and how much room it takes."""
    with Index.open(index_path) as opened:
        facts: dict[str, Any] = {
            "path": str(index_path),
            "documents": len(opened),
            "encoder": opened.encoder_name or None,
            "dimensions": opened.dim,
            "fields": opened.fields,
            "bytes": sum(file.stat().st_size for file in index_path.rglob("*") if file.is_file()),
        }
    if as_json:
        console.print_json(facts)
        return
    console.print_line(f"{facts['path']}: {show.counted(facts['documents'], 'passage', 'passages')}")
    console.print_line(f"encoder     {facts['encoder'] or 'none: the vectors were made elsewhere'}")
    console.print_line(f"dimensions  {facts['dimensions']}")
    console.print_line(f"fields      {', '.join(facts['fields']) or 'none'}")
    console.print_line(f"size        {facts['bytes'] / 1e6:,.1f} MB")


def export(
    index_path: IndexPath,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="a new .jsonl file; otherwise the standard output")
    ] = None,
    where: Where = None,
    vectors: Annotated[bool, typer.Option("--vectors", help=f"write the vectors too, as the field {_VECTOR}")] = False,
) -> None:
    """Write the passages of an index as JSON lines, which `breadth index` can read again."""
    if output is not None and output.exists():
        raise InputError(f"{output} exists; choose another name, or remove it")
    with Index.open(index_path) as opened:
        condition = read_where(where)
        warn_of_unknown_fields(opened, condition)
        lines = _list_lines(opened, condition, vectors)
        if output is None:
            sys.stdout.flush()
            _write_lines(lines, sys.stdout.buffer)
            return
        partial = output.with_name(f".{output.name}.{os.getpid()}.partial")
        try:
            with partial.open("xb") as file:
                count = _write_lines(lines, file)
            partial.rename(output)
        finally:
            partial.unlink(missing_ok=True)
    console.print_line(f"{output}: {show.counted(count, 'passage', 'passages')}")


def delete(
    index_path: IndexPath,
    ids: Annotated[list[str] | None, typer.Argument(help="the ids of passages", metavar="ID…")] = None,
    ids_from: Annotated[Path | None, typer.Option(help="a file with one id a line")] = None,
    where: Where = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="do not ask, with --where")] = False,
    as_json: AsJson = False,
) -> None:
    """Delete passages from an index: by id, or all for which a condition holds.

    The exit code is 1 if ids were named and none of them is there.
    """
    wanted = [*(ids or []), *(read_lines(ids_from) if ids_from else [])]
    if bool(wanted) == (where is not None):
        raise InputError("say what to delete: ids (also with --ids-from), or a condition with --where")
    condition = read_where(where)
    with Index.open(index_path) as opened:
        if condition is not None:
            warn_of_unknown_fields(opened, condition)
            wanted = [document.id for document in _list_documents(opened, condition)]
            _confirm(len(wanted), index_path, yes or as_json)
        missing = [identity for identity in wanted if identity not in opened]
        deleted = opened.delete(wanted) if wanted else 0
        left = len(opened)
    if as_json:
        console.print_json({"deleted": deleted, "missing": missing, "documents": left})
    else:
        for identity in missing[:_LISTED]:
            console.print_note(f"not there: {identity}")
        if len(missing) > _LISTED:
            console.print_note(f"… and {len(missing) - _LISTED:,} more; --json lists them")
        console.print_line(f"{index_path}: {deleted:,} deleted, {show.counted(left, 'passage', 'passages')} left")
    if missing and not deleted:
        raise typer.Exit(1)


def check(index_path: IndexPath, as_json: AsJson = False) -> None:
    """Read a whole index and compare all checksums. The exit code is 1 if something is damaged."""
    with Index.open(index_path) as opened:
        found = opened.check()
    if as_json:
        console.print_json(
            {
                "ok": found.ok,
                "documents": found.documents,
                "segments": found.segments,
                "problems": list(found.problems),
                "notes": list(found.notes),
            }
        )
    else:
        for problem in found.problems[:_LISTED]:
            console.print_note(f"damaged: {problem}")
        if len(found.problems) > _LISTED:
            console.print_note(f"… and {len(found.problems) - _LISTED:,} more; --json lists them")
        for note in found.notes[:_LISTED]:
            console.print_line(note)
        state = "whole" if found.ok else "damaged; make it again from its sources, or take a copy of it"
        console.print_line(f"{index_path}: {show.counted(found.documents, 'passage', 'passages')}, {state}")
    if not found.ok:
        raise typer.Exit(1)


def _confirm(count: int, path: Path, agreed: bool) -> None:
    if not count or agreed:
        return
    if not sys.stdin.isatty():
        raise InputError(f"this would delete {count:,} passages; pass --yes to do so")
    typer.confirm(f"Delete {show.counted(count, 'passage', 'passages')} from {path}?", abort=True, err=True)


def _list_documents(opened: Index, where: Filter | None) -> Iterator[Document]:
    """Yield the documents for which a condition holds."""
    condition = None if where is None else read_filter(where)
    return (one for one in opened if condition is None or matches(condition, one.metadata))


def _list_with_vectors(opened: Index, where: Filter | None) -> Iterator[tuple[Document, Array]]:
    if next(_list_documents(opened, where), None) is None:
        return
    oracle = opened.oracle(where)
    for start in range(0, oracle.size, _AT_A_TIME):
        places = np.arange(start, min(start + _AT_A_TIME, oracle.size))
        yield from zip(opened.documents(oracle.numbers[places]), oracle.rows(places), strict=True)


def _list_lines(opened: Index, where: Filter | None, vectors: bool) -> Iterator[str]:
    """Yield the documents as lines of JSON, with their vectors if these are wanted."""
    if not vectors:
        yield from (_make_line(document) for document in _list_documents(opened, where))
        return
    for document, row in _list_with_vectors(opened, where):
        yield _make_line(document, {_VECTOR: [float(number) for number in row]})


def _make_line(document: Document, more: dict[str, Any] | None = None) -> str:
    own = {_ID: document.id, _TEXT: document.text, **(more or {})}
    both = next((name for name in document.metadata if name in own), None)
    if both is not None:
        raise InputError(
            f"document {document.id!r} has metadata with the name {both!r}, which its {both} has in the file; "
            "export it from Python: for document in Index.open(…)"
        )
    return json.dumps(own | dict(document.metadata), ensure_ascii=False)


def _write_lines(lines: Iterator[str], file: BinaryIO) -> int:
    count = 0
    for line in lines:
        file.write(line.encode("utf-8") + b"\n")
        count += 1
    file.flush()
    return count
