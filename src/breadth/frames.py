"""Tables for pandas and polars (extras `pandas` and `polars`). The only importer of these packages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from breadth.errors import MissingExtraError

Columns = Mapping[str, Sequence[Any]]
"""The columns of a table, all of the same length, by name."""


def make_pandas(columns: Columns) -> Any:
    """Make a pandas DataFrame."""
    try:
        import pandas
    except ImportError:
        raise MissingExtraError("pandas", "pandas") from None
    return pandas.DataFrame({name: list(values) for name, values in columns.items()})


def make_polars(columns: Columns) -> Any:
    """Make a polars DataFrame. A column whose values have different types holds Python objects, as they are."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("polars", "polars") from None
    return polars.DataFrame([_make_series(polars, name, list(values)) for name, values in columns.items()])


def _make_series(polars: Any, name: str, values: list[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    if kinds == {int, float}:
        return polars.Series(name, values, dtype=polars.Float64, strict=False)
    if len(kinds) > 1 or dict in kinds:  # polars would turn numbers into texts, and drop keys
        return polars.Series(name, values, dtype=polars.Object)
    try:
        return polars.Series(name, values)
    except TypeError:  # lists of different types
        return polars.Series(name, values, dtype=polars.Object)
