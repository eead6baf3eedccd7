"""Arrays of other packages as NumPy arrays: tensors, data frames, columns of lists. None of these packages is imported.

Nothing is rounded, and nothing is guessed: what could be meant in two ways is an error that says what to pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.errors import InputError

Numbers = npt.NDArray[Any]


def to_array(value: Any, name: str) -> Numbers:
    """Return an array-like value as a NumPy array, without a copy where that is possible.

    A tensor of torch gives its numbers wherever it is. Floats that NumPy does not know (bfloat16, float8) become
    float32, which holds them exactly. The columns of a data frame must all be floats: they become the columns of the
    array. A column of lists, which are all of one length, gives an array with a row for each list.
    """
    if type(value) is np.ndarray and value.dtype.kind == "f" and value.dtype.isbuiltin == 1:
        return value  # the usual case, which small inputs should not wait for
    if isinstance(value, np.ma.MaskedArray):
        raise InputError(f"{name} is a masked array, and breadth ignores masks; pass the valid rows as a plain array")
    try:
        found = _read(value, name)
    except InputError:
        raise
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        reason = "its rows have different lengths" if "inhomogeneous" in str(error) else str(error)
        raise InputError(f"{name} must be an array of numbers; {reason}") from None
    if found.dtype == object and found.ndim == 1:
        found = _join_lists(found, name)
    if found.dtype.name.startswith(("bfloat", "float8")):
        found = found.astype(np.float32)
    return found


def _read(value: Any, name: str) -> Numbers:
    if _is_tensor(value):
        return _read_tensor(value)
    if isinstance(value, list | tuple) and value and _is_tensor(value[0]):
        return np.array([_read_tensor(one) if _is_tensor(one) else one for one in value])
    if all(hasattr(value, ability) for ability in ("columns", "dtypes", "to_numpy")):
        return _read_frame(value, name)
    return np.asarray(value)


def _is_tensor(value: Any) -> bool:
    return all(hasattr(value, ability) for ability in ("detach", "cpu", "numpy", "is_floating_point"))


def _read_tensor(tensor: Any) -> Numbers:
    plain = tensor.detach().cpu()
    if plain.is_floating_point() and str(plain.dtype).removeprefix("torch.") not in ("float16", "float32", "float64"):
        plain = plain.float()
    return np.asarray(plain.numpy())


def _read_frame(frame: Any, name: str) -> Numbers:
    for column, kind in zip(list(frame.columns), list(frame.dtypes), strict=True):
        if not str(kind).lower().startswith(("float", "double")):
            raise InputError(
                f"{name}: the column {column!r} of the data frame holds {kind}, not floats; pass the columns that "
                f"make up the vectors, or the one column that holds them as lists"
            )
    values = frame.to_numpy()
    if values.dtype == object:  # pandas: columns that may hold missing values
        values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.ascontiguousarray(values)


def _join_lists(column: Numbers, name: str) -> Numbers:
    """Make an array of a column of lists. A column of anything else is returned as it is."""
    lists = [isinstance(entry, list | tuple | np.ndarray) for entry in column]
    if not any(lists):
        return column
    if not all(lists):
        place = lists.index(False)
        raise InputError(f"{name}: row {place} is {column[place]!r}, not a list of numbers; remove it")
    rows = [to_array(row, f"{name}: row {place}") for place, row in enumerate(column)]
    for place, row in enumerate(rows):
        if row.shape != rows[0].shape:
            raise InputError(
                f"{name}: row {place} has {len(row)} numbers, row 0 has {len(rows[0])}; all rows must have the same"
            )
    return np.array(rows)
