"""Why each passage was chosen: what it is close to, what the set would lose without it, what would replace it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Reason:
    """One chosen passage.

    `neighbour`, `similarity`: the chosen passage most similar to it (None for a set of one). `loss`: how much the
    objective falls if it is taken out and `replacement`, the best other passage of the collection, put in its place;
    both None where no passage is left.
    """

    id: int
    relevance: float
    neighbour: int | None
    similarity: float | None
    loss: float | None
    replacement: int | None


@dataclass(frozen=True)
class Explanation:
    """A `Reason` for each chosen passage, in the order of the selection. `str()` gives a small table."""

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
                _format(r.neighbour, "d"),
                _format(r.similarity, ".4f"),
                _format(r.loss, ".6f"),
                _format(r.replacement, "d"),
            )
            for r in self.reasons
        ]
        widths = [max(len(line[i]) for line in (head, *rows)) for i in range(len(head))]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in (head, *rows)
        ]
        return "\n".join(lines)


def _format(value: float | None, style: str) -> str:
    return "-" if value is None else format(value, style)
