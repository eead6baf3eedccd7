"""What Milvus says about a collection: its key, its vectors, its other fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from breadth.errors import InputError

VECTOR, ARRAY, JSON = 101, 22, 23
_VECTORS = range(100, 200)
KINDS = {1: "truth", 2: "number", 3: "number", 4: "number", 5: "number", 10: "number", 11: "number", 21: "text"}
"""Milvus's numbers for the types of fields; and the kind, in filters, of the values of a type."""
WHOLE = (2, 3, 4, 5)


@dataclass(frozen=True)
class Field:
    """A field: its type and, of an array, the type of its entries."""

    name: str
    type: int
    entries: int
    dim: int
    nullable: bool


@dataclass(frozen=True)
class Schema:
    """The fields of a collection.

    metadata   the field of JSON with metadata, or "$meta", the dynamic field; None if there is neither
    is_lite    whether this is Milvus Lite
    """

    collection: str
    fields: Mapping[str, Field]
    key: Field
    vectors: Field
    text: str | None
    metadata: str | None
    is_lite: bool

    @property
    def payload(self) -> list[str]:
        """The names of the fields that hold text and metadata."""
        own = [f.name for f in self.fields.values() if f.type not in _VECTORS and f.name != self.key.name]
        return [*own, *(["$meta"] if self.metadata == "$meta" else [])]


def read_schema(
    described: Mapping[str, Any], vectors: str | None, text: str | None, metadata: str | None, is_lite: bool
) -> Schema:
    """Read what `describe_collection` returned. The names are those that a user gave, or None."""
    name = described["collection_name"]
    fields = {entry["name"]: _read_field(entry) for entry in described["fields"]}
    key = next(fields[entry["name"]] for entry in described["fields"] if entry.get("is_primary"))
    for argument, given in (("text", text), ("metadata", metadata)):
        if given is not None and given not in fields:
            raise InputError(f"{argument}: {name} has no field {given!r}; it has {', '.join(fields)}")
    if metadata is not None and fields[metadata].type != JSON:
        raise InputError(f"metadata: the field {metadata!r} of {name} is not JSON")
    if metadata is None and described.get("enable_dynamic_field"):
        metadata = "$meta"
    if text is None and "text" in fields:
        text = "text"
    return Schema(name, fields, key, _find_vectors(name, fields, vectors), text, metadata, is_lite)


def _read_field(entry: Mapping[str, Any]) -> Field:
    dim = int(entry.get("params", {}).get("dim", 0))
    return Field(
        entry["name"], int(entry["type"]), int(entry.get("element_type") or 0), dim, bool(entry.get("nullable"))
    )


def _find_vectors(collection: str, fields: Mapping[str, Field], wanted: str | None) -> Field:
    there = [field for field in fields.values() if field.type in _VECTORS and wanted in (None, field.name)]
    if len(there) > 1:
        names = ", ".join(field.name for field in there)
        raise InputError(f"vectors: {collection} has several fields with vectors ({names}); pass vectors=FIELD")
    if not there:
        raise InputError(f"vectors: {collection} has no field {wanted!r} with vectors; it has {', '.join(fields)}")
    if there[0].type != VECTOR:
        raise InputError(f"vectors: the field {there[0].name!r} must be FLOAT_VECTOR; breadth reads no other type")
    return there[0]
