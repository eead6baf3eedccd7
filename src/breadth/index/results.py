"""What a search returns: the chosen documents, in forms for programs, notebooks and tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from breadth.display import list_briefly, make_html_table, shorten
from breadth.frames import Columns, make_pandas, make_polars
from breadth.index.documents import Hit
from breadth.selection import Selection
from breadth.settings import DEFAULT

_TEXT = 300
"""How many characters of a text the table of a notebook shows."""


@dataclass(frozen=True, eq=False)
class Results:
    """The documents chosen for a query, most relevant first, and the `Selection` that chose them.

    query       the text that was asked, None for a vector
    hits        the chosen documents with their scores
    selection   how they were chosen
    searched    how many documents there were to choose from
    asked       how many were asked for. There are fewer hits where there were fewer documents, and none where no
                document was left
    given_up    the ids of those documents of plain top-k that are neither hits nor copies of hits
    """

    query: str | None
    hits: tuple[Hit, ...]
    selection: Selection
    searched: int
    asked: int
    given_up: tuple[str, ...] = ()

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
        asked = "" if len(self) == self.asked else f", asked={self.asked}"
        return f"Results({len(self)} of {self.searched:,} documents{asked}: {list_briefly(self.ids)})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values only, fit for JSON."""
        return {
            "query": self.query,
            "asked": self.asked,
            "searched": self.searched,
            "given_up": list(self.given_up),
            "hits": [
                {
                    "id": hit.id,
                    "score": hit.score,
                    "text": hit.text,
                    "metadata": dict(hit.metadata),
                    "parent": hit.document.parent,
                    "copies": [copy.to_dict() for copy in hit.copies],
                    "variants": [variant.to_dict() for variant in hit.variants],
                }
                for hit in self.hits
            ],
        }

    def to_pandas(self) -> Any:
        """Return a pandas DataFrame with a row for each hit, and a column for each field of metadata."""
        return make_pandas(self._columns())

    def to_polars(self) -> Any:
        """Return a polars DataFrame with a row for each hit, and a column for each field of metadata."""
        return make_polars(self._columns())

    def _columns(self) -> Columns:
        own: dict[str, list[Any]] = {
            "id": self.ids,
            "score": [hit.score for hit in self.hits],
            "text": [hit.text for hit in self.hits],
            "copies": [[copy.id for copy in hit.copies] for hit in self.hits],
        }
        fields = dict.fromkeys(name for hit in self.hits for name in hit.metadata)
        named = {f"metadata.{name}" if name in own else name: name for name in fields}
        return own | {column: [hit.metadata.get(name) for hit in self.hits] for column, name in named.items()}

    def _repr_html_(self) -> str:
        """Show the results as a table in a notebook."""
        rows = [
            (
                hit.id,
                hit.score,
                shorten(hit.text, _TEXT),
                ", ".join(f"{name}: {value}" for name, value in hit.metadata.items()),
                ", ".join(copy.id for copy in hit.copies),
            )
            for hit in self.hits
        ]
        asked = "" if self.query is None else f"{self.query}: "
        caption = f"{asked}{len(self)} of {self.searched:,} documents"
        caption += "" if len(self) == self.asked else f", {self.asked} were asked for"
        return make_html_table(("id", "score", "text", "metadata", "copies"), rows, caption)


def no_results(query: str | None, asked: int, options: dict[str, Any], searched: int = 0) -> Results:
    """Return the results where there is nothing to choose from, or nothing of what was `searched` may be chosen."""
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
    return Results(query, (), selection, searched, asked)
