"""Pairs of texts of all kinds, with what a careful reader says of each.

pairs.tsv was written with the rules in mind. blind.tsv was written by someone who had not seen them.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from breadth.text import CONTAINED, DIFFERS, PARAPHRASE, SAME, compare

CLOSE = 0.95
"""A cosine that allows paraphrases."""


class Pair(NamedTuple):
    kind: str
    relation: str
    left: str
    right: str


def read_pairs(name: str) -> list[Pair]:
    lines = Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines()[1:]
    return [Pair(*(field.replace("\\n", "\n") for field in line.split("\t"))) for line in lines]


PAIRS, BLIND = read_pairs("pairs.tsv"), read_pairs("blind.tsv")
EVERY = PAIRS + BLIND


def test_the_table_is_large_and_of_all_kinds():
    assert len(PAIRS) >= 200
    assert {pair.relation for pair in PAIRS} == {SAME, CONTAINED, PARAPHRASE, DIFFERS}
    assert len({pair.kind for pair in PAIRS}) >= 50
    assert len(set(EVERY)) == len(EVERY)


@pytest.mark.parametrize("pair", [pair for pair in EVERY if pair.relation == DIFFERS], ids=lambda pair: pair.left[:40])
def test_what_differs_is_never_called_a_copy(pair):
    for one, other in ((pair.left, pair.right), (pair.right, pair.left)):
        found = compare(one, other, CLOSE)
        assert (found.relation, found.left_says_all, found.right_says_all) == (DIFFERS, False, False)


@pytest.mark.parametrize("relation", [SAME, CONTAINED, PARAPHRASE])
def test_what_says_the_same_is_mostly_found(relation):
    """Copies that are overlooked cost a place; they cost no fact."""
    for table, least in (PAIRS, {SAME: 1.0, CONTAINED: 0.8, PARAPHRASE: 0.5}), (BLIND, {SAME: 0.8, CONTAINED: 1.0}):
        pairs = [pair for pair in table if pair.relation == relation]
        found = [pair for pair in pairs if compare(pair.left, pair.right, CLOSE).left_says_all]
        assert len(found) >= least.get(relation, 0.2) * len(pairs)


@pytest.mark.parametrize("pair", [pair for pair in PAIRS if pair.relation == SAME], ids=lambda pair: pair.left[:40])
def test_the_same_is_called_the_same_in_both_orders_and_without_vectors(pair):
    assert compare(pair.left, pair.right).relation == compare(pair.right, pair.left).relation == SAME
