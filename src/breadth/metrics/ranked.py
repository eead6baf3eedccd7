"""Rank-aware diversity measures, computed by ir-measures (the extra `measures`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from breadth.checks import check_count, check_number
from breadth.errors import InputError, MissingExtraError


def alpha_ndcg(ranking: Sequence[str], subtopics: Mapping[str, Sequence[str]], k: int, alpha: float = 0.5) -> float:
    """α-nDCG@k (Clarke et al., 2008): gain of a passage for a subtopic shrinks by 1-α each time it was covered.

    `ranking`: passage ids, best first. `subtopics`: for each subtopic the ids of the passages that cover it.
    """
    measures = _ir_measures()
    check_number(alpha, "alpha", 0.0, 1.0)
    return _measure(measures.alpha_nDCG(alpha=alpha) @ check_count(k, "k"), ranking, subtopics)


def subtopic_recall(ranking: Sequence[str], subtopics: Mapping[str, Sequence[str]], k: int) -> float:
    """StRecall@k (Zhai et al., 2003): the share of subtopics covered by the first k passages."""
    measures = _ir_measures()
    return _measure(measures.StRecall @ check_count(k, "k"), ranking, subtopics)


def _ir_measures() -> Any:
    try:
        import ir_measures
        import pyndeval  # noqa: F401  (the provider of both measures)
    except ImportError:
        raise MissingExtraError("ir-measures", "measures") from None
    return ir_measures


def _measure(measure: Any, ranking: Sequence[str], subtopics: Mapping[str, Sequence[str]]) -> float:
    measures = _ir_measures()
    if len(set(ranking)) != len(ranking):
        raise InputError("ranking holds an id twice")
    if not any(subtopics.values()):
        raise InputError("subtopics must name at least one passage")
    # The provider parses text columns, so ids are passed as numbers of our own.
    known: dict[str, str] = {}
    for passage in [*ranking, *(p for covering in subtopics.values() for p in covering)]:
        known.setdefault(passage, str(len(known)))
    qrels = [
        measures.Qrel("q", known[passage], 1, str(number))
        for number, covering in enumerate(subtopics.values(), start=1)
        for passage in covering
    ]
    run = [measures.ScoredDoc("q", known[p], float(len(ranking) - place)) for place, p in enumerate(ranking)]
    return float(measures.calc_aggregate([measure], qrels, run)[measure])
