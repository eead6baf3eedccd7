"""Which setting to use on a collection, and why, in words."""

from __future__ import annotations

from collections.abc import Sequence

from breadth.bootstrap import Estimate
from breadth.index.profiles import STANDARD, TOP_K, Judgement, Profile

_FEW_COPIES, _FEW_QUERIES = 0.01, 0.05
"""Up to this share of copies, or of queries with one, top-k hardly repeats itself."""
_STRAYS = 0.02
"""In up to this share of queries a setting may choose an off-topic passage, or drop the best hit, and be suggested."""
_FEWEST = 10
"""With fewer questions, intervals from resamples are too narrow to be trusted."""
_NARROW = 0.02
"""If all intervals of differences in recall end within this distance of 0, there is no difference worth having."""

Judged = list[tuple[Profile, Judgement]]
"""Profiles with what the questions say about them."""


def suggest(profiles: Sequence[Profile], questions: int) -> Profile | None:
    """The setting to use, or None if top-k does as well.

    A setting mends top-k if it removes at least half of the repeats, brings in hardly any off-topic passages and
    keeps the best hit. Recall decides where it can, among the settings that are shown to be above top-k and not shown
    to be below the best setting: the default, otherwise the one with the largest recall, of those that mend top-k if
    there are any. Where recall shows no gain or is unknown, a setting that mends top-k and is not shown to lose recall:
    the default, otherwise the one that keeps the most relevance. None if top-k hardly repeats itself.
    """
    judged = _list_judged(profiles, questions)
    better = [(p, j) for p, j in judged if j.over_top_k.low > 0.0 and j.behind_best.high >= 0.0]
    if better:
        better = [(p, j) for p, j in better if _mends(p, profiles[0])] or better
        return _prefer_default([p for p, _ in better], _find_best(better)[0])
    losing = {p.name for p, j in judged if j.over_top_k.high < 0.0}
    mending = [p for p in profiles if p.name != TOP_K and p.name not in losing and _mends(p, profiles[0])]
    if not mending or _repeats_rarely(profiles[0]):
        return None
    return _prefer_default(mending, max(mending, key=lambda profile: profile.kept))


def word_verdict(profiles: Sequence[Profile], k: int, questions: int) -> str:
    """Say what is wrong with top-k and which setting mends it, or that it makes no difference."""
    suggested = suggest(profiles, questions)
    judged = _list_judged(profiles, questions)
    sentences = [_word_recall(judged, questions)] if judged else []
    if profiles[0].judgement is not None and not judged:
        sentences.append(
            f"The questions are too few to compare the settings by recall ({questions}): ask {_FEWEST} or more, "
            "better a hundred."
        )
    sentences.append(_word_copies(profiles, k, suggested, alone=profiles[0].judgement is None))
    return " ".join(sentences)


def _list_judged(profiles: Sequence[Profile], questions: int) -> Judged:
    """The profiles with their judgements, or nothing if there are too few questions for a verdict."""
    return [(p, p.judgement) for p in profiles if p.judgement is not None] if questions >= _FEWEST else []


def _repeats_rarely(plain: Profile) -> bool:
    return plain.redundant <= _FEW_COPIES or plain.affected <= _FEW_QUERIES


def _mends(profile: Profile, plain: Profile) -> bool:
    return profile.redundant <= plain.redundant / 2.0 and max(profile.strayed, profile.best_dropped) <= _STRAYS


def _prefer_default(profiles: Sequence[Profile], otherwise: Profile) -> Profile:
    return next((profile for profile in profiles if profile.name == STANDARD), otherwise)


def _find_best(judged: Judged) -> tuple[Profile, Judgement]:
    return max(judged, key=lambda pair: pair[1].recall.mean)


def _word_copies(profiles: Sequence[Profile], k: int, suggested: Profile | None, alone: bool) -> str:
    """Say how often top-k repeats itself, and what the suggested setting leaves of that."""
    plain = profiles[0]
    if _repeats_rarely(plain):
        opening = f"It makes no difference here: top-{k}" if alone else f"Top-{k}"
        return (
            f"{opening} hardly repeats itself ({plain.redundant:.1%} of its passages, "
            f"in {plain.affected:.0%} of the queries)."
        )
    trouble = (
        f"Top-{k} repeats itself: {plain.redundant:.0%} of its passages say nothing that another one does not say, and "
        f"{plain.affected:.0%} of the queries lose a place to one."
    )
    if suggested is None:
        return f"{trouble} {_word_obstacle(profiles, alone)}"
    price = f"keeps {suggested.kept:.1%} of the relevance" if suggested.kept < 1.0 else "costs no relevance"
    return f"{trouble} {_word_name(suggested, 'The')} leaves {_word_left(suggested)} and {price}."


def _word_obstacle(profiles: Sequence[Profile], alone: bool) -> str:
    """Say why no setting is suggested although top-k repeats itself."""
    for profile in profiles:
        removes = profile.redundant <= profiles[0].redundant / 2.0
        if profile.name == STANDARD and removes and profile.strayed > _STRAYS:
            return (
                f"The default leaves {_word_left(profile)}, but then off-topic passages come in, in "
                f"{profile.strayed:.0%} of the queries: ask for fewer passages, or set a floor for their relevance."
            )
    harm = (
        "off-topic passages or dropped best hits" if alone else "off-topic passages, dropped best hits or lower recall"
    )
    return f"No setting tried removes half of them without {harm}."


def _word_left(profile: Profile) -> str:
    return "no repeats" if profile.redundant == 0.0 else f"{profile.redundant:.1%} repeats"


def _word_recall(judged: Judged, questions: int) -> str:
    """Say which setting finds most, as far as the questions can show it."""
    best, own = _find_best(judged)
    plain = judged[0][1].recall.mean
    if all(j.over_top_k.low >= -_NARROW and j.over_top_k.high <= _NARROW for _, j in judged):
        return (
            f"It makes no difference here: on your {questions} questions, the recall of every setting is within "
            f"{100 * _NARROW:.0f} points of top-k's {plain:.1%}."
        )
    worse = [f"{p.name} ({_word_points(j.over_top_k)})" for p, j in judged if j.over_top_k.high < 0.0]
    below = f" Below top-k: {', '.join(worse)}." if worse else ""
    if own.over_top_k.low > 0.0:
        return (
            f"{_word_name(best, 'The')} has the largest recall on your {questions} questions: {own.recall.mean:.1%}, "
            f"top-k {plain:.1%} ({_word_points(own.over_top_k)}).{_word_others(judged, best)}{below}"
        )
    if best.name == TOP_K:
        return f"No setting has a larger recall than top-k on your {questions} questions ({plain:.1%}).{below}"
    return (
        f"Your {questions} questions do not show that any setting is better than top-k, whose recall is {plain:.1%}. "
        f"The largest is that of {_word_name(best)}, {own.recall.mean:.1%} ({_word_points(own.over_top_k)}).{below}"
    )


def _word_others(judged: Judged, best: Profile) -> str:
    """Name the settings that may be as good as the best one, and say how far behind the default is if it is not."""
    level = [p.name for p, j in judged if p.name != best.name and j.behind_best.high >= 0.0]
    words = f" Not shown to be worse: {', '.join(level)}." if level else ""
    for profile, judgement in judged:
        if profile.name == STANDARD and judgement.behind_best.high < 0.0:
            words += f" The default is behind it ({_word_points(judgement.behind_best)})."
    return words


def _word_name(profile: Profile, article: str = "the") -> str:
    """The name of a setting in a sentence, with its arguments unless it needs none."""
    if profile.name == STANDARD:
        return f"{article} default"
    return f"{article} setting {profile.name} ({profile.trial.describe()})"


def _word_points(difference: Estimate) -> str:
    mean, low, high = (100.0 * value for value in (difference.mean, difference.low, difference.high))
    return f"{mean:+.1f} points, 95% interval {low:+.1f} to {high:+.1f}"
