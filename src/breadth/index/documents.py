"""What you put into an index, and what a search returns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from breadth.errors import InputError
from breadth.selection import Selection

PLAIN = (str, int, float, bool, type(None))
"""The types that a value of metadata can have."""
ROW_NUMBER = "breadth_row_number"
"""A column that conditions over metadata see beside the fields, so no field can have this name."""


@dataclass(frozen=True)
class Document:
    """A passage with its own id and any metadata, which is a dictionary of names with plain values."""

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id:
            raise InputError(f"a document's id must be a string that is not empty, got {self.id!r}")
        if not isinstance(self.text, str) or not self.text.strip():
            raise InputError(f"document {self.id!r} has no text")
        for name, value in self.metadata.items():
            _check_metadata(self.id, name, value)
        everything = (self.id, self.text, *map(str, self.metadata), *map(str, self.metadata.values()))
        try:
            "".join(everything).encode()
        except UnicodeEncodeError as error:
            raise InputError(f"document {self.id!r} holds half a character ({error.reason}); repair the text") from None


def _check_metadata(identity: str, name: Any, value: Any) -> None:
    if not isinstance(name, str) or not isinstance(value, PLAIN):
        raise InputError(
            f"document {identity!r}: metadata must be names with plain values (text, number, true, null), "
            f"got {name!r}: {value!r}"
        )
    if '"' in name or name.lower() == ROW_NUMBER:
        raise InputError(f"document {identity!r}: metadata cannot have the name {name!r}; rename the field")
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"document {identity!r}: metadata {name!r} is {value}; leave it out or use null")


@dataclass(frozen=True)
class Hit:
    """A chosen document with its relevance, and the near-copies that it stands for (see `Selection.copies`)."""

    document: Document
    score: float
    copies: tuple[Document, ...] = ()

    @property
    def id(self) -> str:
        return self.document.id

    @property
    def text(self) -> str:
        return self.document.text

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.document.metadata


@dataclass(frozen=True, eq=False)
class Results:
    """The documents chosen for a query, most relevant first, and the `Selection` that chose them."""

    query: str | None
    hits: tuple[Hit, ...]
    selection: Selection
    searched: int

    def __iter__(self) -> Iterator[Hit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)

    def __getitem__(self, place: int) -> Hit:
        return self.hits[place]
