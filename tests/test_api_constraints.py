"""Sets that serve a reader, through the public functions: defaults, constraints, copies, frontiers, explanations."""

from __future__ import annotations

import pickle
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

import breadth
from breadth import ArrayOracle, InputError, metrics
from breadth.methods.registry import METHODS
from breadth.near import CLOSE_VECTORS
from breadth.settings import DEFAULT, PAPER
from tests import cores
from tests.allowed import Case, random_case
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import clustered, isotropic, query_near, unit


@pytest.fixture
def copied(rng):
    """Two hundred passages, each three times: once exactly, once nearly (cosine about 0.99)."""
    E = clustered(rng, 200, 32).astype(np.float64)
    nearly = unit(E + 0.12 * unit(rng.standard_normal(E.shape)))
    rows = np.concatenate((E, E, nearly))
    return rows, query_near(rng, E)


def pair_cosines(E, ids):
    return [float(E[i] @ E[j]) for i, j in combinations(ids, 2)]


# Defaults


def test_the_default_setting_is_used_where_nothing_is_passed(copied):
    E, q = copied
    found = breadth.select(E, q, k=8)
    spelled_out = breadth.select(
        E, q, k=8, theta=DEFAULT.theta, sharpness=DEFAULT.sharpness, distinct=DEFAULT.distinct,
        keep_best=DEFAULT.keep_best, on_topic=DEFAULT.on_topic,
    )  # fmt: skip
    assert (found.theta, found.sharpness, found.method) == (DEFAULT.theta, DEFAULT.sharpness, "certified")
    assert list(found.ids) == list(spelled_out.ids)
    assert found.certificate == spelled_out.certificate
    assert [list(c) for c in found.copies] == [list(c) for c in spelled_out.copies]


@pytest.mark.parametrize("field", ["theta", "sharpness", "distinct", "keep_best", "on_topic"])
def test_every_part_of_the_default_setting_takes_effect(monkeypatch, copied, field):
    """Another default gives the set of that setting: none of them is written down a second time."""
    other = {"theta": 0.95, "sharpness": 2, "distinct": 0.5, "keep_best": False, "on_topic": 0.9}[field]
    changed = replace(DEFAULT, **{field: other})
    E, q = copied
    for module in (breadth.api, breadth.settings):
        monkeypatch.setattr(module, "DEFAULT", changed)
    spelled_out = {name: getattr(changed, name) for name in ("theta", "sharpness", "distinct", "keep_best", "on_topic")}
    found, wanted = breadth.select(E, q, k=8), breadth.select(E, q, k=8, **spelled_out)
    assert list(found.ids) == list(wanted.ids)
    assert found.objective == wanted.objective


def test_a_passed_value_wins_over_the_default(copied):
    E, q = copied
    assert breadth.select(E, q, k=8, theta=0.2).theta == 0.2
    assert breadth.select(E, q, k=8, theta=0.2).sharpness == DEFAULT.sharpness
    together = breadth.select(E, q, k=8, distinct=1.0)
    assert max(pair_cosines(E, breadth.select(E, q, k=8, distinct=0.5, on_topic=0).ids)) <= 0.5
    assert together.copies == ()


@pytest.mark.parametrize("method", [m for m in breadth.methods() if m not in ("certified", "exact")])
def test_other_methods_are_the_papers_unless_told_otherwise(copied, method):
    E, q = copied
    found = breadth.select(E, q, k=6, method=method)
    sharpness = METHODS[method].sharpness
    assert (found.theta, found.sharpness) == (PAPER.theta, sharpness)
    paper = breadth.select(E, q, k=6, method=method, theta=0.7, sharpness=sharpness, distinct=1.0, keep_best=False)
    assert list(found.ids) == list(paper.ids)
    assert found.copies == ()


def test_sharpness_1_is_the_papers_objective_with_every_set_allowed(copied):
    E, q = copied
    found = breadth.select(E, q, k=6, sharpness=1)
    assert (found.theta, found.sharpness, found.copies) == (PAPER.theta, 1, ())
    free = breadth.select(E, q, k=6, sharpness=1, distinct=1.0, keep_best=False)
    assert list(found.ids) == list(free.ids)
    assert found.objective == pytest.approx(0.7 * found.relevance + 0.3 * (found.diversity - 1))


@pytest.mark.parametrize("sharpness", [None, 1, 2, 16])
@pytest.mark.parametrize("k", [1, 5, 40])
def test_theta_1_is_exactly_top_k(copied, sharpness, k):
    E, q = copied
    found = breadth.select(E, q, k=k, theta=1.0, sharpness=sharpness, distinct=1.0, on_topic=0.0)
    ranked = breadth.select(E, q, k=k, method="topk")
    assert list(found.ids) == list(ranked.ids)
    assert found.certificate.optimal
    assert (found.stats.get("asked"), found.copies) == (None, ())
    with_filter = breadth.select(E, q, k=k, theta=1.0, sharpness=sharpness, distinct=0.95)
    assert k == 1 or max(pair_cosines(E, with_filter.ids)) <= 0.95


def test_a_distinct_of_1_allows_copies(copied):
    E, q = copied
    found = breadth.select(E, q, k=8, theta=0.999, distinct=1.0)
    assert max(pair_cosines(E, found.ids)) > 0.999
    assert (found.copies, found.k) == ((), 8)


@pytest.mark.parametrize("theta", [0.3, 0.7, 0.95])
@pytest.mark.parametrize("k", [2, 5, 20])
def test_by_default_there_are_no_near_copies_and_the_best_hit_is_in(copied, theta, k):
    E, q = copied
    for vectors in (E, E.astype(np.float32), SearchOnly(E)):
        found = breadth.select(vectors, q, k=k, theta=theta)
        assert max(pair_cosines(E, found.ids)) <= DEFAULT.distinct + 1e-6
        assert E[found.ids[0]] @ q == pytest.approx((E @ q).max(), abs=1e-6)
        assert metrics.near_copies(E[found.ids], DEFAULT.distinct + 1e-6).sum() == 0
        assert found.k == k


def test_nor_with_keep_auto_frontier_and_many(copied):
    E, q = copied[0][::4], copied[1]
    found = [
        breadth.select(E, q, k=6, keep=0.95),
        breadth.select(E, q, k=6, theta="auto"),
        *breadth.frontier(E, q, k=6),
        *breadth.select_many(E, np.array([q, E[3], E[100]]), k=6)[:1],
        breadth.select(E, scores=E @ q, k=6),
    ]
    for each in found:
        assert max(pair_cosines(E, each.ids)) <= DEFAULT.distinct + 1e-6
        assert each.scores.max() == pytest.approx((E @ q).max())
        assert each.sharpness == DEFAULT.sharpness


# Copies


@pytest.mark.parametrize("distinct", [0.8, 0.95, 0.999])
@pytest.mark.parametrize("sharpness", [1, 12])
def test_copies_are_close_to_the_member_they_belong_to(copied, distinct, sharpness):
    E, q = copied
    found = breadth.select(E, q, k=7, theta=0.6, distinct=distinct, sharpness=sharpness, keep_best=True)
    assert len(found.copies) == found.k
    listed = [copy.id for copies in found.copies for copy in copies]
    assert len(listed) == len(set(listed))  # each copy stands with one member
    assert not set(listed) & set(found.ids.tolist())
    for member, near in zip(found.ids, found.copies, strict=True):
        assert {copy.relation for copy in near} <= {CLOSE_VECTORS}
        for copy in (one.id for one in near):
            cosines = E[found.ids] @ E[copy]
            assert cosines[found.ids.tolist().index(member)] > distinct - 1e-6
            assert E[member] @ E[copy] == pytest.approx(cosines.max())
    best = int(np.argmax(E @ q)) % 200
    trio = {best, best + 200}
    member = next(place for place, i in enumerate(found.ids) if i in trio)
    assert trio <= {
        int(found.ids[member]),
        *(copy.id for copy in found.copies[member]),
    }  # the exact copy of the best hit is listed


def test_excluded_rows_are_no_copies(copied):
    E, q = copied
    best = int(np.argmax(E @ q)) % 200
    found = breadth.select(E, q, k=5, excluded=[best + 200])
    assert best + 200 not in {copy.id for copies in found.copies for copy in copies}


def test_a_selection_can_be_pickled(copied):
    E, q = copied
    limits = {"groups": lambda ids: [int(i) % 9 for i in ids], "per_group": 2, "pinned": [4]}
    found = breadth.select(E, q, k=6, **limits)
    again = pickle.loads(pickle.dumps(found))
    assert list(again.ids) == list(found.ids)
    assert [list(c) for c in again.copies] == [list(c) for c in found.copies]
    assert (again.redundancy, again.sharpness, again.certificate) == (
        found.redundancy, found.sharpness, found.certificate,
    )  # fmt: skip
    curve = pickle.loads(pickle.dumps(breadth.frontier(E, q, k=4, **limits)))
    assert len(curve) == 9


# Ways to pass the constraints


def test_labels_and_costs_as_sequences_mappings_and_functions(copied):
    E, q = copied
    labels, costs = [f"s{i % 5}" for i in range(600)], [1 + i % 7 for i in range(600)]
    ways = [
        (labels, costs),
        (np.array(labels), np.array(costs, dtype=float)),
        (dict(enumerate(labels)), dict(enumerate(costs))),
        (lambda ids: [labels[i] for i in ids], lambda ids: np.array(costs)[ids]),
        (iter(labels), iter(costs)),
    ]
    found = [breadth.select(E, q, k=5, groups=g, per_group=1, costs=c, budget=15) for g, c in ways]
    assert len({tuple(each.ids.tolist()) for each in found}) == 1
    assert len({labels[i] for i in found[0].ids}) == len(found[0].ids)
    assert sum(costs[i] for i in found[0].ids) <= 15


def test_ids_as_any_collection_of_whole_numbers(copied):
    E, q = copied
    ways = [[3, 7], (3, 7), {3, 7}, np.array([3, 7]), np.array([3, 7], dtype=np.uint16), range(3, 8, 4), iter([3, 7])]
    found = [breadth.select(E, q, k=5, pinned=way) for way in ways]
    assert len({frozenset(each.ids.tolist()) for each in found}) == 1
    assert {3, 7} <= set(found[0].ids.tolist())
    ways = [[3, 7], (3, 7), {3, 7}, np.array([3, 7]), iter([3, 7])]
    assert not any({3, 7} & set(breadth.select(E, E[3], k=5, excluded=way).ids.tolist()) for way in ways)
    assert list(breadth.select(E, q, k=5, pinned=[], excluded=()).ids) == list(breadth.select(E, q, k=5).ids)


def test_many_queries_share_the_constraints(copied):
    E, _ = copied
    limits = {"groups": [i % 11 for i in range(600)], "per_group": 1, "excluded": [0, 1, 2], "floor": 0.05}
    together = breadth.select_many(E, E[[0, 50, 100]], k=5, **limits)
    for q, found in zip(E[[0, 50, 100]], together, strict=True):
        alone = breadth.select(E, q, k=5, **limits)
        assert sorted(found.ids) == sorted(alone.ids)
        assert Case(E, q, 5, 0.7, 12, limits).breaks(found.ids) == ""
        assert len(found.copies) == found.k
        assert found.explain() is not None


BAD = {
    "sharpness 0": ({"sharpness": 0}, "sharpness must be at least 1, got 0"),
    "sharpness odd": ({"sharpness": 3}, "sharpness must be 1 or an even number, got 3"),
    "sharpness not whole": ({"sharpness": 2.0}, "sharpness must be a whole number, got 2.0"),
    "sharpness a truth value": ({"sharpness": True}, "sharpness must be a whole number, got True"),
    "distinct above 1": ({"distinct": 1.5}, r"distinct must be in \[-1, 1\], got 1.5"),
    "distinct NaN": ({"distinct": float("nan")}, r"distinct must be in \[-1, 1\], got nan"),
    "distinct a word": ({"distinct": "x"}, "distinct must be a number.*got 'x'"),
    "groups alone": ({"groups": ["a"] * 30}, "groups needs per_group"),
    "per_group alone": ({"per_group": 2}, "per_group needs groups"),
    "groups too few": ({"groups": ["a"] * 29, "per_group": 1}, "groups must have one entry .*30 rows, got 29 entries"),
    "groups a word": ({"groups": "a" * 30, "per_group": 1}, "groups must have one entry"),
    "groups a number": ({"groups": 3, "per_group": 1}, "groups must have one entry .*got 3"),
    "groups of lists": ({"groups": [[i] for i in range(30)], "per_group": 1}, "groups"),
    "groups of arrays": ({"groups": np.zeros((30, 2)), "per_group": 1}, "groups"),
    "groups without a row": ({"groups": {0: "a"}, "per_group": 1}, "groups has no entry for row"),
    "groups that come back short": (
        {"groups": lambda ids: ["a"], "per_group": 1},
        "must return an entry",
    ),
    "groups that come back as a number": ({"groups": lambda ids: 5, "per_group": 1}, "groups"),
    "per_group 0": ({"groups": ["a"] * 30, "per_group": 0}, "per_group must be at least 1, got 0"),
    "per_group not whole": ({"groups": ["a"] * 30, "per_group": 1.5}, "per_group must be a whole number"),
    "pinned a number": ({"pinned": 3}, "pinned must be a list of row ids, got 3"),
    "pinned a word": ({"pinned": "ab"}, "pinned must be a list of row ids, got 'ab'"),
    "pinned beyond": ({"pinned": [30]}, "pinned names row 30, but the rows are 0 to 29"),
    "pinned negative": ({"pinned": [-1]}, "pinned names row -1"),
    "pinned twice": ({"pinned": [1, 2, 1]}, "pinned names row 1 twice"),
    "pinned not whole": ({"pinned": [1.0]}, "pinned must be a list of row ids .whole numbers."),
    "pinned truth values": ({"pinned": [True]}, "pinned must be a list of row ids .whole numbers."),
    "pinned ragged": ({"pinned": [[1], [2, 3]]}, "pinned must be a list of row ids"),
    "pinned in two dimensions": ({"pinned": [[1, 2]]}, "pinned must be a list of row ids"),
    "more pinned than k": ({"pinned": [0, 1, 2, 3]}, "pinned names 4 rows, but k is 3"),
    "excluded beyond": ({"excluded": [99]}, "excluded names row 99, but the rows are 0 to 29"),
    "all excluded": ({"excluded": range(30)}, "excluded names all 30 rows"),
    "pinned and excluded": ({"pinned": [4], "excluded": [3, 4]}, "pinned and excluded contradict .*row 4"),
    "floor NaN": ({"floor": float("nan")}, "floor must be .*got nan"),
    "floor a word": ({"floor": "x"}, "floor must be a finite number, got 'x'"),
    "floor above all": ({"floor": 2.0}, "floor=2 is above the relevance of every row"),
    "keep_best a number": ({"keep_best": 1}, "keep_best must be True or False, got 1"),
    "costs alone": ({"costs": [1] * 30}, "costs needs budget"),
    "budget alone": ({"budget": 3}, "budget needs costs"),
    "costs too few": ({"costs": [1] * 29, "budget": 3}, "costs must have one entry .*30 rows, got 29 entries"),
    "costs negative": ({"costs": [1] * 29 + [-1], "budget": 3}, "costs: row 29 costs -1.* at least 0"),
    "costs NaN": ({"costs": [float("nan")] * 30, "budget": 3}, "costs: row 0 costs nan"),
    "costs words": ({"costs": ["a"] * 30, "budget": 3}, "costs must be numbers"),
    "costs of a function negative": ({"costs": lambda ids: [-1] * len(ids), "budget": 3}, "costs: row .* costs -1"),
    "budget negative": ({"costs": [1] * 30, "budget": -1}, "budget must be at least 0, got -1"),
    "budget a word": ({"costs": [1] * 30, "budget": "x"}, "budget must be a number.*got 'x'"),
    "budget too small": ({"costs": [9] * 30, "budget": 8}, "no single row costs at most budget=8"),
    "unknown": ({"per_source": 2}, "has no option 'per_source'"),
}


@pytest.mark.parametrize("name", sorted(BAD))
def test_wrong_arguments_are_errors_that_say_what_to_do(rng, name):
    arguments, message = BAD[name]
    E = isotropic(rng, 30, 8)
    with pytest.raises(InputError, match=message):
        breadth.select(E, E[0], k=3, **arguments)
    with pytest.raises(InputError, match=message):
        breadth.select_many(E, E[:2], k=3, **arguments)
    if name != "unknown":
        with pytest.raises(InputError, match=message):
            breadth.frontier(E, E[0], k=3, **arguments)


def test_a_frontier_names_its_constraints(rng):
    E = isotropic(rng, 30, 8)
    with pytest.raises(
        InputError, match="frontier has no argument 'method'; its constraints are distinct, texts, prefer, groups"
    ):
        breadth.frontier(E, E[0], k=3, method="mmr")


def test_an_engine_with_ids_of_its_own_wants_mappings(rng):
    E = isotropic(rng, 30, 8)
    with pytest.raises(InputError, match="groups must be a mapping from ids or a function of ids"):
        breadth.select(SearchOnly(E), E[0], k=3, groups=["a"] * 30, per_group=1)
    with pytest.raises(InputError, match="pinned"):
        breadth.select(SearchOnly(E), E[0], k=3, pinned=[-1])  # no engine has negative ids
    found = breadth.select(SearchOnly(E), E[0], k=3, groups={i: i % 2 for i in range(30)}, per_group=1)
    assert found.k == 2
    with pytest.raises(InputError, match=r"no row of the collection may be in a set.*excluded names 30 rows"):
        breadth.select(SearchOnly(E), E[0], k=3, excluded=range(30))


# θ without guessing


def frontier_cases():
    rng = np.random.default_rng(11)
    E = clustered(rng, 150, 16).astype(np.float64)
    labels = [None if i % 5 == 0 else i % 13 for i in range(150)]
    yield E, query_near(rng, E), {}
    yield E, query_near(rng, E), {"distinct": 0.8}
    yield E, query_near(rng, E), {"groups": labels, "per_group": 1, "keep_best": True}
    yield E, query_near(rng, E), {"pinned": [7, 9], "excluded": list(range(20, 60))}
    yield E, query_near(rng, E), {"floor": 0.1, "distinct": 0.9}


@pytest.mark.parametrize("sharpness", [1, 2, 12])
@pytest.mark.parametrize("number", range(5))
def test_along_a_frontier_neither_relevance_nor_redundancy_falls(sharpness, number):
    E, q, limits = list(frontier_cases())[number]
    thetas = (0.9, 0.25, 0.6, 1.0)
    curve = breadth.frontier(E, q, k=6, thetas=thetas, sharpness=sharpness, **limits)
    assert [s.theta for s in curve] == sorted(thetas)
    for below, above in zip(curve.selections, curve.selections[1:], strict=False):
        assert above.relevance >= below.relevance - 1e-9
        assert above.redundancy >= below.redundancy - 1e-9
    for found in curve:
        case = Case(E, q, 6, found.theta, sharpness, limits)
        assert case.breaks(found.ids) == ""
        assert found.objective == pytest.approx(case.objective(found.ids))
        alone = breadth.select(
            E, q, k=6, theta=found.theta, sharpness=sharpness, **{"distinct": 1.0, "keep_best": False, **limits}
        )
        assert found.certificate.bound >= alone.objective - 2e-6
        assert found.objective >= alone.objective - (1e-4 if cores.IS_COMPILED else 5e-3)
    if "distinct" not in limits and not limits.get("keep_best"):
        ranked = breadth.select(E, q, k=6, method="topk", **limits)
        assert curve.top_relevance == pytest.approx(ranked.relevance)


def test_frontier_bounds_by_brute_force():
    rng = np.random.default_rng(17)
    done = 0
    while done < 40:
        case = random_case(rng, [kind for kind in ("distinct", "groups", "pinned", "floor") if rng.uniform() < 0.4])
        if not case.is_clear or case.largest == 0 or case.k == 1:
            continue
        done += 1
        curve = breadth.frontier(
            case.E, case.q, k=case.k, thetas=(0.2, 0.6, 0.9), sharpness=case.sharpness, **case.constraints
        )
        for found in curve:
            at = replace(case, theta=found.theta)
            assert at.breaks(found.ids) == ""
            assert found.certificate.bound >= at.optimum(found.k) - 2e-6, at
            if found.certificate.swap_optimal:
                assert at.best_swap(found.ids) <= 2e-6, at


@pytest.mark.parametrize("sharpness", [None, 1])
@pytest.mark.parametrize("share", [0.8, 1.0])
def test_keep_keeps_that_share_of_the_relevance_that_is_allowed(copied, sharpness, share):
    E, q = copied[0][::4], copied[1]
    limits = {"distinct": 0.95, "groups": [i % 9 for i in range(len(E))], "per_group": 1}
    found = breadth.select(E, q, k=6, keep=share, sharpness=sharpness, **limits)
    ranked = breadth.select(E, q, k=6, method="topk", **limits)
    assert found.relevance >= share * ranked.relevance - 1e-6
    assert found.stats["keep"] == share
    assert Case(E, q, 6, 0.5, 1, limits).breaks(found.ids) == ""
    if share == 0.8:
        assert found.theta < 1


def test_automatic_theta_respects_constraints_and_judges(copied):
    E, q = copied
    limits = {"groups": [i % 9 for i in range(600)], "per_group": 1, "pinned": [17]}
    for choose in (None, lambda s: -s.redundancy):
        for sharpness in (None, 1):
            found = breadth.select(E, q, k=6, theta="auto", choose=choose, sharpness=sharpness, **limits)
            assert Case(E, q, 6, 0.5, 1, limits).breaks(found.ids) == ""
            assert found.certificate is not None


# Explanations


def explained(case):
    """For each member the best allowed replacement and what it costs, by trying every row."""
    found = breadth.select(case.E, case.q, **case.arguments)
    for reason in found.explain():
        rest = [int(i) for i in found.ids if i != reason.id]
        options = {i: case.objective([*rest, i]) for i in range(case.n) if i not in found.ids}
        allowed = {i: v for i, v in options.items() if not case.breaks([*rest, i])}
        yield case, found, reason, rest, allowed


@pytest.mark.parametrize("sharpness", [1, 2, 12])
def test_the_replacement_named_is_allowed_and_the_best(sharpness):
    rng = np.random.default_rng(sharpness)
    named = 0
    for _ in range(60):
        kinds = [kind for kind in ("distinct", "groups", "pinned", "excluded", "floor", "costs") if rng.uniform() < 0.4]
        case = random_case(rng, kinds, sharpness=sharpness)
        if not case.is_clear or not case.largest:
            continue
        for at, found, reason, rest, allowed in explained(case):
            if not allowed:
                assert (reason.replacement, reason.loss) == (None, None), at
                continue
            assert reason.replacement in allowed, at
            named += 1
            assert allowed[reason.replacement] == pytest.approx(max(allowed.values()), abs=1e-6)
            assert reason.loss == pytest.approx(found.objective - allowed[reason.replacement], abs=1e-9)
            assert reason.loss >= -2e-6
            if rest:
                cosines = at.cosines[reason.id, rest]
                assert reason.similarity == pytest.approx(cosines.max())
                assert at.cosines[reason.id, reason.neighbour] == pytest.approx(cosines.max())
    assert named > 50


@pytest.mark.parametrize("sharpness", [1, 12])
@pytest.mark.parametrize("more", [{}, {"groups": [i % 40 for i in range(2000)], "per_group": 1, "excluded": [5]}])
def test_explanations_in_a_larger_collection(sharpness, more):
    rng = np.random.default_rng(0)
    E = clustered(rng, 2000, 24).astype(np.float64)
    q = query_near(rng, E)
    limits = {"distinct": 0.9, **more}
    found = breadth.select(E, q, k=5, theta=0.7, sharpness=sharpness, **limits)
    case = Case(E, q, 5, 0.7, sharpness, limits)
    for reason in found.explain():
        assert reason.replacement is not None
        rest = [int(i) for i in found.ids if i != reason.id]
        assert case.breaks([*rest, reason.replacement]) == ""
        assert reason.loss == pytest.approx(found.objective - case.objective([*rest, reason.replacement]))
        assert reason.loss >= -1e-6
        others = [i for i in range(2000) if i not in found.ids and not case.breaks([*rest, i])]
        best = max(case.objective([*rest, i]) for i in others)
        assert found.objective - reason.loss == pytest.approx(best, abs=1e-6)


def test_locked_rows_have_no_replacement(copied):
    E, q = copied
    best = int(np.argmax(E @ q))
    found = breadth.select(E, q, k=5, pinned=[33], keep_best=True)
    reasons = {reason.id: reason for reason in found.explain()}
    for locked in (33, int(found.ids[0])):
        assert (reasons[locked].replacement, reasons[locked].loss) == (None, None)
    assert E[found.ids[0]] @ q == pytest.approx(E[best] @ q)
    assert sum(reason.replacement is not None for reason in reasons.values()) == 3
    assert "33" in str(found.explain())


def test_the_oracle_may_be_used_again(copied):
    """Nothing of a constrained query is left in the oracle."""
    E, q = copied
    oracle = ArrayOracle(E)
    before = breadth.select(oracle, q, k=5)
    breadth.select(oracle, q, k=5, excluded=before.ids.tolist(), distinct=0.5, sharpness=1)
    assert list(breadth.select(oracle, q, k=5).ids) == list(before.ids)
