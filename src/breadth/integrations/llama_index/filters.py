"""LlamaIndex's filters as filters of breadth."""

from __future__ import annotations

from typing import Any

from llama_index.core.vector_stores.types import FilterCondition, FilterOperator, MetadataFilters

from breadth.errors import InputError

_OPERATORS = {
    FilterOperator.EQ: "$eq",
    FilterOperator.NE: "$ne",
    FilterOperator.GT: "$gt",
    FilterOperator.GTE: "$gte",
    FilterOperator.LT: "$lt",
    FilterOperator.LTE: "$lte",
    FilterOperator.IN: "$in",
    FilterOperator.NIN: "$nin",
    FilterOperator.CONTAINS: "$contains",
}
_CONDITIONS = {FilterCondition.AND: "$and", FilterCondition.OR: "$or"}


def read_filters(filters: Any) -> Any:
    """LlamaIndex's filters as a filter of breadth; a dict is one already."""
    if not isinstance(filters, MetadataFilters):
        return filters
    parts = [read_filters(one) if isinstance(one, MetadataFilters) else _read_filter(one) for one in filters.filters]
    if filters.condition == FilterCondition.NOT:
        return {"$and": [{"$not": part} for part in parts]}
    return {_CONDITIONS[filters.condition or FilterCondition.AND]: parts}


def _read_filter(one: Any) -> dict[str, Any]:
    if one.operator not in _OPERATORS:
        raise InputError(f"breadth has no filter {one.operator.value!r}; it has {', '.join(_OPERATORS)}")
    return {one.key: {_OPERATORS[one.operator]: one.value}}
