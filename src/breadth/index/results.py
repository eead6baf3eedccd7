"""What a search returns: the chosen documents, in forms for programs, notebooks and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np

from breadth.errors import MissingExtraError
from breadth.index.documents import Hit
from breadth.selection import Selection
from breadth.settings import DEFAULT

_SHOWN = 10
"""How many ids a repr shows."""
_TEXT = 300
"""How many characters of a text the table of a notebook shows."""


@dataclass(frozen=True, eq=False)
class Results:
    """The documents chosen for a query, most relevant first, and the `Selection` that chose them.

    query       the text that was asked, None for a vector
    hits        the chosen documents with their scores
    selection   how they were chosen
    searched    how many documents there were to choose from
    asked       how many were asked for: there are fewer hits where there were fewer documents
    """

    query: str | None
    hits: tuple[Hit, ...]
    selection: Selection
    searched: int
    asked: int

    @property
    def ids(self) -> list[str]:
        """The ids of the chosen documents."""
        return [hit.id for hit in self.hits]

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]

    def __repr__(self) -> str:
        ids = ", ".join(repr(identity) for identity in self.ids[:_SHOWN])
        more = ", …" if len(self) > _SHOWN else ""
        return f"Results({len(self)} of {self.asked} asked for, from {self.searched:,} documents: [{ids}{more}])"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values only, fit for JSON."""
        return {
            "query": self.query,
            "asked": self.asked,
            "searched": self.searched,
            "hits": [
                {
                    "id": hit.id,
                    "score": hit.score,
                    "text": hit.text,
                    "metadata": dict(hit.metadata),
                    "parent": hit.document.parent,
                    "copies": [copy.id for copy in hit.copies],
                }
                for hit in self.hits
            ],
        }

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a row for each hit: id, score, text, copies, and a column for each field."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("pandas", "tables") from None
        return pandas.DataFrame(self._columns())

    def to_polars(self) -> Any:
        """Return a polars DataFrame with a row for each hit: id, score, text, copies, and a column for each field."""
        try:
            import polars
        except ImportError:
            raise MissingExtraError("polars", "tables") from None
        return polars.DataFrame(self._columns(), strict=False)

    def _columns(self) -> dict[str, list[Any]]:
        own = {
            "id": self.ids,
            "score": [hit.score for hit in self.hits],
            "text": [hit.text for hit in self.hits],
            "copies": [[copy.id for copy in hit.copies] for hit in self.hits],
        }
        fields = dict.fromkeys(name for hit in self.hits for name in hit.metadata)
        more = {f"metadata.{name}" if name in own else name: name for name in fields}
        return {**own, **{column: [hit.metadata.get(name) for hit in self.hits] for column, name in more.items()}}

    def _repr_html_(self) -> str:
        """Return the table that a notebook shows."""
        rows = "".join(
            f"<tr><td>{escape(hit.id)}</td><td>{hit.score:.4f}</td><td>{escape(_cut(hit.text))}</td>"
            f"<td>{escape(', '.join(f'{name}: {value}' for name, value in hit.metadata.items()))}</td>"
            f"<td>{len(hit.copies) or ''}</td></tr>"
            for hit in self.hits
        )
        head = "".join(f"<th>{name}</th>" for name in ("id", "score", "text", "metadata", "copies"))
        return f"<p>{escape(repr(self))}</p><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def no_results(query: str | None, asked: int, options: dict[str, Any]) -> Results:
    """Return the results where there is nothing to choose from."""
    theta = options.get("theta")
    selection = Selection(
        ids=np.empty(0, dtype=np.int64),
        scores=np.empty(0),
        relevance=0.0,
        redundancy=0.0,
        diversity=0.0,
        objective=0.0,
        certificate=None,
        method=str(options.get("method", "certified")),
        theta=DEFAULT.theta if theta is None or isinstance(theta, str) else float(theta),
        k=0,
        sharpness=options.get("sharpness") or DEFAULT.sharpness,
        stats={"asked": asked},
    )
    return Results(query, (), selection, 0, asked)


def _cut(text: str) -> str:
    return text if len(text) <= _TEXT else f"{text[: _TEXT - 1]}…"
