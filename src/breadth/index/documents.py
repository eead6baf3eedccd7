"""What you put into an index, and what a search finds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from breadth.errors import InputError
from breadth.filters import plain_metadata
from breadth.filters.values import check_text

PLAIN = (str, int, float, bool, type(None))
"""The types that a single value of metadata can have."""


@dataclass(frozen=True)
class Document:
    """A passage with its own id, any metadata, and the document that it is a piece of.

    id         a text that no other document of the index has.
    text       what is searched. It may be empty if you pass the vector yourself.
    metadata   a dictionary. Values are texts, numbers, true, false, null and dates (which become ISO text), or lists
               and dictionaries of these.
    parent     the id of the document that this is a piece of, or None. `Index.update(…, whole=True)` replaces all
               pieces of a document.
    """

    id: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    parent: str | None = None

    def __post_init__(self) -> None:
        check_id(self.id, "a document's id")
        if self.parent is not None:
            check_id(self.parent, f"document {self.id!r}: parent")
        if not isinstance(self.text, str):
            raise InputError(f"document {self.id!r}: its text must be a string, got {type(self.text).__name__}")
        check_text(self.text, f"document {self.id!r}: its text")
        if not isinstance(self.metadata, Mapping):
            raise InputError(f"document {self.id!r}: metadata must be a dictionary, got {self.metadata!r}")
        object.__setattr__(self, "metadata", plain_metadata(self.metadata, f"document {self.id!r}: metadata"))

    @classmethod
    def restore(cls, identity: str, text: str, metadata: dict[str, Any], parent: str | None) -> Document:
        """Make a document from what an index holds. It was checked when it was written."""
        document = object.__new__(cls)
        document.__dict__.update(id=identity, text=text, metadata=metadata, parent=parent)
        return document

    @property
    def root(self) -> str:
        """The id of the whole document: its parent's, or its own."""
        return self.id if self.parent is None else self.parent


def check_id(value: Any, name: str) -> str:
    """Return an id: a text that is not empty."""
    if not isinstance(value, str) or not value:
        hint = f"; pass {str(value)!r}" if isinstance(value, int) and not isinstance(value, bool) else ""
        raise InputError(f"{name} must be a text that is not empty, got {value!r}{hint}")
    return check_text(value, name)


def metadata_json(document: Document) -> str:
    """Return a document's metadata as it is stored."""
    return json.dumps(document.metadata, ensure_ascii=False, sort_keys=True, allow_nan=False)


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
