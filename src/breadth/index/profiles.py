"""What the sets of one setting are like: repeats, lost facts, off-topic passages, dropped best hits, recall."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from breadth.arrays import Array, Ids
from breadth.bootstrap import LEVEL, Estimate, Values, estimate, resamples
from breadth.metrics.lost import lost
from breadth.metrics.repeats import repeats
from breadth.near import CLOSE_VECTORS
from breadth.selection import Selection
from breadth.settings import PAPER

TOP_K, STANDARD = "top-k", "default"
_POOL = 1000
"""How many of the most relevant passages MMR chooses from."""
_MMR_THETA = 0.7
_FILTER = 0.95
"""The cosine above which the usual remedy takes two passages for copies."""
_TIE = 1e-6
"""Relevance that differs by less is equal: the resolution of scores in float32."""
_BY_TEXT = ("texts", "groups")
"""Arguments that are the texts of the passages."""

ReadTexts = Callable[[Ids], list[str]]


@dataclass(frozen=True)
class Trial:
    """A named way to choose sets: the arguments of `breadth.select`.

    said   what a reader is told of it, where its arguments do not say it
    """

    name: str
    options: Mapping[str, Any] = field(compare=False)
    said: str = ""

    def describe(self) -> str:
        """The arguments as one passes them."""
        return self.said or ", ".join(f"{name}={value!r}" for name, value in self.options.items())


def list_trials(k: int, size: int, read: ReadTexts) -> tuple[Trial, ...]:
    """The settings to compare. Top-k comes first, then the default.

    "different texts" is top-k without passages whose text is, letter for letter, that of a more relevant one; "filter"
    is top-k without passages whose cosine with a more relevant one is too large, the usual remedy.
    """
    same_text = {"method": "topk", "groups": read, "per_group": 1}
    return (
        Trial(TOP_K, {"method": "topk"}),
        Trial(STANDARD, {"texts": read}, "what a search does: top-k without passages that another one says all of"),
        Trial("different texts", same_text, "top-k without passages with exactly the text of a more relevant one"),
        Trial(f"filter {_FILTER:g}", {"method": "topk", "distinct": _FILTER}),
        Trial("MMR", {"method": "mmr", "theta": _MMR_THETA, "pool": min(size, max(k, _POOL))}),
        Trial("paper", {"theta": PAPER.theta, "sharpness": PAPER.sharpness}),
    )


@dataclass(frozen=True)
class Judgement:
    """How much of what questions want the sets of one setting find, as means over the questions with intervals.

    recall         the share that the sets find
    over_top_k     that minus the share of top-k
    behind_best    that minus the share of the setting with the largest mean recall
    """

    recall: Estimate
    over_top_k: Estimate
    behind_best: Estimate


@dataclass(frozen=True)
class Profile:
    """What the sets of one setting are like, over all queries.

    trial              the setting
    redundant          the share of chosen passages that another one of the set says all of
    affected           the share of queries with such a passage
    lost               how many passages of top-k, per query, have a fact that no passage of the set has with the others
    off_topic          the share of chosen passages with less than half the relevance of the last passage of top-k
    strayed            the share of queries with such a passage
    best_dropped       the share of queries whose most relevant passage was not chosen
    relevance          the mean relevance of the chosen passages
    kept               that as a share of the mean relevance of top-k
    size               the mean number of passages; fewer than k where the setting finds no more that are distinct
    judgement          how much of the known answers the sets find; None without questions whose answers are known
    """

    trial: Trial
    redundant: float
    affected: float
    lost: float
    off_topic: float
    strayed: float
    best_dropped: float
    relevance: float
    kept: float
    size: float
    judgement: Judgement | None = None

    @property
    def name(self) -> str:
        """The name of the setting."""
        return self.trial.name


@dataclass(frozen=True)
class Traits:
    """Counts in one set: repeats, lost and off-topic passages, whether the best hit is missing, relevance, size."""

    repeats: int
    lost: int
    off_topic: int
    best_dropped: bool
    relevance: float
    size: int


@dataclass(frozen=True)
class Passages:
    """The passages of a set: their vectors and texts, in the order of the set."""

    rows: Array
    texts: list[str]


def examine(chosen: Selection, passages: Passages, top: Selection, plain: Passages) -> Traits:
    """Count what is wrong with a set. `top` is top-k of the same query, with the passages `plain`."""
    best, last = float(top.scores[0]), float(top.scores[-1])
    least = last / 2.0 if last > 0.0 else last  # nothing that top-k chooses counts as off-topic
    stays = {copy.id for some in chosen.copies for copy in some if copy.relation != CLOSE_VECTORS}
    return Traits(
        repeats=int(repeats(passages.texts, passages.rows).sum()),
        lost=len(lost(plain.texts, passages.texts)),
        off_topic=int(np.count_nonzero(chosen.scores < least - _TIE)),
        best_dropped=bool(chosen.scores.max() < best - _TIE) and int(top.ids[0]) not in stays,
        relevance=chosen.relevance,
        size=len(chosen.ids),
    )


def summarise(trial: Trial, traits: list[Traits], top: list[Traits]) -> Profile:
    """Put the sets of one setting together. `top` are the sets of top-k for the same queries."""
    passages = sum(one.size for one in traits)
    relevance = float(np.mean([one.relevance for one in traits]))
    plain = float(np.mean([one.relevance for one in top]))
    return Profile(
        trial=trial,
        redundant=sum(one.repeats for one in traits) / passages,
        affected=float(np.mean([one.repeats > 0 for one in traits])),
        lost=float(np.mean([one.lost for one in traits])),
        off_topic=sum(one.off_topic for one in traits) / passages,
        strayed=float(np.mean([one.off_topic > 0 for one in traits])),
        best_dropped=float(np.mean([one.best_dropped for one in traits])),
        relevance=relevance,
        kept=relevance / plain if plain > 0.0 else float("nan"),
        size=passages / len(traits),
    )


def judge(recall: Values, seed: int) -> list[Judgement]:
    """Compare settings by their recall (settings, questions), the first of them top-k, on the same questions.

    The best setting is chosen by the same questions, so the intervals of the differences hold for all settings together
    (Bonferroni): with m settings beside top-k each is a 1 - 0.05/m interval.
    """
    weights = resamples(recall.shape[1], seed)
    best = recall[int(np.argmax(recall.mean(axis=1)))]
    level = 1.0 - (1.0 - LEVEL) / max(1, len(recall) - 1)
    return [
        Judgement(
            recall=estimate(own, weights),
            over_top_k=estimate(own - recall[0], weights, level),
            behind_best=estimate(own - best, weights, level),
        )
        for own in recall
    ]
