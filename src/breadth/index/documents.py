"""What you put into an index, and what a search finds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from breadth.errors import InputError
from breadth.filters import plain_metadata
from breadth.filters.values import check_text
from breadth.near import Copy, Variant
from breadth.selection import Selection

T = TypeVar("T")
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


class _OfDocument:
    """What has a document has its text and its metadata."""

    document: Document

    @property
    def text(self) -> str:
        return self.document.text

    @property
    def metadata(self) -> Mapping[str, Any]:
        return self.document.metadata


@dataclass(frozen=True)
class HitCopy(_OfDocument, Copy):
    """A copy of a hit, with its document, whose id it has."""

    document: Document


@dataclass(frozen=True)
class HitVariant(_OfDocument, Variant):
    """A variant of a hit, with its document, whose id it has."""

    document: Document


@dataclass(frozen=True)
class Hit(_OfDocument):
    """A chosen document with its relevance, the copies that it stands for, and the variants that differ from it."""

    document: Document
    score: float
    copies: tuple[HitCopy, ...] = ()
    variants: tuple[HitVariant, ...] = ()

    @property
    def id(self) -> str:
        return self.document.id


def make_hits(selection: Selection, documents: Mapping[Any, Document]) -> tuple[Hit, ...]:
    """The hits of a selection, from the documents of its rows, of their copies and of their variants."""
    nobody: tuple[tuple[Any, ...], ...] = ((),) * len(selection.ids)

    def add_document(kind: type[T], one: Any) -> T:
        document = documents[one.id]
        return kind(**{**vars(one), "id": document.id, "document": document})

    return tuple(
        Hit(
            documents[identity],
            score,
            tuple(add_document(HitCopy, one) for one in copies),
            tuple(add_document(HitVariant, one) for one in variants),
        )
        for identity, score, copies, variants in zip(
            selection.ids.tolist(), selection.scores.tolist(), selection.copies or nobody, selection.variants or nobody,
            strict=True,
        )
    )  # fmt: skip


def list_rows(selection: Selection) -> list[Any]:
    """The ids of the rows that results name the documents of, each once."""
    near = [one.id for some in selection.copies for one in some]
    near += [one.id for some in selection.variants for one in some]
    return list(dict.fromkeys([*selection.ids.tolist(), *near, *selection.given_up]))
