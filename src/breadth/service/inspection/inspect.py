"""What there is to see of a query: the chosen set beside top-k and MMR, the candidates, the curve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np

from breadth import api
from breadth.arrays import Ids, Vector
from breadth.coverage.worth import measure
from breadth.curve import Frontier
from breadth.index import Document
from breadth.near import Near
from breadth.selection import Selection
from breadth.service.inspection.study import Study
from breadth.settings import DEFAULT, PAPER

Part = Literal["sets", "candidates", "curve"]
PARTS: tuple[Part, ...] = get_args(Part)
"""What can be asked for."""

THETAS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""The points of the curve."""


@dataclass(frozen=True)
class Wanted:
    """How the set is chosen, and what is to be seen.

    pool    choose among so many of the most relevant passages; None chooses among all
    parts   some of `PARTS`
    """

    k: int
    theta: float
    distinct: float | None
    time_limit: float
    pool: int | None = None
    parts: tuple[Part, ...] = PARTS


@dataclass(frozen=True, eq=False)
class MeasuredSet:
    """A set, as documents.

    near       its copies, variants and what it gave up, by the ids of documents
    coverage   the share of the relevant material that the set stands for
    """

    selection: Selection
    documents: Sequence[Document]
    near: Near
    coverage: float


@dataclass(frozen=True, eq=False)
class Passage:
    """A passage on the map. `rank` is its place by relevance, from 1 on; None if it is not among the candidates."""

    document: Document
    score: float
    rank: int | None
    place: tuple[float, float]


@dataclass(frozen=True, eq=False)
class Inspection:
    """What was asked for; the rest is empty.

    sets         the chosen set, top-k and MMR's set
    passages     all passages of these sets
    cosines      of all pairs of `passages`
    candidates   the most relevant passages, most relevant first
    shown        the part of the candidates' variance that the map shows
    curve        sets for several θ
    """

    searched: int
    sets: Mapping[str, MeasuredSet] = field(default_factory=dict)
    passages: Sequence[Passage] = ()
    cosines: Vector = field(default_factory=lambda: np.empty((0, 0)))
    candidates: Sequence[Passage] = ()
    shown: float | None = None
    curve: Frontier | None = None


def inspect(study: Study, wanted: Wanted) -> Inspection:
    """Look at a query. Where there are fewer than k passages, sets hold all of them."""
    found: dict[str, Any] = {}
    if "sets" in wanted.parts:
        found |= _choose_sets(study, wanted)
    if "candidates" in wanted.parts:
        found |= {"candidates": _place(study, study.candidates), "shown": study.plane.share}
    if "curve" in wanted.parts:
        found["curve"] = api.frontier(
            study.oracle, study.vector, k=_fit(wanted.k, study), thetas=THETAS, texts=study.read_texts,
            distinct=wanted.distinct, time_limit=wanted.time_limit,
        )  # fmt: skip
    return Inspection(study.oracle.size, **found)


def _choose_sets(study: Study, wanted: Wanted) -> dict[str, Any]:
    oracle, query, k = study.oracle, study.vector, _fit(wanted.k, study)
    pool = None if wanted.pool is None else min(max(wanted.pool, k), oracle.size)
    limit = wanted.time_limit
    selections = {
        "chosen": api.select(
            oracle, query, k=k, theta=wanted.theta, texts=study.read_texts, distinct=wanted.distinct, pool=pool,
            time_limit=limit,
        ),
        # These have no sharpness: it is that of the default here, so that the redundancy of all is measured alike.
        "top": api.select(oracle, query, k=k, method="topk", sharpness=DEFAULT.sharpness, time_limit=limit),
        "mmr": api.select(
            oracle, query, k=k, theta=PAPER.theta if wanted.theta in (None, 1.0) else wanted.theta, method="mmr",
            pool=max(k, len(study.candidates)), sharpness=DEFAULT.sharpness, time_limit=limit,
        ),
    }  # fmt: skip
    rows = {name: study.find_rows(selection.ids) for name, selection in selections.items()}
    members = np.array(list(dict.fromkeys(i for ids in rows.values() for i in ids.tolist())), dtype=np.int64)
    vectors = study.rows(members)
    places, worth = {i: place for place, i in enumerate(members.tolist())}, study.state_worth(vectors)
    shares = {name: measure(worth, np.array([places[i] for i in ids.tolist()])) for name, ids in rows.items()}
    return {
        "sets": {name: _describe(study, one, rows[name], min(shares[name], 1.0)) for name, one in selections.items()},
        "passages": _place(study, members),
        "cosines": vectors @ vectors.T,
    }


def _describe(study: Study, selection: Selection, ids: Ids, coverage: float) -> MeasuredSet:
    near = selection.near
    names = [copy.id for some in near.copies for copy in some] + list(near.given_up)
    names += [variant.id for some in near.variants for variant in some]
    rows = study.find_rows(np.array(names, dtype=selection.ids.dtype))
    ids_of = dict(zip(names, (document.id for document in study.documents(rows)), strict=True))
    return MeasuredSet(selection, study.documents(ids), near.rename(ids_of.__getitem__), coverage)


def _place(study: Study, ids: Ids) -> list[Passage]:
    ranks = {i: rank for rank, i in enumerate(study.candidates.tolist(), start=1)}
    vectors = study.rows(ids)
    parts = zip(
        study.documents(ids), (vectors @ study.vector).tolist(), ids.tolist(), study.plane.place(vectors).tolist(),
        strict=True,
    )  # fmt: skip
    return [Passage(document, score, ranks.get(i), (x, y)) for document, score, i, (x, y) in parts]


def _fit(k: int, study: Study) -> int:
    return min(k, study.oracle.size)
