"""The longest common subsequence of two token sequences, by whole words of bits (Hyyrö, 2004)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple


class Change(NamedTuple):
    """Tokens left … of one sequence, where the other has right … instead; either may be empty."""

    left: tuple[int, int]
    right: tuple[int, int]


def align(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of places with equal tokens, increasing on both sides, as many as there can be."""
    start = 0
    while start < min(len(left), len(right)) and left[start] == right[start]:
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and left[-1 - end] == right[-1 - end]:
        end += 1
    inner = _align_inner(left[start : len(left) - end], right[start : len(right) - end])
    return [
        *((place, place) for place in range(start)),
        *((start + one, start + other) for one, other in inner),
        *((len(left) - place, len(right) - place) for place in range(end, 0, -1)),
    ]


def _align_inner(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    if not left or not right:
        return []
    places: dict[str, int] = {}
    for place, token in enumerate(left):
        places[token] = places.get(token, 0) | 1 << place
    every = (1 << len(left)) - 1
    state, states = every, []
    for token in right:  # a 0 in bit i of the state: the subsequence grows when left[i] is taken in
        matches = state & places.get(token, 0)
        state = ((state + matches) | (state - matches)) & every
        states.append(state)
    pairs, one, other = [], len(left) - 1, len(right) - 1
    while one >= 0 and other >= 0:
        if states[other] >> one & 1:
            one -= 1
        elif other and not states[other - 1] >> one & 1:
            other -= 1
        else:
            pairs.append((one, other))
            one, other = one - 1, other - 1
    return pairs[::-1]


def list_changes(pairs: Sequence[tuple[int, int]], left: int, right: int) -> list[Change]:
    """What lies between the pairs of an alignment of `left` with `right` tokens."""
    changes, before = [], (-1, -1)
    for pair in (*pairs, (left, right)):
        if pair[0] > before[0] + 1 or pair[1] > before[1] + 1:
            changes.append(Change((before[0] + 1, pair[0]), (before[1] + 1, pair[1])))
        before = pair
    return changes
