"""What `/v1/inspect` takes and answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from breadth.display import shorten
from breadth.service.inspection.inspect import PARTS, Inspection, MeasuredSet, Part, Passage, Wanted
from breadth.service.limits import Limits
from breadth.service.schemas.answers import CopyAnswer, SetAnswer, VariantAnswer
from breadth.service.schemas.requests import FORM, Query, Seconds, Share
from breadth.settings import DEFAULT

Near = TypeVar("Near", CopyAnswer, VariantAnswer)
_MOST = 100
"""The largest k: the answer holds the cosines of all pairs."""
_CUT = 160
"""Characters of a candidate's text."""


class InspectRequest(BaseModel):
    """One query, to be looked at closely."""

    model_config = ConfigDict(
        **{
            **FORM,
            "json_schema_extra": {"examples": [{"query": "How is asthma treated?", "k": 6, "theta": 0.7}]},
        }
    )
    query: Query
    k: int = Field(default=10, ge=1, le=_MOST, description="how many passages")
    theta: Share = Field(default=DEFAULT.theta, description="weight of relevance")
    distinct: Share | None = Field(
        default=None, description="cosine above which passages in other words can say the same; 1 allows repeats"
    )
    pool: int | None = Field(default=None, ge=1, description="choose among so many of the most relevant passages")
    time_limit: Seconds | None = Field(default=None, description="seconds after which the best set so far is returned")
    parts: list[Part] = Field(default_factory=lambda: list(PARTS), min_length=1, description="what is to be seen")

    def read_wanted(self, limits: Limits) -> Wanted:
        """What is asked for, within the limits."""
        limits.check(k=self.k, pool=self.pool, seconds=self.time_limit)
        limit = limits.seconds if self.time_limit is None else self.time_limit
        return Wanted(self.k, self.theta, self.distinct, limit, self.pool, tuple(self.parts))


class InspectedSet(SetAnswer):
    """A set, and how much of the relevant material it stands for."""

    ids: list[str]
    scores: list[float]
    copies: list[list[CopyAnswer]] = Field(description="for each passage those of which it says all")
    variants: list[list[VariantAnswer]] = Field(description="for each passage those that differ in a few words")
    given_up: list[str] = Field(description="passages of plain top-k that the set neither holds nor says")
    coverage: float = Field(description="the share of the candidates, weighed by relevance, that the set stands for")
    stopped: str | None = Field(description="why the search ended; `time_limit` if the time was up")
    seconds: float = Field(description="how long the search took")

    @classmethod
    def of(cls, found: MeasuredSet) -> InspectedSet:
        """Describe a set."""
        stats = found.selection.stats
        return cls(
            ids=[document.id for document in found.documents],
            scores=found.selection.scores.tolist(),
            copies=_list_for_each(found, found.near.copies, CopyAnswer),
            variants=_list_for_each(found, found.near.variants, VariantAnswer),
            given_up=list(found.near.given_up),
            coverage=found.coverage,
            stopped=stats.get("stopped"),
            seconds=stats["seconds"],
            **SetAnswer.describe(found.selection),
        )


def _list_for_each(found: MeasuredSet, near: Sequence[Sequence[Any]], kind: type[Near]) -> list[list[Near]]:
    return [[kind(**one.to_dict()) for one in some] for some in near] or [[] for _ in found.documents]


class PassageAnswer(BaseModel):
    """A passage, and its place on the map."""

    id: str
    score: float
    rank: int | None = Field(description="its place by relevance, from 1 on; null if it is not among the candidates")
    x: float
    y: float
    text: str
    metadata: dict[str, Any] | None = None

    @classmethod
    def of(cls, passage: Passage, whole: bool) -> PassageAnswer:
        """Describe a passage, whole or with the beginning of its text."""
        document, (x, y) = passage.document, passage.place
        text = document.text if whole else shorten(document.text, _CUT)
        metadata = dict(document.metadata) if whole else None
        return cls(id=document.id, score=passage.score, rank=passage.rank, x=x, y=y, text=text, metadata=metadata)


class CurvePoint(BaseModel):
    """The set for one θ."""

    theta: float
    relevance: float
    redundancy: float


class CurveAnswer(BaseModel):
    """Relevance against redundancy, in the order of θ."""

    points: list[CurvePoint]
    knee: float = Field(description="the θ at the knee of the curve")


class SetsAnswer(BaseModel):
    """The chosen set beside two others of its size."""

    chosen: InspectedSet
    top: InspectedSet = Field(description="plain top-k")
    mmr: InspectedSet = Field(description="maximal marginal relevance on the candidates, with the same θ")


class InspectAnswer(BaseModel):
    """What was asked for; the rest is null."""

    asked: int = Field(description="how many passages were asked for")
    searched: int = Field(description="how many passages there were to choose from")
    sets: SetsAnswer | None
    passages: list[PassageAnswer] | None = Field(description="all passages of the sets")
    cosines: list[list[float]] | None = Field(description="of all pairs of `passages`, in their order")
    candidates: list[PassageAnswer] | None = Field(description="the most relevant passages, most relevant first")
    shown: float | None = Field(description="the part of the candidates' variance that the map shows")
    curve: CurveAnswer | None

    @classmethod
    def of(cls, found: Inspection, asked: int) -> InspectAnswer:
        """Describe what was seen."""
        sets = {name: InspectedSet.of(one) for name, one in found.sets.items()}
        return cls(
            asked=asked,
            searched=found.searched,
            sets=SetsAnswer(**sets) if sets else None,
            passages=[PassageAnswer.of(one, whole=True) for one in found.passages] if sets else None,
            cosines=found.cosines.round(4).tolist() if sets else None,
            candidates=[PassageAnswer.of(one, whole=False) for one in found.candidates] or None,
            shown=found.shown,
            curve=_describe_curve(found),
        )


def _describe_curve(found: Inspection) -> CurveAnswer | None:
    if found.curve is None:
        return None
    points = [CurvePoint(theta=s.theta, relevance=s.relevance, redundancy=s.redundancy) for s in found.curve]
    return CurveAnswer(points=points, knee=found.curve.knee().theta)
