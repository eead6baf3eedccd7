"""Sharp similarity and constraints: sets that are allowed, bounds that hold, and no better set by any other method."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import breadth
from breadth import ArrayOracle, CompactOracle, CountingOracle, InputError
from breadth.methods.registry import METHODS
from breadth.solve import block
from breadth.solve.effort import EFFORT
from tests import cores
from tests.allowed import KINDS, Case, random_case
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import SHAPES, clustered, isotropic, query_near, unit

PRECISION = 2e-6
TINY = replace(EFFORT, pool=3, block=1, held=3, whole=1)
"""Pools and blocks begin with so few rows that they have to grow even in collections of ten."""
CAPS = ("groups", "per_group", "at_least", "unlike", "pinned", "excluded", "floor", "keep_best")
"""With these alone a set that cannot grow is as large as any."""
MANY = 1.0 if cores.IS_COMPILED else 0.2
"""NumPy takes longer than the compiled core, so it sees fewer cases."""


def cases(seed, count, kinds=None, **options):
    """So many cases with these kinds of constraints, or with any."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < count:
        some = [kind for kind in KINDS if rng.uniform() < 0.35] if kinds is None else kinds
        case = random_case(rng, some, **options)
        if case.is_clear:
            made += 1
            yield case


def solve(case, **options):
    """The certified set, or None if there is none; an error where there is one fails the test."""
    try:
        return breadth.select(case.E, case.q, **case.arguments, **options)
    except InputError:
        if case.largest:
            raise
        return None


def check(case, found):
    """Everything that the certified solver promises of a set under constraints."""
    assert case.breaks(found.ids) == "", case
    assert not case.lacks(found.ids), case
    assert found.k == len(found.ids) <= case.k
    assert found.stats.get("asked", case.k) == case.k
    assert ("asked" in found.stats) == (found.k < case.k), case
    if case.restricted_by(*CAPS):
        assert found.k == case.largest, case
    # How many rows a budget allows is decided on the rows that were fetched.
    if found.k < case.k and ("budget" not in case.constraints or found.stats["held"] == len(case.E)):
        assert case.can_grow(found.ids) == [], case
    assert found.objective == pytest.approx(case.objective(found.ids), abs=1e-9)
    assert found.objective == pytest.approx(found.theta * found.relevance - (1 - found.theta) * found.redundancy)
    best = case.optimum(found.k)
    assert found.certificate.exact
    assert found.certificate.bound >= best - PRECISION, case
    assert found.certificate.gap == pytest.approx(found.certificate.bound - found.objective)
    assert found.certificate.swap_optimal == (found.stats["stopped"] in ("swap_optimal", "optimal"))
    if found.certificate.swap_optimal:
        assert case.best_swap(found.ids) <= PRECISION, case
    if found.certificate.optimal:
        assert found.objective >= best - PRECISION, case
    return best


@pytest.mark.parametrize("effort", [EFFORT, TINY], ids=["plenty", "tiny"])
@pytest.mark.parametrize("seed", range(3))
def test_every_combination_of_constraints_by_brute_force(seed, effort):
    """Thousands of small cases: any constraints together, every sharpness, k down to 1, θ from 0 to 1."""
    optimal = solved = 0
    for case in cases([seed, effort is TINY], int(400 * MANY)):
        found = solve(case, effort=effort)
        if found is not None:
            best = check(case, found)
            assert found.certificate.swap_optimal
            solved += 1
            optimal += found.objective >= best - PRECISION
    assert optimal >= 0.97 * solved  # what is found is nearly always the best there is


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("sharpness", [1, 2, 8, 16])
def test_one_constraint_at_a_time(kind, sharpness):
    for case in cases([KINDS.index(kind), sharpness], int(20 * MANY) + 5, [kind], sharpness=sharpness):
        found = solve(case, effort=TINY)
        if found is not None:
            check(case, found)


@pytest.mark.parametrize("pair", list(combinations(KINDS, 2)), ids="+".join)
def test_two_constraints_at_a_time(pair):
    for case in cases(list(map(KINDS.index, pair)), int(20 * MANY) + 5, pair):
        found = solve(case)
        if found is not None:
            check(case, found)


@pytest.mark.parametrize("sharpness", [2, 8, 16])
def test_sharp_similarity_alone(sharpness):
    for case in cases(sharpness, int(150 * MANY), [], sharpness=sharpness):
        check(case, solve(case, effort=TINY))


def test_nothing_allowed_is_an_error_and_something_allowed_is_a_set():
    """Both happen, so that the cases above test both."""
    seen = Counter(solve(case) is None for case in cases(99, 150))
    assert min(seen[True], seen[False]) >= 10


def test_pinning_the_best_row_keeps_it_and_nothing_else():
    """`keep_best` asks for the most relevant row; where that is pinned, it asks for nothing more."""
    E = np.array([[1.0, 0.0], [np.sqrt(0.75), 0.5], [0.0, 1.0]])
    for sharpness in (1, 2):
        asked = {"k": 2, "theta": 0.1, "sharpness": sharpness, "pinned": [0]}
        plain, kept = (breadth.select(E, E[0], **asked, keep_best=keep) for keep in (False, True))
        assert list(plain.ids) == list(kept.ids) == [0, 2]
        assert kept.certificate.bound >= plain.objective - PRECISION


def test_the_best_row_is_kept_beside_pinned_ones_that_are_cheaper_than_it():
    """Only rows beyond the first shortlist fit what the pinned row leaves of the budget."""
    rng = np.random.default_rng(3)
    E = clustered(rng, 900, 16)
    c = E @ (q := query_near(rng, E))
    order = np.argsort(-c)
    costs = np.full(900, 2.0)
    costs[order[600:]] = 1.0
    costs[order[899]] = 5.0
    found = breadth.select(E, q, k=3, pinned=[int(order[899])], keep_best=True, costs=costs, budget=6, sharpness=8)
    assert set(found.ids.tolist()) == {int(order[600]), int(order[899])}


# Larger collections: every path, and every other method


def constrained(rng, E, q, number):
    """Constraints on a larger collection, one kind of combination for each number."""
    c, n = E.astype(np.float64) @ q, len(E)
    sources = [None if x == 0 else int(x) for x in rng.integers(0, 40, size=n)]
    order = np.argsort(-c)
    return [
        {"distinct": 0.8},
        {"groups": sources, "per_group": 1},
        {"groups": sources, "per_group": 2, "distinct": 0.85, "keep_best": True},
        {"pinned": order[[7, 300]].tolist(), "excluded": order[:6].tolist()},
        {"costs": rng.integers(20, 200, size=n).tolist(), "budget": 700},
        {"floor": float(c[order[40]]) - 1e-5, "distinct": 0.9, "pinned": [int(order[400])], "keep_best": True},
        {},
    ][number]


def as_mappings(constraints):
    """The same for an engine that has ids of its own."""
    by_id = {name: constraints[name] for name in ("groups", "costs") if name in constraints}
    return constraints | {name: dict(enumerate(values)) for name, values in by_id.items()}


def large_case(E, q, k, theta, sharpness, constraints):
    return Case(E.astype(np.float64), q.astype(np.float64), k, theta, sharpness, constraints)


def assert_no_swap_gains(case, ids):
    """No allowed exchange with any row of the collection gains; single rows are tried in the order of their gain."""
    E, members, k = case.E, case.E[ids], len(ids)
    similar = (E @ members.T) ** case.sharpness
    weight, coupling = case.theta * max(k - 1, 1), 2 * (1 - case.theta)
    value = weight * case.c - coupling * similar.sum(axis=1)
    own = np.einsum("ij,ij->i", members, members) ** case.sharpness
    gains = value[:, None] + coupling * similar - (value[ids] + coupling * own)
    gains[ids] = -np.inf
    for row, place in np.argwhere(gains > PRECISION * max(k * (k - 1), 1)):
        swapped = [int(row) if p == place else int(i) for p, i in enumerate(ids)]
        assert case.breaks(swapped) != "", (swapped, gains[row, place])


def oracles(E):
    return {"array": ArrayOracle(E), "compact": CompactOracle.build(E), "search only": SearchOnly(E)}


@pytest.mark.parametrize("number", range(7))
@pytest.mark.parametrize(("shape", "k", "theta"), [("clustered", 6, 0.6), ("duplicated", 12, 0.4)])
def test_all_paths_agree_and_no_method_does_better(number, shape, k, theta):
    rng = np.random.default_rng([number, k])
    E = SHAPES[shape](rng, 2000, 24)
    q = query_near(rng, E)
    constraints = constrained(rng, E, q, number)
    for sharpness in (8, 1) if constraints else (8, 2):
        case = large_case(E, q, k, theta, sharpness, constraints)
        found = {}
        for name, oracle in oracles(E).items():
            limits = as_mappings(constraints) if name == "search only" else constraints
            found[name] = breadth.select(oracle, q, k=k, theta=theta, sharpness=sharpness, **limits)
            assert case.breaks(found[name].ids) == ""
            assert found[name].certificate.swap_optimal
            assert found[name].certificate.exact is oracle.exact
            assert_no_swap_gains(case, found[name].ids)
        first = found["array"]
        for other in found.values():
            if "budget" in constraints and other.k != first.k:  # how many rows fit depends on which
                continue
            assert other.k == first.k
            # With sharpness 1 rows come in another order, and the search may end at another swap-optimal set.
            assert other.objective == pytest.approx(first.objective, abs=1e-6 if sharpness > 1 else 2e-3)
            assert other.certificate.bound == pytest.approx(first.certificate.bound, abs=1e-3)
        assert first.k == k or {"costs", "floor"} & set(constraints)
        for method, other in others(E, q, k, theta, sharpness, constraints):
            assert case.breaks(other.ids) == "", method
            if other.k == first.k:
                assert first.objective >= other.objective - 1e-7, (method, first.stats)
                assert first.certificate.bound >= other.objective - PRECISION, method


def others(E, q, k, theta, sharpness, constraints):
    """What every other method finds."""
    for name, method in METHODS.items():
        if name != "certified" and not method.small:
            arguments = {"k": k, "theta": theta, "sharpness": sharpness, "method": name, **constraints}
            yield name, breadth.select(E, q, **arguments)


@pytest.mark.parametrize("number", range(7))
def test_small_pools_find_what_large_ones_find(number):
    rng = np.random.default_rng(number)
    E = clustered(rng, 1500, 16)
    q = query_near(rng, E)
    constraints = constrained(rng, E, q, number)
    for sharpness in (2, 16):
        plenty, tiny = (
            breadth.select(E, q, k=5, theta=0.5, sharpness=sharpness, effort=effort, **constraints)
            for effort in (EFFORT, replace(EFFORT, pool=8, block=2))
        )
        assert tiny.certificate.swap_optimal
        assert tiny.objective == pytest.approx(plenty.objective, abs=1e-6 if cores.IS_COMPILED else 2e-3)
        assert min(tiny.certificate.bound, plenty.certificate.bound) >= max(tiny.objective, plenty.objective) - 1e-6


def test_torch_finds_the_same():
    pytest.importorskip("torch", reason="torch is not installed (the extra `torch`)")
    from breadth.oracles.torch import TorchOracle

    rng = np.random.default_rng(5)
    E = clustered(rng, 1500, 16)
    q = query_near(rng, E)
    limits = {"distinct": 0.9, "groups": [i % 9 for i in range(1500)], "per_group": 2, "keep_best": True}
    for sharpness in (1, 8):
        asked = {"k": 6, "theta": 0.6, "sharpness": sharpness, **limits}
        found, other = breadth.select(E, q, **asked), breadth.select(TorchOracle(E), q, **asked)
        assert other.objective == pytest.approx(found.objective, abs=1e-6)
        assert large_case(E, q, 6, 0.6, sharpness, limits).breaks(other.ids) == ""


def test_relevance_from_outside():
    rng = np.random.default_rng(6)
    E = clustered(rng, 1500, 16)
    q = query_near(rng, E)
    limits = {"distinct": 0.9, "groups": [i % 9 for i in range(1500)], "per_group": 2, "keep_best": True, "floor": 0.1}
    for sharpness in (1, 8):
        asked = {"k": 6, "theta": 0.6, "sharpness": sharpness, **limits}
        by_query = breadth.select(E, q, **asked)
        by_scores = breadth.select(E, scores=E.astype(np.float64) @ q, **asked)
        assert by_scores.objective == pytest.approx(by_query.objective, abs=1e-6)
        assert set(by_scores.ids.tolist()) == set(by_query.ids.tolist())
        assert by_scores.redundancy == pytest.approx(by_query.redundancy)


@pytest.mark.parametrize("shape", ["clustered", "isotropic", "duplicated"])
def test_for_an_even_sharpness_plain_searches_are_enough(shape):
    """Nothing but `top(query, M)` is asked, seldom more than once, and M is a few hundred rows."""
    rng = np.random.default_rng(8)
    E = SHAPES[shape](rng, 20_000, 24)
    directions = []
    searches = []
    for _ in range(8):
        engine = SearchOnly(E)
        counting = CountingOracle(engine)
        top = engine.top
        engine.top = lambda W, m, top=top: (directions.append(W), top(W, m))[1]
        q = query_near(rng, E).astype(np.float64)
        found = breadth.select(counting, q, k=10)
        assert found.certificate.swap_optimal
        assert all(np.allclose(W / np.linalg.norm(W), q, atol=1e-6) for W in directions)
        directions.clear()
        searches.append(counting.searches)
        if shape == "clustered":
            assert found.stats["held"] <= 600
    if shape == "clustered":
        assert np.mean(np.array(searches) == 1) >= 0.7


@pytest.mark.parametrize("sharpness", [1, 8])
def test_blocks_stay_small_where_constraints_leave_fewer_than_k_rows(monkeypatch, sharpness):
    """Three sources, one passage of each: looking for a fourth must not hold the similarities of all rows."""
    make_room = block.Block._make_room

    def guarded(self, size):
        assert size <= EFFORT.most, f"a block of {size} rows"
        make_room(self, size)

    monkeypatch.setattr(block.Block, "_make_room", guarded)
    rng = np.random.default_rng(9)
    E = isotropic(rng, 20_000, 8)
    labels = (np.arange(len(E)) % 3).tolist()
    for method in ("certified", "frank_wolfe"):
        asked = {"k": 5, "theta": 0.7, "sharpness": sharpness, "groups": labels, "per_group": 1}
        found = breadth.select(E, E[0], method=method, **asked)
        assert sorted(labels[i] for i in found.ids) == [0, 1, 2]
        assert found.stats["asked"] == 5


def test_small_cases_with_and_without_the_compiled_core(core):
    for case in cases(1234, 40):
        found = solve(case, effort=TINY)
        if found is not None:
            check(case, found)


# Time


@pytest.mark.parametrize("sharpness", [1, 8])
def test_without_time_the_set_is_allowed_and_the_bound_holds(sharpness):
    for case in cases(sharpness, int(60 * MANY), sharpness=sharpness):
        found = solve(case, time_limit=0.0, effort=TINY)
        if found is not None:
            assert case.breaks(found.ids) == ""
            assert found.certificate.bound >= case.optimum(found.k) - PRECISION
            assert not found.certificate.swap_optimal or found.stats["stopped"] == "swap_optimal"


def test_proving_never_makes_it_worse():
    for case in cases(21, int(40 * MANY)):
        plain, proved = solve(case), solve(case, prove=0.2)
        if plain is not None:
            check(case, proved)
            assert proved.certificate.bound <= plain.certificate.bound + 1e-9
            if proved.stats["stopped"] == "optimal":
                assert proved.certificate.gap <= PRECISION
            assert proved.objective >= plain.objective - 1e-9


# Impossible combinations


def copies_of(count=10):
    E = isotropic(np.random.default_rng(0), count, 6).astype(np.float64)
    return np.repeat(E, 2, axis=0)


IMPOSSIBLE = {
    "pinned copies": ({"pinned": [0, 1], "distinct": 0.9}, "pinned and distinct contradict .*rows 0 and 1"),
    "pinned of one group": (
        {"pinned": [0, 2], "groups": ["a"] * 20, "per_group": 1},
        "pinned and per_group contradict .*2 pinned rows are of the group 'a', but per_group is 1",
    ),
    "pinned and costly": (
        {"pinned": [0, 2], "costs": [4] * 20, "budget": 7},
        "pinned and budget contradict .*cost 8, more than budget=7",
    ),
    "pinned and excluded": ({"pinned": [3], "excluded": [4, 3]}, "pinned and excluded contradict .*row 3"),
    "more pinned than k": ({"pinned": [0, 2, 4, 6, 8]}, "pinned names 5 rows, but k is 4"),
    "floor too high": ({"floor": 1.5}, r"no row .* may be in a set.*floor=1.5 is above the relevance of every row"),
    "all excluded": ({"excluded": range(20)}, "excluded names all 20 rows"),
    "nothing affordable": ({"costs": [9] * 20, "budget": 8}, "no single row costs at most budget=8"),
}


@pytest.mark.parametrize("name", sorted(IMPOSSIBLE))
@pytest.mark.parametrize("sharpness", [1, 8])
def test_impossible_combinations_are_an_error_that_names_the_conflict(name, sharpness):
    constraints, message = IMPOSSIBLE[name]
    E = copies_of()
    with pytest.raises(InputError, match=message):
        breadth.select(E, E[0], k=4, sharpness=sharpness, **constraints)
    with pytest.raises(InputError, match=message):
        breadth.frontier(E, E[0], k=4, sharpness=sharpness, **constraints)
    with pytest.raises(InputError, match=message):
        breadth.select(E, E[0], k=4, sharpness=sharpness, keep=0.9, **constraints)


def test_what_the_pinned_rows_make_impossible_is_their_error_alone():
    """The same rows without the pin are no contradiction."""
    E = copies_of()
    assert len(breadth.select(E, E[0], k=4, pinned=[0], distinct=0.9, sharpness=8).ids) == 4
    pinned_far_below = breadth.select(E, E[0], k=4, pinned=[19], floor=float(unit(E[0]) @ E[0]) - 0.1, sharpness=8)
    assert 19 in pinned_far_below.ids  # pinned rows need not reach the floor
