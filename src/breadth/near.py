"""Passages near a chosen one: those that it stands for, and those that differ from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from breadth.text.compare import Comparison, Difference

CLOSE_VECTORS = "close vectors"
"""The relation of a copy where no texts could be compared."""


@dataclass(frozen=True)
class Copy:
    """A passage that was left out because a chosen one says all of it.

    id         the passage
    cosine     of the vectors of both
    relation   "same": equal but for case, space, punctuation and markup; "contained" in the chosen one; "says the same"
               in other words; or "close vectors", where there are no texts: then it may as well say something else
    """

    id: Any
    cosine: float
    relation: str

    def to_dict(self) -> dict[str, Any]:
        return {"id": self.id, "cosine": self.cosine, "relation": self.relation}


@dataclass(frozen=True)
class Variant:
    """A passage in nearly the words of a chosen one that says something else.

    id           the passage
    cosine       of the vectors of both
    chosen       whether it is in the set too
    comparison   of the text of the chosen one (left) with its own (right)
    """

    id: Any
    cosine: float
    chosen: bool
    comparison: Comparison

    @property
    def differences(self) -> tuple[Difference, ...]:
        """What the chosen passage says, and what this one says instead."""
        return self.comparison.differences

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "id": self.id,
            "cosine": self.cosine,
            "chosen": self.chosen,
            "differences": [one.to_dict() for one in self.differences],
        }


Copies = tuple[tuple[Copy, ...], ...]
"""For each chosen passage the copies of it."""
Variants = tuple[tuple[Variant, ...], ...]
"""For each chosen passage its variants, the closest first."""


@dataclass(frozen=True)
class Near:
    """What a set has to do with passages outside it.

    copies     for each chosen passage the copies of it
    variants   for each chosen passage its variants
    given_up   the ids of those passages of plain top-k that the set neither holds nor has a copy of
    """

    copies: Copies = ()
    variants: Variants = ()
    given_up: tuple[Any, ...] = ()

    def rename(self, name: Callable[[Any], Any]) -> Near:
        """The same with other ids."""
        return Near(
            tuple(tuple(replace(one, id=name(one.id)) for one in some) for some in self.copies),
            tuple(tuple(replace(one, id=name(one.id)) for one in some) for some in self.variants),
            tuple(map(name, self.given_up)),
        )


NOTHING_NEAR = Near()
