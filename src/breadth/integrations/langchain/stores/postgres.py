"""`PGVector` and `PGVectorStore` of langchain-postgres. A connection of our own is opened for each search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from breadth import oracles
from breadth.arrays import Ids
from breadth.errors import InputError
from breadth.integrations.candidates import Candidate
from breadth.integrations.fields import list_fields
from breadth.integrations.langchain.stores.filters import check_dict
from breadth.integrations.whole import Whole, empty, read_payloads

_TABLE = "langchain_pg_embedding"
"""The table that holds the documents of all collections of `PGVector`."""
_COLLECTION = "collection_id"
_METRICS = {"l2": "l2", "cosine": "cosine", "inner": "inner product"}
"""Our names of what `PGVector` measures."""
_SIGNS = {"<->": "l2", "<=>": "cosine", "<#>": "inner product"}
"""Our names of what `PGVectorStore` measures, by the operator."""


def open_pgvector(store: Any, condition: Any) -> Whole:
    """All collections are in one table: a filter picks this one. Its metadata are in one column of JSON."""
    if store.async_mode:
        raise InputError("it was made with async_mode=True, and the collection is looked up synchronously")
    where = _check_fields(condition, ("id", "document", "embedding", "cmetadata", _COLLECTION))
    with store._make_sync_session() as session:
        collection = store.get_collection(session)
        rows = session.query(store.EmbeddingStore.id).filter_by(collection_id=collection.uuid) if collection else None
        if rows is None or rows.first() is None:
            return empty()
        mine = {_COLLECTION: str(collection.uuid)}
    oracle = oracles.pgvector(
        _find_address(store._engine), _TABLE, vectors="embedding", key="id", text="document", metadata="cmetadata",
        metric=_METRICS[store._distance_strategy.value], where=mine if where is None else {"$and": [mine, where]},
    )  # fmt: skip
    read = read_payloads(oracle)

    def without_collection(ids: Ids) -> list[Candidate]:
        return [replace(one, metadata=_drop(one.metadata, _COLLECTION)) for one in read(ids)]

    return Whole(oracle, without_collection)


def open_pgvectorstore(store: Any, condition: Any) -> Whole:
    """A table of its own, with columns for metadata, and one of JSON for the others."""
    own = store._PGVectorStore__vs
    if own.hybrid_search_config is not None:
        raise InputError("its search is hybrid")
    where = _check_fields(condition, (own.id_column, own.content_column, own.embedding_column))
    oracle = oracles.pgvector(
        _find_address(own.engine), f"{own.schema_name}.{own.table_name}", vectors=own.embedding_column,
        key=own.id_column, text=own.content_column, metadata=own.metadata_json_column or None,
        metric=_SIGNS[own.distance_strategy.operator], where=where,
    )  # fmt: skip
    return Whole(oracle, read_payloads(oracle))


def _find_address(engine: Any) -> str:
    """The address of the database, without the driver's name, which libpq does not know."""
    return str(engine.url.set(drivername="postgresql").render_as_string(hide_password=False))


def _check_fields(condition: Any, columns: Sequence[str]) -> Mapping[str, Any] | None:
    """The filter, if no field of metadata has the name of a column that is not metadata."""
    where = check_dict(condition)
    taken = next((name for name in list_fields(where) if name in columns), None)
    if taken is not None:
        raise InputError(f"the filter names {taken!r}, which is also a column of the table")
    return where


def _drop(metadata: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in metadata.items() if key != name}
