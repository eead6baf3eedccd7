"""The formats that can be read, by the endings of file names."""

from __future__ import annotations

from pathlib import Path

from breadth.errors import InputError
from breadth.sources.files import find_kind
from breadth.sources.folder import TEXT_ENDINGS, make_folder_source
from breadth.sources.json_values import read_json
from breadth.sources.parquet import read_parquet
from breadth.sources.source import Reader, Source
from breadth.sources.tables import read_table

FORMATS: dict[str, Reader] = {
    ".jsonl": read_json,
    ".ndjson": read_json,
    ".json": read_json,
    ".csv": read_table,
    ".tsv": read_table,
    ".parquet": read_parquet,
}
"""The function that reads a file, by the ending of its name."""


def describe_formats() -> str:
    """Say what can be read, for help and messages."""
    return f"{', '.join(FORMATS)} files and folders of {', '.join(TEXT_ENDINGS)} files"


def open_source(
    path: Path,
    text_field: str | None = None,
    id_field: str | None = None,
    vector_field: str | None = None,
    words: int | None = None,
    overlap: int = 0,
) -> Source:
    """Return the source of a file or folder; the fields of `Source` say what the arguments are."""
    try:
        kind = find_kind(path)
    except FileNotFoundError:
        raise InputError(f"there is no file or folder {str(path)!r}") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{str(path)!r} cannot be read: {error}") from error
    if kind == "a folder":
        source = make_folder_source(path)
    elif kind:
        raise InputError(f"{path} is {kind}, not a file; write what it gives into a file first")
    elif path.suffix.lower() not in FORMATS:
        raise InputError(f"{path.name}: can read {describe_formats()}")
    else:
        source = Source(path, FORMATS[path.suffix.lower()], path.stat().st_size)
    source.text_field, source.id_field, source.vector_field = text_field, id_field, vector_field
    source.words, source.overlap = words, overlap
    return source
