"""Checks and errors that adapters share."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from breadth.arrays import Array
from breadth.checks import UNIT_TOLERANCE
from breadth.errors import BreadthError, EngineError, InputError

SAMPLE = 1000
"""Rows that are looked at when an engine is opened. Every row that is fetched later is checked as well."""


_DECODED = 0.05
"""How far the length of a row may be from 1 that is decoded from rounded numbers."""


def check_rows(rows: Any, name: str, remedy: str) -> Array:
    """Return fetched rows as float32, or an error unless all are finite and of unit length.

    name     the collection, for the message
    remedy   what to do about rows of another length
    """
    array = np.asarray(rows, dtype=np.float32)
    lengths = np.sqrt(np.einsum("...d,...d->...", array, array)).ravel()
    wrong = ~(np.abs(lengths - 1.0) <= UNIT_TOLERANCE)
    if wrong.any():
        length = float(lengths[int(np.argmax(wrong))])
        raise InputError(f"{name}: a row has length {length:.6g}, not 1; {remedy}")
    return array


def check_decoded(rows: Array, name: str, any_length: bool = False) -> Array:
    """Return rows that were decoded from rounded numbers, divided by their lengths.

    These lengths must be close to 1, unless the engine measures cosines and they may have `any_length`.
    """
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    off = float(np.abs(lengths - 1.0).max(initial=0.0))
    if not np.isfinite(off) or (len(rows) and lengths.min() == 0.0) or (off > _DECODED and not any_length):
        raise InputError(
            f"{name}: the length of a row that is decoded from its code is {off:.2g} off 1; use unit rows, and finer "
            "codes (float16, or 8 bits for each number)"
        )
    return np.asarray(rows / lengths, dtype=np.float32)


@contextmanager
def engine_errors(name: str, *kinds: type[BaseException]) -> Iterator[None]:
    """Turn errors of these kinds, which an engine's package raises, into an `EngineError` that names the engine."""
    try:
        yield
    except BreadthError:
        raise
    except kinds as error:
        raise EngineError(f"{name}: {type(error).__name__}: {error}") from error
