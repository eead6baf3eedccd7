"""`LanceDB` of langchain-community."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from breadth import oracles
from breadth.arrays import Ids
from breadth.integrations.candidates import Candidate
from breadth.integrations.langchain.stores.opened import Whole, check_dict, empty
from breadth.integrations.whole import read_payloads


def open_lancedb(store: Any, condition: Any) -> Whole:
    """LangChain keeps metadata in one column, so a filter asks for the fields of this column."""
    table = store.get_table()
    if table is None or table.count_rows() == 0:
        return empty()
    columns = {"vectors": store._vector_key, "key": store._id_key, "text": store._text_key}
    where = None if check_dict(condition) is None else _rename(condition)
    oracle = oracles.lancedb(store._connection, store._table_name, where=where, **columns)
    read = read_payloads(oracle)

    def unwrap(ids: Ids) -> list[Candidate]:
        return [replace(one, metadata=one.metadata.get("metadata") or {}) for one in read(ids)]

    return Whole(oracle, unwrap)


def _rename(condition: Any) -> Any:
    """A filter whose fields are those of the column `metadata`."""
    if isinstance(condition, list):
        return [_rename(part) for part in condition]
    if not isinstance(condition, Mapping):
        return condition
    whole = [name for name in condition if name.startswith("metadata.")]  # already in LanceDB's own form
    return {
        name if name in whole or name.startswith("$") else f"metadata.{name}": (
            _rename(value) if name.startswith("$") else value
        )
        for name, value in condition.items()
    }
