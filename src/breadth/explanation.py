"""Why each passage was chosen: its closest neighbour, what the set would lose without it, and what would replace it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Reason:
    """Why one passage was chosen.

    id             the passage: its number, or the id that its engine gives it
    relevance      its relevance
    neighbour      the chosen passage most similar to it; None if it is the only one
    similarity     the similarity of the two; None likewise
    replacement    the best passage of the collection to take its place; None if all passages are chosen
    loss           how much the objective falls if `replacement` takes its place; None likewise
    """

    id: Any
    relevance: float
    neighbour: Any
    similarity: float | None
    loss: float | None
    replacement: Any


@dataclass(frozen=True)
class Explanation:
    """A `Reason` for each chosen passage, in the order of the selection. `str()` returns a small table."""

    reasons: tuple[Reason, ...]

    def __iter__(self) -> Iterator[Reason]:
        return iter(self.reasons)

    def __len__(self) -> int:
        return len(self.reasons)

    def __str__(self) -> str:
        head = ("id", "relevance", "closest chosen", "similarity", "loss without", "replaced by")
        rows = [
            (
                str(r.id),
                f"{r.relevance:.4f}",
                _format_value(r.neighbour, ""),
                _format_value(r.similarity, ".4f"),
                _format_value(r.loss, ".6f"),
                _format_value(r.replacement, ""),
            )
            for r in self.reasons
        ]
        widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *rows)
        ]
        return "\n".join(lines)


def _format_value(value: Any, style: str) -> str:
    return "-" if value is None else format(value, style)
