"""From a list of candidates to the chosen ones, with what is told about each of them. No framework is imported here."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from breadth.api import select
from breadth.arrays import Array, Vector
from breadth.checks import check_choice, check_count
from breadth.coverage.worth import TARGETS, find_targets
from breadth.display import shorten
from breadth.errors import InputError
from breadth.filters import look_up
from breadth.filters.meaning import MISSING
from breadth.integrations.options import GroupWarning, Options, PoolWarning, ScoreWarning
from breadth.integrations.vectors import unit, unit_rows
from breadth.metrics import coverage
from breadth.near import Copy, Variant
from breadth.selection import Selection

KEY = "breadth"
"""The field of metadata that says how a document was chosen."""
_DIFFERENCES, _SHOWN = 3, 60
"""Differences of a variant that metadata tells, and characters of each: metadata is to stay small."""
_METADATA = 1000
"""Characters of the metadata of copies."""
_LINE = 4
"""So many candidates, from the lowest score to the highest, are no accident: retrievers return the best first."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A document that can be chosen.

    id         its id; None if it has none
    text       its text
    metadata   as its framework has it
    vector     its embedding, of any length but not empty; None if it has none yet
    score      its relevance, from a retriever or a reranker; None if it has none
    document   what its framework calls a document
    """

    id: str | None
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    vector: Any = None
    score: float | None = None
    document: Any = None


@dataclass(frozen=True, eq=False)
class Pick:
    """A chosen document: its relevance, the copies that it stands for, and the variants that differ from it."""

    candidate: Candidate
    score: float
    copies: tuple[tuple[Candidate, Copy], ...] = ()
    variants: tuple[tuple[Candidate, Variant], ...] = ()

    def list_variants(self) -> list[dict[str, Any]]:
        """The variants as plain values: the ids, and the beginning of the first few differences."""
        return [
            {
                "id": candidate.id,
                "cosine": one.cosine,
                "chosen": one.chosen,
                "differences": [
                    {side: shorten(words, _SHOWN) for side, words in difference.to_dict().items()}
                    for difference in one.differences[:_DIFFERENCES]
                ],
            }
            for candidate, one in self.variants
        ]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The chosen documents, in order.

    picks       the documents
    selection   how they were chosen; None if there was nothing to choose from
    coverage    the share of the relevant material that they stand for
    asked       how many were asked for
    searched    how many there were to choose from
    given_up    the ids of those of top-k that are neither chosen nor copies of chosen ones
    """

    picks: tuple[Pick, ...]
    selection: Selection | None
    coverage: float
    asked: int
    searched: int
    given_up: tuple[str, ...] = ()

    def tell(self, rank: int) -> dict[str, Any]:
        """What is told about one chosen document, as plain values: its own facts, then those of the whole set."""
        pick, selection = self.picks[rank], self.selection
        assert selection is not None
        proof = selection.certificate
        return {
            "score": pick.score,
            "rank": rank + 1,
            "copies": _list_copies(pick),
            "variants": pick.list_variants(),
            "coverage": self.coverage,
            "relevance": selection.relevance,
            "redundancy": selection.redundancy,
            "objective": selection.objective,
            "gap": None if proof is None else proof.gap,
            "exact": None if proof is None else proof.exact,
            "method": selection.method,
            "theta": selection.theta,
            "asked": self.asked,
            "searched": self.searched,
            "given_up": list(self.given_up),
        }

    def metadata(self, rank: int) -> dict[str, Any]:
        """The metadata of one chosen document, with what is told about it."""
        return {**self.picks[rank].candidate.metadata, KEY: self.tell(rank)}


def nothing(asked: int, searched: int = 0) -> Chosen:
    """What is chosen where there is nothing to choose from."""
    return Chosen((), None, 0.0, asked, searched)


def choose(
    candidates: Sequence[Candidate], query: Any, k: int, options: Options, relevance: str = "query", limit: int = 0
) -> Chosen:
    """Choose at most k candidates that together serve the query best.

    candidates   with vectors. One that comes twice, with the same id and text, counts once, with its best score.
    query        the embedding of the query, of any length; None if there is none.
    relevance    where relevance comes from, one of `RELEVANCE`.
    limit        how many candidates were asked for. Where there are so many, there may be more, and a `PoolWarning`
                 says so if the set is smaller than k.
    """
    asked = check_count(k, "k")
    check_choice(relevance, "relevance", RELEVANCE)
    every = _merge_repeated(candidates)
    if not every:
        return nothing(asked)
    rows, vector = _make_unit(every, query)
    by_query = relevance == "query" or (relevance == "auto" and any(one.score is None for one in every))
    scores = _rate_by_query(rows, vector) if by_query else _rate_by_scores(every, relevance)
    if options.floor is not None and float(scores.max()) < options.floor:
        return nothing(asked, len(every))
    texts = [one.text for one in every]
    labels = None if options.group_by is None else [label(one.metadata, options.group_by) for one in every]
    costs = None if options.budget is None else [options.cost(one.text) for one in every]
    values = None if options.prefer is None else [options.value(one.metadata) for one in every]
    given: dict[str, Any] = {"query": vector} if by_query else {"scores": scores}
    selection = select(rows, **given, k=min(asked, len(every)), **options.arguments(labels, costs, texts, values))
    # A budget makes sets small as well, whatever the pool.
    if len(selection.ids) < asked and 0 < limit <= len(candidates) and options.budget is None:
        warnings.warn(
            f"the pool of {len(candidates)} candidates gives a set of {len(selection.ids)}, not {asked}: the others "
            "are near-copies, or not allowed; raise the number of candidates (fetch_k)",
            PoolWarning,
            stacklevel=3,
        )
    share = share_of(rows, scores, selection.ids)
    return warn_without_groups(gather(every, selection, share, asked, len(every)), options)


def share_of(rows: Array, scores: Vector, chosen: Any) -> float:
    """The coverage of the chosen rows. Rows that are neither chosen nor among the most relevant do not matter."""
    if len(rows) > TARGETS:
        kept = np.union1d(find_targets(scores, TARGETS), chosen)
        rows, scores, chosen = rows[kept], scores[kept], np.searchsorted(kept, chosen)
    return coverage(rows, scores, chosen)


def gather(
    every: Sequence[Candidate] | Mapping[Any, Candidate],
    selection: Selection,
    share: float,
    asked: int,
    searched: int,
) -> Chosen:
    """The chosen ones of the candidates by their numbers in a selection, with their copies and variants."""
    nobody: Sequence[Any] = ((),) * len(selection.ids)
    near = (selection.copies or nobody, selection.variants or nobody)
    picks = tuple(
        Pick(every[i], score, *(tuple((every[one.id], one) for one in some) for some in others))
        for i, score, *others in zip(selection.ids.tolist(), selection.scores.tolist(), *near, strict=True)
    )
    given_up = tuple(every[row].id or "" for row in selection.given_up)
    return Chosen(picks, selection, share, asked, searched, given_up)


def warn_without_groups(chosen: Chosen, options: Options) -> Chosen:
    """Warn if no chosen document has the field that groups go by: its name may be wrong, and it restricts nothing."""
    name = options.group_by
    if name is not None and chosen.picks and all(label(pick.candidate.metadata, name) is None for pick in chosen.picks):
        text = f"group_by={name!r}: none of the {len(chosen.picks)} chosen documents has this field in its metadata"
        warnings.warn(text, GroupWarning, stacklevel=4)
    return chosen


def label(metadata: Mapping[str, Any], name: str) -> Any:
    """The group of a document: the value of a field, None without it. Lists and dicts are groups by their content."""
    value = look_up(metadata, name)
    if value is MISSING or value is None:
        return None
    return value if isinstance(value, (str, int, float, bool)) else json.dumps(value, sort_keys=True, default=str)


def _merge_repeated(candidates: Sequence[Candidate]) -> list[Candidate]:
    found: dict[Any, Candidate] = {}
    for place, one in enumerate(candidates):
        key = (one.id, one.text) if one.id is not None else place
        there = found.get(key)
        if there is None:
            found[key] = one
        elif one.score is not None and (there.score is None or one.score > there.score):
            found[key] = replace(one, vector=one.vector if there.vector is None else there.vector)
    return list(found.values())


def _make_unit(every: Sequence[Candidate], query: Any) -> tuple[Array, Vector | None]:
    """Unit rows and the unit query. A vector of zeros gets a direction of its own: its cosine with all others is 0."""
    missing = [one for one in every if one.vector is None]
    if missing:
        raise InputError(
            f"{len(missing)} of {len(every)} candidates have no embedding, {name_candidate(missing[0])} for one; "
            "pass the embedding model, or candidates with embeddings"
        )
    try:
        rows = np.array([one.vector for one in every], dtype=np.float32)
    except ValueError:
        raise InputError("the embeddings of the candidates must be lists of numbers of the same length") from None
    if rows.ndim != 2 or rows.shape[1] == 0:
        raise InputError(f"the embeddings of the candidates must be lists of numbers, got shape {rows.shape}")
    lengths = np.linalg.norm(rows, axis=1)
    wrong = np.flatnonzero(~np.isfinite(lengths))
    if len(wrong):
        raise InputError(f"the embedding of {name_candidate(every[wrong[0]])} holds NaN or infinity")
    vector = None if query is None else unit(query, "the embedding of the query")
    if vector is not None and len(vector) != rows.shape[1]:
        raise InputError(
            f"the query has {len(vector)} dimensions and the candidates {rows.shape[1]}; embed both with one model"
        )
    made = unit_rows(rows)
    if vector is not None and made.shape[1] > len(vector):
        vector = np.concatenate((vector, np.zeros(made.shape[1] - len(vector))))
    return made, vector


def name_candidate(candidate: Candidate) -> str:
    """A candidate in a message: its id, or the beginning of its text."""
    return f"{candidate.id!r}" if candidate.id is not None else f"{candidate.text[:40]!r}"


def _rate_by_query(rows: Array, vector: Vector | None) -> Vector:
    if vector is None:
        raise InputError(
            "there is no query, and not every candidate has a score: pass the query, or candidates with scores"
        )
    return np.asarray(rows @ vector.astype(rows.dtype), dtype=np.float64)


def _rate_by_scores(every: Sequence[Candidate], relevance: str) -> Vector:
    for one in every:
        if one.score is None or not np.isfinite(one.score):
            raise InputError(f"candidate {name_candidate(one)} has the score {one.score}; every score must be a number")
    scores = np.array([one.score for one in every], dtype=np.float64)
    if relevance != "auto":
        return SCALES[relevance](scores)
    if len(scores) >= _LINE and scores[0] < scores[-1] and bool((np.diff(scores) >= 0.0).all()):
        warnings.warn(
            "the scores of the candidates rise from the first to the last, as distances do, and the highest counts as "
            "the most relevant. Say relevance='query' if they are distances, 'scores' if they are not",
            ScoreWarning,
            stacklevel=4,
        )
    if float(np.abs(scores).max()) <= 1.0 + 1e-6:
        return scores
    warnings.warn(
        f"the scores of the candidates go from {scores.min():.3g} to {scores.max():.3g}, beyond the cosines that theta "
        "weighs them against: they are mapped to [0, 1], the lowest to 0 and the highest to 1. Say "
        "relevance='scaled' if that is right, 'logits' for a cross-encoder, 'query' for cosines",
        ScoreWarning,
        stacklevel=4,
    )
    return SCALES["scaled"](scores)


def _stretch(scores: Vector) -> Vector:
    low, high = float(scores.min()), float(scores.max())
    return (scores - low) / (high - low) if high > low else np.ones(len(scores))


SCALES: dict[str, Callable[[Vector], Vector]] = {
    "scores": lambda scores: scores,
    "scaled": _stretch,
    "logits": lambda scores: np.asarray(1.0 / (1.0 + np.exp(-np.clip(scores, -700.0, 700.0)))),
}

RELEVANCE = ("auto", "query", *SCALES)
"""Where the relevance of candidates comes from.

auto     their scores if all have one, else the query. Scores beyond [-1, 1] are scaled, with a `ScoreWarning`; scores
         that rise from the first candidate to the last look like distances, and give one too
query    the cosine of their embeddings with that of the query
scores   their scores, as they are
scaled   their scores, mapped to [0, 1]: the lowest to 0, the highest to 1
logits   their scores, mapped to [0, 1] by 1 / (1 + exp(-score))
"""


def _list_copies(pick: Pick) -> list[dict[str, Any]]:
    """The copies of a document, and those that it or they stood for in an earlier step, each of them once.

    Their metadata says where else the passage stands, up to `_METADATA` characters; beyond that their ids do.
    """
    found: dict[str, dict[str, Any]] = {}
    room = _METADATA
    for one, copy in pick.copies:
        told = {**copy.to_dict(), "id": one.id}
        plain = {name: value for name, value in one.metadata.items() if name != KEY}
        room -= len(str(plain))
        if room >= 0 or one.id is None:
            told["metadata"] = plain
        _add_copy(found, told)
    for one in (pick.candidate, *(one for one, _ in pick.copies)):
        earlier = one.metadata.get(KEY)
        for copy in earlier.get("copies", []) if isinstance(earlier, Mapping) else []:
            _add_copy(found, copy)
    return list(found.values())


def _add_copy(found: dict[str, dict[str, Any]], copy: dict[str, Any]) -> None:
    """Copies without an id are told apart by their metadata: they may have the same text, from different sources."""
    name = copy.get("id")
    found.setdefault(json.dumps(copy.get("metadata") if name is None else name, sort_keys=True, default=str), copy)
