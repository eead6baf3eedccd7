"""What a command reads beside its index: scores, vectors, options of methods, lists of lines."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from breadth.checks import check_number
from breadth.errors import InputError
from breadth.sources.files import MOST_BYTES, TOO_LONG, open_text


def read_lines(path: Path) -> list[str]:
    """The lines of a text file, without those that are empty."""
    return [line for line in _read_text(path).splitlines() if line.strip()]


def read_scores(path: Path | None) -> dict[str, float] | None:
    """Relevance by id, from a JSON object."""
    if path is None:
        return None
    data = _read_json(path)
    if not isinstance(data, dict) or not data:
        raise InputError(f'{path.name} must hold a JSON object {{"id": score, …}}, got {type(data).__name__}')
    return {identity: check_number(score, f"the score of {identity!r}") for identity, score in data.items()}


def read_vector(path: Path) -> Any:
    """A vector, from a file of NumPy or a JSON list."""
    if path.suffix.lower() != ".npy":
        return np.array(_read_numbers(path), dtype=np.float64)
    try:
        return np.load(path, allow_pickle=False)
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}") from None
    except (ValueError, OSError, EOFError) as error:
        raise InputError(f"{path.name} cannot be read as an array of NumPy: {error}") from None


def read_options(given: Sequence[str]) -> dict[str, Any]:
    """Options of a method, from NAME=VALUE. Values that are numbers become numbers."""
    options: dict[str, Any] = {}
    for one in given:
        name, sign, value = one.partition("=")
        if not (name and sign and value):
            raise InputError(f"--option must be like NAME=VALUE, got {one!r}")
        options[name.replace("-", "_")] = _to_number(value)
    return options


def _to_number(text: str) -> int | float | str:
    for kind in (int, float):
        try:
            number: int | float = kind(text)
        except ValueError:
            continue
        return number if math.isfinite(number) else text
    return text


def _read_numbers(path: Path) -> list[float]:
    data = _read_json(path)
    if not isinstance(data, list) or not data:
        raise InputError(f"{path.name} must hold a JSON list of numbers, or be a .npy file")
    return [check_number(one, f"entry {place} of {path.name}") for place, one in enumerate(data)]


def _read_json(path: Path) -> Any:
    try:
        return json.loads(_read_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path.name} is not JSON: {error}") from None


def _read_text(path: Path) -> str:
    if not path.exists():
        raise InputError(f"there is no file {str(path)!r}")
    with open_text(path) as file:
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise InputError(f"{path.name} is {TOO_LONG}")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is not UTF-8: {error.reason} at byte {error.start}") from None
