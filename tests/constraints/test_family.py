"""The constraints of a query together, by ids; and one that the package does not have, added as its docs say."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import breadth
from breadth.constraints import Constraints
from breadth.constraints.budget import Budget
from breadth.constraints.distinct import Distinct
from breadth.constraints.groups import Groups
from breadth.constraints.pairs import NamedPairs
from breadth.constraints.pinned import Excluded, Pinned
from breadth.constraints.protocol import Constraint
from breadth.constraints.registry import CONSTRAINTS, list_arguments
from breadth.constraints.relevance import Floor, KeepBest, OnTopic
from breadth.errors import InputError
from breadth.methods.registry import METHODS
from tests.synthetic import clustered, query_near


def test_constraints_know_whether_they_limit_anything():
    assert Constraints().is_free
    rows_alone = [Excluded(np.array([1])), Floor(0.2), OnTopic(0.5)]
    sets = [
        Distinct(0.9),
        Groups(lambda ids: ids),
        Pinned(np.array([1])),
        KeepBest(),
        Budget(lambda ids: ids, 3.0),
    ]
    families = [Constraints((wish,)) for wish in rows_alone + sets]
    assert not any(family.is_free for family in families)
    assert [family.limits_sets for family in families] == [False] * 3 + [True] * 5
    assert [family.limits_pairs for family in families].count(True) == 1


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True), st.data())
def test_which_rows_are_admitted(ids, data):
    ids = np.array(ids)
    relevance = np.array(
        data.draw(st.lists(st.sampled_from([-0.5, 0.2, 0.3, 0.9]), min_size=len(ids), max_size=len(ids)))
    )
    pinned = np.array(data.draw(st.lists(st.sampled_from(ids.tolist()), unique=True, max_size=3)), dtype=np.int64)
    free = np.setdiff1d(ids, pinned)
    excluded = free[: data.draw(st.integers(0, len(free)))]
    admitted = Constraints((Pinned(pinned), Excluded(excluded), Floor(0.3))).admit(ids, relevance)
    wanted = [i in pinned or (i not in excluded and c >= 0.3) for i, c in zip(ids, relevance, strict=True)]
    assert admitted.tolist() == wanted
    assert Constraints().admit(ids, relevance).all()


@given(st.floats(-0.5, 1.0), st.floats(0.05, 1.0))
def test_what_is_on_topic_depends_on_the_last_row_of_top_k(kth, share):
    family = Constraints((OnTopic(share), KeepBest()))
    fixed = family.fix(kth)
    assert family.needs_kth
    assert not fixed.needs_kth
    assert fixed.keep_best
    assert fixed.floor == (share * kth if kth > 0 else -np.inf)
    assert Constraints((Floor(0.2), OnTopic(share))).fix(kth).floor == max(0.2, fixed.floor)


@given(st.lists(st.integers(0, 40), min_size=1, max_size=12, unique=True), st.data())
def test_renumbered_constraints_mean_the_same_rows(ids, data):
    ids = np.sort(np.array(ids))
    pinned = np.array(data.draw(st.lists(st.sampled_from(ids.tolist()), unique=True, max_size=3)), dtype=np.int64)
    excluded = np.array(data.draw(st.lists(st.integers(0, 40), unique=True, max_size=5)), dtype=np.int64)
    whole = Constraints(
        (
            Distinct(0.8),
            Groups(lambda some: some % 3, 2),
            Pinned(pinned),
            Excluded(np.setdiff1d(excluded, pinned)),
            Floor(0.1),
            KeepBest(),
            Budget(lambda some: some * 1.5, 20.0),
        )
    )
    part = whole.renumber(ids)
    numbers = np.arange(len(ids))
    np.testing.assert_array_equal(ids[part.pinned], pinned)
    assert set(ids[part.excluded]) == set(whole.excluded) & set(ids)
    np.testing.assert_array_equal(part.label(numbers)[0], whole.label(ids)[0])
    np.testing.assert_array_equal(part.cost(numbers), whole.cost(ids))
    same = ("distinct", "floor", "keep_best", "budget")
    assert [getattr(part, name) for name in same] == [getattr(whole, name) for name in same]
    assert part.label(numbers)[1] == 2
    relevance = np.linspace(-0.2, 0.5, len(ids))
    np.testing.assert_array_equal(part.admit(numbers, relevance), whole.admit(ids, relevance))
    assert Constraints().renumber(ids).is_free


def test_every_argument_belongs_to_one_constraint():
    assert len(set(list_arguments())) == len(list_arguments())
    assert all(kind.arguments for kind in CONSTRAINTS.values())
    assert [kind for kind in CONSTRAINTS.values() if not kind.options] == [NamedPairs]  # pairs cannot be typed


@dataclass(frozen=True)
class Spaced(Constraint):
    """No two rows whose numbers are less than `least` apart: neighbouring chunks of one text, say."""

    least: int

    arguments = ("spaced",)
    of_pairs = True

    @classmethod
    def read(cls, given, scope):
        return cls(given["spaced"]) if given.get("spaced") else None

    def renumber(self, ids):
        return replace(self)

    def clash(self, pairs):
        return np.abs(pairs.left[:, None] - pairs.right) < self.least

    def contradict(self, pins):
        return (
            "two pinned rows are neighbours" if (self.clash(pins) & (pins.left[:, None] != pins.right)).any() else None
        )


@pytest.mark.parametrize("method", [name for name in METHODS if name != "exact"])
@pytest.mark.parametrize("sharpness", [1, 12])
def test_a_constraint_is_one_file_and_one_line(monkeypatch, method, sharpness):
    monkeypatch.setitem(CONSTRAINTS, "spaced", Spaced)
    rng = np.random.default_rng(3)
    E = clustered(rng, 400, 16)
    q = query_near(rng, E)
    found = breadth.select(E, q, k=8, method=method, sharpness=sharpness, spaced=40)
    assert len(found.ids) == 8
    assert np.diff(np.sort(found.ids)).min() >= 40
    free = breadth.select(E, q, k=8, method=method, sharpness=sharpness)
    assert np.diff(np.sort(free.ids)).min() < 40
    with pytest.raises(InputError, match="pinned and spaced contradict each other: two pinned rows are neighbours"):
        breadth.select(E, q, k=8, method=method, sharpness=sharpness, spaced=40, pinned=[3, 7])
