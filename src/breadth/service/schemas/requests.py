"""What clients may send. Nothing is converted: a number as text, or a field that is not there, is an error.

The fields of constraints come from `breadth.constraints.registry`.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from breadth.checks import check_choice
from breadth.constraints.registry import CONSTRAINTS
from breadth.errors import InputError
from breadth.methods.registry import METHODS
from breadth.service.limits import Limits


def _read_query(value: Any) -> Any:
    """Check a query: pydantic would tell what is wrong with it once for each type that it could have."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        raise ValueError("must be a text, or a list of numbers")
    for place, number in enumerate(value):
        if isinstance(number, bool) or not isinstance(number, (int, float)) or not _is_finite(number):
            raise ValueError(f"number {place} of the vector is {str(number)[:40]!r}; pass finite numbers")
    return [float(number) for number in value]


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


Query = Annotated[
    str | list[float], BeforeValidator(_read_query), Field(description="a text, or a vector of unit length")
]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]
Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Filter = Annotated[dict[str, Any], Field(description='a filter on metadata: {"source": "nih", "year": {"$gte": 2020}}')]
FORM = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
"""How bodies are read: strictly, without further fields."""


def _list_rules(rows_alone: bool) -> dict[str, Any]:
    """The fields of all constraints, or of those that need no documents."""
    options = [
        option
        for kind in CONSTRAINTS.values()
        for option in kind.options
        if not rows_alone or (option.keyword in kind.arguments and option.type in (float, bool))
    ]
    return {
        option.keyword: (option.type | None, Field(default=None, description=_name_fields(option.help)))
        for option in options
    }


def _name_fields(text: str) -> str:
    """Call options of the command line, `--group-by`, as fields are called: `group_by`."""
    return re.sub(r"--([a-z-]+)", lambda found: found[1].replace("-", "_"), text)


if TYPE_CHECKING:
    Rules: TypeAlias = BaseModel
    RowRules: TypeAlias = BaseModel
else:
    Rules = create_model("Rules", __config__=FORM, **_list_rules(rows_alone=False))
    RowRules = create_model("RowRules", __config__=FORM, **_list_rules(rows_alone=True))


class Choice(Rules):
    """How a set is chosen, whatever the query."""

    model_config = FORM

    k: int = Field(default=10, ge=1, description="how many passages; with `cover` the most")
    theta: Share | Literal["auto"] | None = Field(default=None, description="weight of relevance; 1 is plain top-k")
    keep: Share | None = Field(default=None, description="instead of theta: share of top-k's relevance to keep")
    cover: Share | None = Field(
        default=None, description="the fewest passages that stand for this share of the relevant material"
    )
    sharpness: int | None = Field(default=None, ge=1, description="power of the cosine that counts as redundant")
    method: str = Field(default="certified", json_schema_extra={"enum": list(METHODS)})
    pool: int | None = Field(default=None, ge=1, description="choose among so many of the most relevant passages")
    options: dict[str, bool | int | float | str] | None = Field(
        default=None, description="options of the method: docs/methods.md"
    )
    prove: Seconds | None = Field(default=None, description="seconds for proving the set optimal")
    hybrid: Share | None = Field(default=None, description="weight of BM25 beside the vectors")
    where: Filter | None = None
    time_limit: Seconds | None = Field(default=None, description="seconds after which the best set so far is returned")
    text: bool = Field(default=True, description="whether the answer holds the texts and metadata of passages")
    near_text: bool = Field(default=False, description="whether it holds the texts of copies and variants too")

    def read_arguments(self, limits: Limits) -> dict[str, Any]:
        """The arguments of `Index.search` that are asked for, within the limits."""
        limits.check(k=self.k, pool=self.pool)
        for seconds in (self.time_limit, self.prove):
            limits.check(seconds=seconds)
        outside = {"query", "queries", "text", "near_text", "options", "prove"}
        given: dict[str, Any] = self.model_dump(exclude_none=True, exclude=outside)
        given.setdefault("time_limit", limits.seconds)
        return given | self._read_options()

    def _read_options(self) -> dict[str, Any]:
        """The options of the method. Their names are checked here: they must not hide an argument."""
        asked = {**(self.options or {}), **({} if self.prove is None else {"prove": self.prove})}
        method = METHODS[check_choice(self.method, "method", METHODS)]
        if not asked:
            return {}
        known = METHODS["coverage"].options if self.cover is not None else method.options
        for name in asked:
            if name not in known:
                raise InputError(f"method {self.method!r} has no option {name!r}; it has {', '.join(known) or 'none'}")
        return asked


class SelectRequest(Choice):
    """One query."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {"query": "How is asthma treated?", "k": 6},
                {"query": "How is asthma treated?", "k": 6, "distinct": 0.9, "where": {"source": "nih"}},
            ]
        }
    )
    query: Query


class BatchRequest(Choice):
    """Several queries that are answered in the same way."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"queries": ["How is asthma treated?", "What causes gout?"], "k": 4}]}
    )
    queries: list[Query] = Field(min_length=1)


class CompareRequest(BaseModel):
    """The ids of two passages."""

    model_config = ConfigDict(
        **{**FORM, "json_schema_extra": {"examples": [{"left": "asthma/treatment", "right": "asthma/symptoms"}]}}
    )

    left: str = Field(min_length=1)
    right: str = Field(min_length=1)


class FrontierRequest(RowRules):
    """One query, for several values of θ."""

    model_config = ConfigDict(
        **{
            **FORM,
            "json_schema_extra": {"examples": [{"query": "How is asthma treated?", "k": 6, "thetas": [0.5, 0.7, 1.0]}]},
        }
    )
    query: Query
    k: int = Field(default=10, ge=1, description="how many passages")
    thetas: list[Share] | None = Field(default=None, min_length=1, description="the values of θ")
    sharpness: int | None = Field(default=None, ge=1, description="power of the cosine that counts as redundant")
    where: Filter | None = None
    time_limit: Seconds | None = Field(default=None, description="seconds after which the best sets are returned")

    def read_arguments(self, limits: Limits) -> dict[str, Any]:
        """The arguments of `breadth.frontier` that are asked for, and `where`, within the limits."""
        limits.check(k=self.k, thetas=len(self.thetas or ()), seconds=self.time_limit)
        given = self.model_dump(exclude_none=True, exclude={"query"})
        return {"time_limit": limits.seconds, **given}
