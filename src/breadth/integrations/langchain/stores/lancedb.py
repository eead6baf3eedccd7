"""`LanceDB` of langchain-community."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from breadth import oracles
from breadth.arrays import Ids
from breadth.integrations.candidates import Candidate
from breadth.integrations.fields import prefix_fields
from breadth.integrations.langchain.stores.filters import check_dict
from breadth.integrations.whole import Whole, empty, read_payloads


def open_lancedb(store: Any, condition: Any) -> Whole:
    """LangChain keeps metadata in one column, so a filter asks for the fields of this column."""
    table = store.get_table()
    if table is None or table.count_rows() == 0:
        return empty()
    columns = {"vectors": store._vector_key, "key": store._id_key, "text": store._text_key}
    where = None if check_dict(condition) is None else prefix_fields(condition, "metadata.")
    oracle = oracles.lancedb(store._connection, store._table_name, where=where, **columns)
    read = read_payloads(oracle)

    def unwrap(ids: Ids) -> list[Candidate]:
        return [replace(one, metadata=one.metadata.get("metadata") or {}) for one in read(ids)]

    return Whole(oracle, unwrap)
