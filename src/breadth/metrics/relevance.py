"""How relevant a set is to the query."""

from __future__ import annotations

from typing import Any

from breadth.checks import check_query, check_unit_rows


def mean_relevance(vectors: Any, query: Any) -> float:
    """The mean of e_i·q over the rows of the set."""
    rows = check_unit_rows(vectors, "vectors")
    return float((rows @ check_query(query, rows.shape[1])).mean())
