"""Parquet files (extra `parquet`). The only importer of pyarrow.

A small file can unfold to any size. Texts are therefore read as entries of their dictionary, one record at a time, and
what a row group says about its size is looked at first.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from breadth.errors import InputError, MissingExtraError
from breadth.sources.files import MOST_BYTES, TOO_LONG, open_file
from breadth.sources.source import Record, Source

_ROWS = 256
"""Rows that are unfolded at a time."""
_BROKEN = object()
"""Stands for a text that is not UTF-8."""
_MOST_UNFOLDED, _USUAL = 1 << 30, 200
"""A column of a row group may unfold to so many bytes, or to so many times its size in the file."""


def read_parquet(source: Source) -> Iterator[Record]:
    """Read the rows of a Parquet file."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("pyarrow", "parquet") from None
    with open_file(source.path) as handle, _reporting(source, pyarrow.ArrowException):
        file = parquet.ParquetFile(handle)
        texts = _check_columns(source, pyarrow, file.schema_arrow)
        file = parquet.ParquetFile(handle, read_dictionary=texts)
        yield from _read_groups(source, file)


@contextmanager
def _reporting(source: Source, kind: type[Exception]) -> Iterator[None]:
    """Report what pyarrow raises, as one of our own errors as long as nothing has been read."""
    try:
        yield
    except (kind, OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = " ".join(str(error).split())
        if source.records == 0:
            raise InputError(f"{source.path.name} is not a Parquet file, or is damaged: {reason}") from error
        source.stop(f"{source.path.name}:{source.records + 1}", f"damaged: {reason}")


def _check_columns(source: Source, pyarrow: Any, schema: Any) -> list[str]:
    """Refuse columns of the same name, and return those of texts and bytes."""
    names = list(schema.names)
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InputError(
            f"{source.path.name}: the column {twice!r} stands twice, so one of its values would be lost; rename one"
        )
    kinds = pyarrow.types
    tests = (kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary)
    return [one.name for one in schema if any(test(one.type) for test in tests)]


def _read_groups(source: Source, file: Any) -> Iterator[Record]:
    number, size, groups = 0, source.total_bytes, file.metadata.num_row_groups
    for group in range(groups):
        facts = file.metadata.row_group(group)
        first, number = number + 1, number + facts.num_rows
        if any(_unfolds_too_far(facts.column(i)) for i in range(facts.num_columns)):
            source.skip(
                f"{source.path.name}:{first}",
                f"the {facts.num_rows:,} rows from here on unfold to more than {_MOST_UNFOLDED / 2**30:.3g} GB, "
                f"{_USUAL} times what they take in the file or more; write them anew if you trust them",
            )
        else:
            yield from _read_group(source, file, group, first)
        source.read_bytes = size * (group + 1) // groups


def _unfolds_too_far(column: Any) -> bool:
    """Whether a column of a row group is larger in memory than any that people write."""
    in_lists = 8 * int(column.num_values) if "." in column.path_in_schema else 0
    unfolded = max(int(column.total_uncompressed_size), in_lists)
    return unfolded > max(_MOST_UNFOLDED, _USUAL * int(column.total_compressed_size))


def _read_group(source: Source, file: Any, group: int, first: int) -> Iterator[Record]:
    number = first
    for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group]):
        columns = [_read_column(column) for column in batch.columns]
        for values in zip(*columns, strict=True):
            where = f"{source.path.name}:{number}"
            number += 1
            if any(value is _BROKEN for value in values):
                source.skip(where, "not UTF-8")
            elif any(isinstance(value, str) and len(value) > MOST_BYTES for value in values):
                source.skip(where, f"a text is {TOO_LONG}")
            else:
                yield where, dict(zip(batch.schema.names, values, strict=True))


def _read_column(column: Any) -> list[Any]:
    """The values of a column. A text that stands in many rows is unfolded once, and all of them share it."""
    if not hasattr(column, "dictionary"):
        return _read_values(column)
    places = column.indices.to_pylist()
    used = sorted({place for place in places if place is not None})
    entries = dict(zip(used, _read_values(column.dictionary.take(used)), strict=True))
    return [None if place is None else entries[place] for place in places]


def _read_values(array: Any) -> list[Any]:
    try:
        return list(array.to_pylist())
    except UnicodeDecodeError:  # one of them: find out which
        return [_BROKEN if len(array) == 1 else _read_values(array.slice(place, 1))[0] for place in range(len(array))]
