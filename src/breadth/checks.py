"""Checks of arguments. Public functions call them once; a message names the argument, what was seen and what to do."""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Iterable
from typing import Any

import numpy as np

from breadth.arrays import Array, Vector
from breadth.errors import InputError
from breadth.foreign import Numbers, to_array

UNIT_TOLERANCE = 1e-3
"""How far the length of a row or query may be from 1. Rounding to float16 changes it by less than half of this."""

SCORE_LIMIT = 1e8
"""The largest score from outside, in absolute value.

Similarities are at most 1, and the solvers weigh both in float64. Searches and proofs agreed with brute force for
scores up to 1e10; from 1e12 on, sets held a row twice. The limit leaves two digits in reserve.
"""

SHARPNESS_LIMIT = 1000
"""The largest sharpness. Lengths may be a little above 1, and a power of such a cosine must not grow without limit."""

_FLOATS = (np.float16, np.float32, np.float64)


def check_vectors(vectors: Any, name: str) -> Array:
    """Return `vectors` as an (n, d) float array with contiguous rows. Arrays are not copied; lists become float64."""
    array = to_array(vectors, name)
    if array.ndim != 2:
        raise InputError(f"{name} must be a 2-D array (rows, dimensions), got shape {array.shape}")
    if 0 in array.shape:
        raise InputError(f"{name} must have at least one row and one dimension, got shape {array.shape}")
    if array.dtype not in _FLOATS:
        raise InputError(
            f"{name} must be float32, float64 or float16, got {array.dtype}; convert it, e.g. with .astype('float32')"
        )
    if array.shape[1] > 1 and array.strides[1] != array.itemsize:
        raise InputError(
            f"{name} must have its rows contiguous in memory (C order), got strides {array.strides}; "
            f"pass np.ascontiguousarray({name})"
        )
    return array


def square_lengths(rows: Array) -> Array:
    """The squared length of each row, in the precision of the rows."""
    # vecdot, which NumPy has from version 2 on, takes half the time.
    squared: Array = np.vecdot(rows, rows) if hasattr(np, "vecdot") else np.einsum("ij,ij->i", rows, rows)
    return squared


def check_lengths(squared: Array, start: int, name: str, tolerance: float = UNIT_TOLERANCE) -> float:
    """Raise an error unless all rows have a finite length close to 1. Return the largest |‖e_i‖² - 1|.

    `squared` holds the squared lengths of the rows start, start + 1, ….
    """
    shortest, longest = float(squared.min()), float(squared.max())  # NaN if any row has it
    if (1.0 - tolerance) ** 2 <= shortest and longest <= (1.0 + tolerance) ** 2:
        return max(longest - 1.0, 1.0 - shortest)
    lengths = np.sqrt(squared, dtype=np.float64)
    wrong = np.flatnonzero(~(np.abs(lengths - 1.0) <= tolerance))
    if len(wrong) == 0:  # a length on the very edge
        return float(np.abs(squared - 1.0).max())
    row, length = start + int(wrong[0]), float(lengths[wrong[0]])
    if not math.isfinite(length):
        raise InputError(f"{name}: row {row} holds NaN, infinity or numbers too large to square; remove or repair it")
    if length == 0.0:
        raise InputError(f"{name}: row {row} is all zeros, so it has no direction; remove it")
    raise InputError(
        f"{name}: row {row} has length {length:.6g}, not 1; divide every row by its length (in float32 or float64): "
        f"{name} / np.linalg.norm({name}, axis=1, keepdims=True)"
    )


def check_unit_rows(vectors: Any, name: str) -> Vector:
    """Return a small array of unit rows as float64."""
    rows = check_vectors(vectors, name).astype(np.float64)
    check_lengths(np.square(rows).sum(axis=1), 0, name)
    return rows


def check_query(query: Any, dim: int) -> Vector:
    """Return a unit vector of `dim` coordinates as float64."""
    vector = to_array(query, "query")
    if vector.shape != (dim,):
        hint = "; pass one query, e.g. query[0]" if vector.ndim == 2 else ""
        raise InputError(f"query must have shape ({dim},) like the rows of vectors, got {vector.shape}{hint}")
    if vector.dtype not in _FLOATS:
        raise InputError(
            f"query must be float32, float64 or float16, got {vector.dtype}; convert it, e.g. with .astype('float32')"
        )
    vector = vector.astype(np.float64)
    with np.errstate(over="ignore", invalid="ignore"):  # the length of very long vectors is infinite
        length = math.sqrt(float(vector @ vector))
    if not math.isfinite(length) and not np.isfinite(vector).all():
        raise InputError("query holds NaN or infinity; pass finite numbers")
    if length == 0.0:
        raise InputError("query is all zeros, so it has no direction; pass a unit vector")
    if abs(length - 1.0) > UNIT_TOLERANCE:
        raise InputError(f"query has length {length:.6g}, not 1; pass query / np.linalg.norm(query)")
    return vector


def check_relevance(scores: Any, size: int) -> Vector:
    """Return one finite relevance score for each of `size` rows, as float64."""
    array = to_array(scores, "scores")
    if array.shape != (size,):
        raise InputError(f"scores must have shape ({size},), one score for each row of vectors, got {array.shape}")
    if array.dtype.kind not in "fiu":
        raise InputError(f"scores must be numbers, got {array.dtype}")
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        raise InputError(f"scores: entry {int(wrong[0])} is {array[wrong[0]]}; every score must be finite")
    numbers = array.astype(np.float64)
    wrong = np.flatnonzero(np.abs(numbers) > SCORE_LIMIT)
    if len(wrong):
        raise InputError(
            f"scores: entry {int(wrong[0])} is {numbers[wrong[0]]:g}; scores from {-SCORE_LIMIT:,.0f} to "
            f"{SCORE_LIMIT:,.0f} are served, so divide all of them by one number"
        )
    return numbers


def check_table(values: Any, name: str) -> Numbers:
    """Return a two-dimensional array with a row for each query. Each row is checked where it is used."""
    array = to_array(values, name)
    if array.ndim != 2:
        raise InputError(f"{name} must have two dimensions, one row for each query, got shape {array.shape}")
    return array


def check_k(k: Any, size: int) -> int:
    """Return `k`, the number of rows to pick: a whole number from 1 to `size`."""
    count = check_count(k, "k")
    if count > size:
        raise InputError(f"k must be at most the number of rows ({size}), got {count}")
    return count


def check_count(value: Any, name: str) -> int:
    """Return a whole number of at least 1."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        count = operator.index(value)
    except TypeError:
        raise InputError(f"{name} must be a whole number, got {value!r}") from None
    if count < 1:
        raise InputError(f"{name} must be at least 1, got {count}")
    if count > sys.maxsize:
        raise InputError(f"{name} is too large; got a number above {sys.maxsize}")
    return count


def check_number(value: Any, name: str, low: float = -math.inf, high: float = math.inf) -> float:
    """Return a finite number in [low, high]."""
    above = f"at least {low:g}" if math.isfinite(low) else "finite"
    span = f"in [{low:g}, {high:g}]" if math.isfinite(high) else above
    kind = "a finite number" if span == "finite" else f"a number {span}"
    if isinstance(value, (bool, np.bool_, str)):
        raise InputError(f"{name} must be {kind}, got {value!r}")
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name} must be {kind}, got {value!r}") from None
    except OverflowError:  # a whole number that no float can hold
        raise InputError(f"{name} must be {span}, got a number with more than 300 digits") from None
    if not (math.isfinite(number) and low <= number <= high):
        raise InputError(f"{name} must be {span}, got {value!r}")
    return number


def check_sharpness(sharpness: Any) -> int:
    """Return the sharpness, the power of a cosine: 1, or an even number."""
    power = check_count(sharpness, "sharpness")
    if power > 1 and power % 2:
        raise InputError(f"sharpness must be 1 or an even number, got {power}")
    if power > SHARPNESS_LIMIT:
        raise InputError(f"sharpness must be at most {SHARPNESS_LIMIT}: beyond it, only exact copies count")
    return power


def check_choice(value: Any, name: str, allowed: Iterable[str]) -> str:
    """Return `value` if it is one of the allowed words."""
    words = tuple(allowed)
    if not isinstance(value, str) or value not in words:
        raise InputError(f"{name} must be one of {', '.join(map(repr, words))}, got {value!r}")
    return value
