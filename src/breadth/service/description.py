"""The OpenAPI description of a service, with what this service allows: its limits, and the length of its vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fastapi import FastAPI

from breadth.service.limits import Limits
from breadth.service.state import Service

Description = dict[str, Any]


def describe(app: FastAPI, service: Service) -> Callable[[], Description]:
    """A function that gives the description. It is made again if the collection has vectors of another length."""
    plain = app.openapi
    made: dict[int, Description] = {}

    def give() -> Description:
        with service.shelf.lend() as served:
            dim = served.dim
        if dim not in made:
            app.openapi_schema = None  # FastAPI keeps the one that it made, and it is changed below
            made.clear()
            made[dim] = _complete(plain(), service.settings.limits, dim)
        return made[dim]

    return give


def _complete(description: Description, limits: Limits, dim: int) -> Description:
    rules = _list_rules(limits)
    for name, schema in description["components"]["schemas"].items():
        if name.endswith("Request"):
            for field, about in schema["properties"].items():
                for form in _list_forms(about):
                    own = form.get("maximum", float("inf"))  # a route may allow less than the service does
                    form.update(rules.get((field, form.get("type")), {}))
                    form.update({"maximum": min(own, form["maximum"])} if "maximum" in form else {})
                    if field in ("query", "queries"):
                        _complete_query(form, dim)
    return description


def _list_rules(limits: Limits) -> dict[tuple[str, Any], Description]:
    """What holds for fields of these names and types."""
    return {
        ("k", "integer"): {"maximum": limits.k},
        ("max_num_results", "integer"): {"maximum": limits.k},
        ("pool", "integer"): {"maximum": limits.pool},
        ("time_limit", "number"): {"maximum": limits.seconds},
        ("prove", "number"): {"maximum": limits.seconds},
        ("thetas", "array"): {"maxItems": limits.thetas, "uniqueItems": True},
        ("queries", "array"): {"maxItems": limits.batch},
    }


def _complete_query(form: Description, dim: int) -> None:
    if form.get("type") == "string":
        form.update({"minLength": 1, "pattern": r"\S"})
    elif form.get("type") == "array" and form["items"].get("type") == "number":
        form.update({"minItems": dim, "maxItems": dim})
    elif form.get("type") == "array":
        for inner in _list_forms(form["items"]):
            _complete_query(inner, dim)


def _list_forms(about: Description) -> Iterator[Description]:
    """The forms that a field can have."""
    if "anyOf" in about:
        yield from about["anyOf"]
    else:
        yield about
