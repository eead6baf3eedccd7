"""What a filter says, checked: a tree of frozen dataclasses. `meaning.matches` says when each of them holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from breadth.filters.values import Scalar

Order = Literal["eq", "gt", "gte", "lt", "lte"]


@dataclass(frozen=True)
class Compare:
    """A field is equal to a value, or above or below it. Values of different types never compare."""

    field: str
    order: Order
    value: Scalar


@dataclass(frozen=True)
class In:
    """A field is equal to one of the values."""

    field: str
    values: tuple[Scalar, ...]


@dataclass(frozen=True)
class Contains:
    """A field is a list, and one of its entries is equal to the value."""

    field: str
    value: Scalar


@dataclass(frozen=True)
class Exists:
    """A field is there, whatever its value; null is a value."""

    field: str


@dataclass(frozen=True)
class And:
    """All parts hold. Without parts it always holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Or:
    """At least one part holds."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True)
class Not:
    """The part does not hold: the plain complement, so that it holds for documents without the field."""

    part: Condition


Condition = Compare | In | Contains | Exists | And | Or | Not
