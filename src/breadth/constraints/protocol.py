"""What a constraint can say about rows and sets.

To add one, write its file and list it in `registry.py`. `breadth.select`, `Index.search`, the command line, all
methods and all bounds then know it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from breadth.arrays import Array, Ids, Mask, Vector

Lookup: TypeAlias = Callable[[Ids], npt.NDArray[Any]]
"""What belongs to rows, by their ids: labels, costs."""
Given: TypeAlias = Mapping[str, Any]
"""The keywords of `breadth.select` as they were passed; None, or missing, where nothing was."""


@dataclass(frozen=True)
class Scope:
    """What is known when arguments are checked: how many rows there are, whether their ids are 0 … size-1, and k."""

    size: int
    numbered: bool
    k: int


@dataclass(frozen=True)
class Option:
    """An option of the command line: the keyword of `Index.search` that it sets, its type, and its help.

    `flags` are its names there, if they are not the keyword's own.
    """

    keyword: str
    type: Any
    help: str
    flags: tuple[str, ...] = ()


class Pairs(Protocol):
    """Some rows (`left`) with some others (`right`), by their ids."""

    @property
    def left(self) -> Ids: ...
    @property
    def right(self) -> Ids: ...
    @property
    def cosines(self) -> Array:
        """The cosine of each pair (left, right)."""

    def above(self, cosine: float) -> Mask:
        """Which pairs (left, right) have a larger cosine than this."""


class Constraint:
    """One wish about sets. A constraint overrides what it has something to say about; each default says nothing.

    arguments   the keywords of `breadth.select` that it is read from
    options     its options on the command line
    of_rows     whether it is about single rows alone
    of_pairs    whether it has a `clash`
    forgives    whether it has a `forgive`
    """

    arguments: ClassVar[tuple[str, ...]] = ()
    options: ClassVar[tuple[Option, ...]] = ()
    of_rows: ClassVar[bool] = False
    of_pairs: ClassVar[bool] = False
    forgives: ClassVar[bool] = False

    room: int = 0
    """How many rows of one label a set may have; see `label`."""
    needs: Mapping[Any, int] = MappingProxyType({})
    """How many rows of a label a set must have; see `label`."""
    budget: float = np.inf
    """What the costs of a set may sum to; see `cost`."""

    @property
    def limit(self) -> str:
        """The argument that keeps rows out, for messages: the last one."""
        return self.arguments[-1]

    @classmethod
    def read(cls, given: Given, scope: Scope) -> Constraint | None:
        """Check the arguments. Return the constraint, or None if nothing was asked for."""
        raise NotImplementedError

    def fix(self, kth: float) -> Constraint | None:
        """The constraint once the relevance of the k-th most relevant row is known; None if it then says nothing."""
        return self

    def renumber(self, ids: Ids) -> Constraint:
        """The constraint for a part of the collection, whose rows are numbered as they stand in `ids`, sorted."""
        return self

    def admit(self, ids: Ids, relevance: Array) -> Mask | None:
        """Which rows may be in a set at all."""
        return None

    def clash(self, pairs: Pairs) -> Mask | None:
        """Which pairs may not be in one set."""
        return None

    def forgive(self, left: Ids, right: Ids) -> Mask | None:
        """Which pairs (left, right) cost nothing, whatever their similarity."""
        return None

    def label(self, ids: Ids) -> npt.NDArray[Any] | None:
        """The labels of rows (None: no label). A set has at most `room` rows of one label, and of the labels in `needs`
        at least so many. One constraint only."""
        return None

    def cost(self, ids: Ids) -> Vector | None:
        """The costs of rows; those of a set sum to at most `budget`. One constraint only."""
        return None

    def contradict(self, pins: Pairs) -> str | None:
        """Why the pinned rows (with themselves) cannot be in one set, as a sentence; None if they can."""
        return None

    def say_why_empty(self) -> str | None:
        """Why no row at all may be in a set, if that is the case and may be due to this constraint."""
        return None
