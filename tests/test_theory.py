"""The paper's theorems and DESIGN's lemmas, on the package's own functions: relaxation, Frank-Wolfe, exchange gains,
sharp similarity, pools, caps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import breadth
from breadth import ArrayOracle, Problem
from breadth.constraints import NO_CONSTRAINTS, Constraints
from breadth.constraints.distinct import Distinct
from breadth.constraints.groups import Groups
from breadth.drivers import run
from breadth.feasible import allows
from breadth.methods.frank_wolfe import ZERO_GAP, Iterate, Move, climb, exact_step
from breadth.oracles import describe
from breadth.problem import exchange_gain, floor
from breadth.relaxation import Relaxation
from breadth.solve.block import Block
from breadth.solve.effort import EFFORT
from breadth.solve.pool import Pool
from tests import cores, dense
from tests.allowed import Case, random_case
from tests.strategies import instances
from tests.synthetic import SHAPES, unit

below_one = st.floats(0, 0.99)


def fractional_point(case):
    """A feasible point of [0,1]^n with sum k, some coordinates at their limits and at least two between."""
    n, k = len(case.E), case.k
    x = np.full(n, k / n)
    for _ in range(3 * n):
        i, j = case.rng.choice(n, 2, replace=False)
        move = min(1 - x[i], x[j]) * case.rng.choice([0.3, 0.7, 1.0])
        x[i], x[j] = x[i] + move, x[j] - move
    return x


def fractional(x):
    return np.flatnonzero((x > 1e-9) & (x < 1 - 1e-9))


def indicator(n, S):
    x = np.zeros(n)
    x[list(S)] = 1
    return x


def value(relaxation, E, x):
    """f(x)."""
    return relaxation.value(E.T @ x, float(x @ x))


def gradient(relaxation, E, x):
    """∇f(x)."""
    return relaxation.gradient(E @ relaxation.problem.direction(E.T @ x), x)


def curvature(relaxation, E, d):
    """C along d: f(x + γd) = f(x) + γ⟨∇f(x), d⟩ + γ²C/2."""
    return relaxation.curvature(float(d @ d), E.T @ d)


def strict_local_maximiser(relaxation, E, S):
    """Every row outside has a smaller gradient than every row inside."""
    x = indicator(len(E), S)
    slope = gradient(relaxation, E, x)
    return slope[x == 0].max() < slope[x == 1].min() - 1e-9


def iterate(E, x):
    """The iterate of the package at x, with all rows held."""
    return Iterate(0.0, len(E), np.arange(len(E)), E, x.copy(), E.T @ x)


def frank_wolfe(relaxation, E, x, max_iterations):
    """Algorithm 1 from x, on the package's own loop: the last x, and how it went."""
    oracle, at = ArrayOracle(E), iterate(E, x)

    def step_size(move, t):
        return exact_step(move, t, relaxation, float(len(E)))

    went = run(climb(relaxation, describe(oracle), at, step_size, max_iterations), oracle)
    last = np.full(len(E), at.uniform)
    np.add.at(last, at.ids, at.weights)
    return last, went


# Theorem 1: the relaxation is tight for λ ≥ 2.


@given(instances(), st.floats(2, 6))
def test_theorem_1_pairwise_moves_never_lower_f_and_end_integral(case, penalty):
    relaxation = Relaxation(case.problem(), penalty)
    x = fractional_point(case)
    moves = 0
    while len(inside := fractional(x)) >= 2:
        slope = gradient(relaxation, case.E, x)
        i, j = inside[np.argmax(slope[inside])], inside[np.argmin(slope[inside])]
        if i == j:
            i, j = inside[:2]
        before = value(relaxation, case.E, x)
        delta = min(1 - x[i], x[j])
        x[i], x[j] = x[i] + delta, x[j] - delta
        assert value(relaxation, case.E, x) >= before - 1e-9
        moves += 1
        assert moves <= len(x)
    assert len(fractional(x)) == 0
    assert x.sum() == pytest.approx(case.k)


@given(instances(max_n=8), st.floats(2, 4))
def test_theorem_1_the_relaxation_has_the_value_of_the_best_set(case, penalty):
    problem = case.problem()
    relaxation = Relaxation(problem, penalty)
    values = {S: problem.value(case.E[list(S)]) for S in dense.all_sets(len(case.E), case.k)}
    best = max(values, key=values.__getitem__)
    top = value(relaxation, case.E, indicator(len(case.E), best))
    assert top == pytest.approx(values[best] + relaxation.offset(), abs=1e-9)
    for _ in range(20):
        assert value(relaxation, case.E, fractional_point(case)) <= top + 1e-9


@given(instances(thetas=below_one))
def test_theorem_1_needs_its_penalty(case):
    """At λ = 0 the relaxation is concave: it bends the other way along every direction."""
    relaxation = Relaxation(case.problem(), 0.0)
    d = fractional_point(case) - fractional_point(case)
    assert curvature(relaxation, case.E, d) <= 1e-9


# Theorem 2: what is not integral is no local maximiser, and Algorithm 1 ends at one.


@given(instances(thetas=below_one), st.floats(2, 6))
def test_theorem_2_positive_curvature_between_any_two_fractional_rows(case, penalty):
    relaxation = Relaxation(case.problem(), penalty)
    W = case.E @ case.E.T
    inside = fractional(fractional_point(case))
    assume(len(inside) >= 2)
    for i in inside:
        for j in inside:
            if i != j and W[i, j] > -1 + 1e-6:
                d = np.zeros(len(W))
                d[i], d[j] = 1, -1
                bend = curvature(relaxation, case.E, d)
                assert bend == pytest.approx(4 * (1 - case.theta) * (penalty - 1 + W[i, j]))
                assert bend > 0


@given(st.integers(3, 8), st.data())
def test_theorem_2_a_fractional_stationary_point_is_a_saddle(n, data):
    k = data.draw(st.integers(2, n - 1))
    E = np.column_stack((np.eye(n) * np.sqrt(0.91), np.full(n, 0.3)))  # all rows alike for the last axis
    relaxation = Relaxation(Problem(np.eye(n + 1)[n], k, 0.5))
    x = np.full(n, k / n)
    slope = gradient(relaxation, E, x)
    assert np.ptp(slope) < 1e-12
    s = indicator(n, range(k))
    assert relaxation.gap(float(slope @ s), E.T @ x, float(x @ x)) == pytest.approx(0, abs=1e-9)
    moved = x.copy()
    moved[0], moved[1] = moved[0] + 0.01, moved[1] - 0.01
    assert value(relaxation, E, moved) > value(relaxation, E, x)


@given(instances(thetas=below_one), st.floats(2, 5))
def test_theorem_2_frank_wolfe_ends_at_an_integral_local_maximiser(case, penalty):
    relaxation = Relaxation(case.problem(), penalty)
    x, went = frank_wolfe(relaxation, case.E, fractional_point(case), 2000)
    assume(went.converged and len(fractional(x)) == 0)
    slope = gradient(relaxation, case.E, x)
    assert slope[x == 0].max() <= slope[x == 1].min() + ZERO_GAP * relaxation.problem.scale
    best = value(relaxation, case.E, x)
    for _ in range(30):
        nearby = x + 1e-4 * (fractional_point(case) - x)
        assert value(relaxation, case.E, nearby) <= best + 1e-9


@given(instances(), st.floats(0, 5))
def test_every_iteration_of_frank_wolfe_takes_the_best_point_of_its_line(case, penalty):
    """The move that the package computes from a few numbers is the one of the dense form, and f never falls."""
    relaxation, E = Relaxation(case.problem(), penalty), case.E
    x = fractional_point(case)
    slope = gradient(relaxation, E, x)
    vertex = relaxation.problem.allowed.best(slope)
    s = indicator(len(E), vertex)
    at = iterate(E, x)
    move = Move.towards(vertex, at, float(slope[vertex].sum()), relaxation)
    assert move.gap == pytest.approx(float(slope @ (s - x)), abs=1e-9)
    assert move.gap >= -1e-9
    assert move.squared == pytest.approx(float((s - x) @ (s - x)), abs=1e-9)
    assume(move.gap > ZERO_GAP * relaxation.problem.scale)  # else Algorithm 1 ends here
    gamma = exact_step(move, 0, relaxation, float(len(E)))
    reached = value(relaxation, E, x + gamma * (s - x))
    for other in np.linspace(0, 1, 11):
        assert reached >= value(relaxation, E, x + other * (s - x)) - 1e-8
    at.step(vertex, move.image, gamma)
    np.testing.assert_allclose(at.v, E.T @ (x + gamma * (s - x)), atol=1e-9)
    assert relaxation.value(at.v, at.squared) == pytest.approx(reached, abs=1e-8)


# Theorem 3: a larger penalty adds local maximisers, and removes none.


@given(instances(max_n=8, thetas=below_one), st.floats(2, 4), st.floats(0.01, 4))
def test_theorem_3_local_maximisers_persist_as_the_penalty_grows(case, penalty, more):
    small, large = Relaxation(case.problem(), penalty), Relaxation(case.problem(), penalty + more)
    for S in dense.all_sets(len(case.E), case.k):
        if strict_local_maximiser(small, case.E, S):
            assert strict_local_maximiser(large, case.E, S)


# Theorem 4: close to a strict local maximiser one step ends it.


@given(instances(max_n=8, thetas=below_one))
def test_theorem_4_one_step_from_a_neighbourhood(case):
    relaxation, E, n = Relaxation(case.problem()), case.E, len(case.E)
    largest = relaxation.problem.coupling * max(relaxation.penalty, n)  # no eigenvalue of the Hessian is larger
    for S in dense.all_sets(n, case.k):
        star = indicator(n, S)
        slope = gradient(relaxation, E, star)
        margin = slope[star == 1].min() - slope[star == 0].max()
        if margin > 1e-2:
            d = fractional_point(case) - star
            start = star + min(0.1, margin / (4 * largest * max(float(np.linalg.norm(d)), 1e-9))) * d
            left = float(start[star == 0].sum())
            x, went = frank_wolfe(relaxation, E, start, 1)
            if margin * left / 2 > ZERO_GAP * relaxation.problem.scale:  # else the start is as good as the set
                assert (went.iterations, went.converged) == (1, False)
                np.testing.assert_array_equal(x, star)
            x, went = frank_wolfe(relaxation, E, star, 1)
            assert went.converged
            np.testing.assert_array_equal(x, star)


# The lemma: swap-optimal sets are stationary for Algorithm 1, not the other way round.


@given(instances(max_n=8, thetas=below_one))
def test_swap_optimal_sets_are_stationary_for_algorithm_1(case):
    problem, E = case.problem(), case.E
    relaxation = Relaxation(problem)
    for S in map(list, dense.all_sets(len(E), case.k)):
        outside = problem.allowed.may_enter(np.arange(len(E)), np.array(S))
        merits = E @ problem.direction(E[S].sum(axis=0))
        floors = floor(merits[S], problem.own_similarities(E[S]), problem.coupling)
        gains = exchange_gain(merits[outside, None], E[outside] @ E[S].T, floors[None], problem.coupling)
        for row, i in enumerate(np.flatnonzero(outside)):
            for place in range(case.k):
                swapped = [i if m == place else j for m, j in enumerate(S)]
                gained = problem.value(E[swapped]) - problem.value(E[S])
                assert gains[row, place] == pytest.approx(gained, abs=1e-9)
        if gains.max() <= 0:
            slope = gradient(relaxation, E, indicator(len(E), S))
            assert slope[outside].max() <= slope[S].min() + 1e-9
            assert merits[outside].max() <= merits[S].min() + 4 * (1 - case.theta) + 1e-9
            _, went = frank_wolfe(relaxation, E, indicator(len(E), S), 1)
            assert went.converged


# Sharp similarity: w^p for an even p.

sharpnesses = st.sampled_from([2, 4, 8, 16])


@given(instances(), sharpnesses)
def test_sharp_similarities_are_positive_semidefinite_and_between_0_and_1(case, sharpness):
    """Schur: the elementwise product of positive semidefinite matrices is one."""
    problem = replace(case.problem(), sharpness=sharpness)
    S = problem.similarities(case.E, case.E)
    np.testing.assert_allclose(S, (case.E @ case.E.T) ** sharpness, atol=1e-12)
    assert np.linalg.eigvalsh(S)[0] >= -1e-9
    assert S.min() >= 0
    assert S.max() <= 1 + 1e-9
    np.testing.assert_allclose(problem.own_similarities(case.E), S.diagonal())


def test_an_odd_sharpness_would_not_do():
    """w^3 of opposite rows is negative: relevance alone would bound nothing. So `select` refuses it."""
    assert (np.array([[1.0], [-1.0]]) @ np.array([[1.0, -1.0]]) ** 3).min() < 0
    with pytest.raises(breadth.InputError, match="sharpness must be 1 or an even number, got 3"):
        breadth.select(np.eye(3), np.eye(3)[0], k=2, sharpness=3)


def tensor_rows(case, sharpness):
    """Rows φ(e) with φ(e)·φ(f) = (e·f)^p, and the relevance as one more coordinate; the problem over them."""
    power = case.E
    for _ in range(sharpness - 1):
        power = np.einsum("na,nb->nab", power, case.E).reshape(len(case.E), -1)
    rows = np.column_stack((power, case.c))
    return rows, Problem.from_scores(power.shape[1], case.k, case.theta)


@st.composite
def sharp_instances(draw, thetas=below_one):
    """Rows of few dimensions, so that their tensor powers are small."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, d = draw(st.integers(3, 7)), draw(st.integers(2, 3))
    E = unit(SHAPES[draw(st.sampled_from(sorted(SHAPES)))](rng, n, d).astype(np.float64))
    made = draw(instances(max_n=4, thetas=thetas))
    made.E, made.q, made.k, made.rng = E, unit(rng.standard_normal(d)), draw(st.integers(2, n - 1)), rng
    return made, draw(st.sampled_from([2, 4]))


@given(sharp_instances())
def test_a_sharp_problem_is_the_papers_over_tensor_powers_of_the_rows(made):
    case, sharpness = made
    sharp = replace(case.problem(), sharpness=sharpness)
    rows, lifted = tensor_rows(case, sharpness)
    for S in map(list, dense.all_sets(len(rows), case.k)):
        assert sharp.value(case.E[S]) == pytest.approx(lifted.value(rows[S]), abs=1e-9)
        assert sharp.objective(case.E[S]) == pytest.approx(
            case.theta * float(case.c[S].mean()) - (1 - case.theta) * sharp.redundancy(case.E[S]), abs=1e-9
        )


@given(sharp_instances(), st.floats(1, 3))
def test_theorem_1_for_an_even_sharpness_a_penalty_of_1_is_enough(made, penalty):
    """λ - 1 + s_ij ≥ 0: pairwise moves never lower f, so no fractional point is above the best set."""
    case, sharpness = made
    rows, lifted = tensor_rows(case, sharpness)
    relaxation = Relaxation(lifted, penalty)
    best = max(lifted.value(rows[list(S)]) for S in dense.all_sets(len(rows), case.k)) + relaxation.offset()
    for _ in range(10):
        x = fractional_point(case)
        assert value(relaxation, rows, x) <= best + 1e-9
        while len(inside := fractional(x)) >= 2:
            slope = gradient(relaxation, rows, x)
            i, j = inside[np.argmax(slope[inside])], inside[np.argmin(slope[inside])]
            i, j = (i, j) if i != j else inside[:2]
            before = value(relaxation, rows, x)
            delta = min(1 - x[i], x[j])
            x[i], x[j] = x[i] + delta, x[j] - delta
            assert value(relaxation, rows, x) >= before - 1e-9
        assert value(relaxation, rows, x) <= best + 1e-9


def best_of_all(relaxation, rows, k):
    sets = dense.all_sets(len(rows), k)
    return max(value(relaxation, rows, indicator(len(rows), S)) for S in sets)


def test_theorem_1_below_a_penalty_of_1_the_relaxation_is_not_tight():
    """Orthogonal rows: spread over all of them, f is larger than at any set."""
    problem = Problem.from_scores(4, 2, 0.5)
    rows = np.column_stack((np.eye(4), np.full(4, 0.5)))
    uniform = np.full(4, 0.5)
    for penalty, tight in ((0.9, False), (1.0, True)):
        relaxation = Relaxation(problem, penalty)
        assert (value(relaxation, rows, uniform) <= best_of_all(relaxation, rows, 2) + 1e-12) is tight


def test_theorem_1_for_the_papers_similarity_a_penalty_of_1_is_not_enough():
    """Opposite rows have the similarity -1: half of each is better than any set unless λ ≥ 2. Squared, it is 1."""
    E = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    problem = Problem(np.array([0.0, 1.0]), 2, 0.9)
    x = np.array([0.5, 0.5, 1.0])
    for penalty, tight in ((1.0, False), (2.0, True)):
        relaxation = Relaxation(problem, penalty)
        assert (value(relaxation, E, x) <= best_of_all(relaxation, E, 2) + 1e-12) is tight
    squared = np.column_stack((np.einsum("na,nb->nab", E, E).reshape(3, -1), E[:, 1]))
    relaxation = Relaxation(Problem.from_scores(4, 2, 0.9), 1.0)
    assert value(relaxation, squared, x) <= best_of_all(relaxation, squared, 2) + 1e-12


# Pool sufficiency: for an even sharpness a prefix of the most relevant rows and `supply` bound the whole collection.


def make_block(case, size, constraints=NO_CONSTRAINTS):
    """A block of the `size` most relevant rows, with what is known of the others: the relevance of the next."""
    order = np.argsort(-case.c, kind="stable")[:size]
    left = np.sort(case.c)[::-1][size:]
    problem = Problem(case.q, case.k, case.theta, sharpness=case.sharpness, constraints=constraints)
    block = Block(Pool(problem, order, case.E[order], case.c[order], 0, -np.inf), np.arange(size))
    block.supply = problem.relevance_weight * float(left[0]) if len(left) else -np.inf
    return block


def solve(block, prove=0.0, **effort):
    """What the core says of a block, with this effort."""
    how = replace(EFFORT, **{name: value for name, value in effort.items() if name != "full"}).for_core(block.problem)
    how.full, how.prove = effort.get("full", True), prove
    return block.core.solve(how, [])


@pytest.mark.parametrize("sharpness", [2, 8, 16])
def test_a_pool_and_its_supply_bound_the_whole_collection(core, sharpness):
    rng = np.random.default_rng(sharpness)
    used = 0
    nothing = np.empty(0)
    for _ in range(150):
        case = random_case(rng, [], sharpness=sharpness)
        if case.k == case.n:
            continue
        scale = case.k * max(case.k - 1, 1)  # pairs are float32
        best = case.optimum(case.k) * scale
        for size in range(case.k, case.n + 1):
            block = make_block(case, size)
            assert solve(block).bound >= best - 1e-6 * scale
            anywhere = rng.uniform(size=size)
            assert block.core.bound_at(anywhere, nothing, block.supply) >= best - 1e-6 * scale  # at any point
            used += block.supply > -np.inf and block.core.bound_at(anywhere, nothing, -np.inf) < best - 1e-6 * scale
            if size == case.n:
                assert block.supply == -np.inf
    assert used > 0  # without the supply a prefix bounds nothing beyond itself


@pytest.mark.parametrize("sharpness", [1, 2, 12])
def test_every_diagonal_gives_a_bound_of_every_set(core, sharpness):
    """None (the first bound), dominant and even ones (the search for sets), and the largest one (a proof)."""
    rng = np.random.default_rng(sharpness + 3)
    tighter = conflicts = 0
    for _ in range(60):
        constraints = Constraints((Distinct(0.8),)) if rng.uniform() < 0.5 else NO_CONSTRAINTS
        case = random_case(rng, [], sharpness=sharpness)
        case.constraints = {"distinct": 0.8} if constraints is not NO_CONSTRAINTS else {}
        if case.k in (1, case.n) or case.largest < case.k:
            continue
        block = make_block(case, case.n, constraints)
        scale = case.k * (case.k - 1)  # pairs are float32
        best = case.optimum(case.k) * scale
        rough, fine, proved = solve(block, full=False), solve(block, decided=0), solve(block, prove=5.0, decided=0)
        conflicts += block.rules.apart is not None
        tighter += fine.bound < rough.bound - 1e-6
        for result in (rough, fine, proved):
            assert result.value <= best + 2e-6 * scale
            assert result.bound >= best - 2e-6 * scale
        assert proved.bound <= rough.bound + 1e-9
        if cores.IS_COMPILED and core == "compiled":
            assert proved.value == pytest.approx(best, abs=2e-6 * scale)
            assert proved.bound == pytest.approx(best, abs=2e-6 * scale)
    assert tighter > 10 or sharpness < 12 or core == "numpy"  # often it is worth its price
    assert conflicts > 3


@pytest.mark.parametrize("sharpness", [2, 16])
def test_no_row_outside_is_worth_more_than_the_supply(sharpness):
    rng = np.random.default_rng(sharpness + 1)
    for _ in range(60):
        case = random_case(rng, [], sharpness=sharpness)
        size = int(rng.integers(case.k, case.n + 1))
        block = make_block(case, size)
        outside = np.setdiff1d(np.arange(case.n), block.ids)
        problem = block.problem
        for S in (block.pick(), rng.choice(size, case.k, replace=False)):
            members = case.E[block.ids[S]]
            worth = problem.linear(case.c[outside]) - problem.coupling * problem.similarities(
                case.E[outside], members
            ).sum(axis=1)
            assert (worth <= block.supply + 1e-9).all()


@pytest.mark.parametrize("sharpness", [2, 8, 16])
@pytest.mark.parametrize(("pool", "block"), [(2, 0), (3, 1), (5, 3)])
def test_what_a_small_pool_settles_holds_for_the_whole_collection(sharpness, pool, block):
    rng = np.random.default_rng([sharpness, pool])
    effort = replace(EFFORT, pool=pool, block=block)
    prefixes = 0
    for _ in range(80):
        case = random_case(rng, [], n=14, sharpness=sharpness)
        case.k = min(case.k, 2)
        found = breadth.select(case.E, case.q, effort=effort, **case.arguments)
        assert found.certificate.swap_optimal
        assert case.best_swap(found.ids) <= 2e-6
        assert found.certificate.bound >= case.optimum(case.k) - 2e-6
        prefixes += found.stats["held"] < case.n and found.stats["rounds"] > 0
    assert prefixes >= 5  # so often the whole collection was not looked at


@pytest.mark.parametrize("sharpness", [1, 2, 8])
def test_rows_excluded_from_better_sets_are_in_none(core, sharpness):
    """What the first relaxation leaves out (`survivors`), against every set."""
    rng = np.random.default_rng(sharpness + 7)
    excluded = 0
    for _ in range(60):
        case = random_case(rng, ["groups"] if rng.uniform() < 0.5 else [], sharpness=sharpness)
        if case.k == 1 or case.largest < case.k:
            continue
        labels = case.constraints.get("groups")
        limits = NO_CONSTRAINTS
        if labels is not None:
            names = np.array(labels, dtype=object)
            limits = Constraints((Groups(lambda ids, names=names: names[ids], case.constraints["per_group"]),))
        block = make_block(case, case.n, limits)
        result = solve(block, full=False, rough=0.003)
        objectives = case.objectives(case.by_size[case.k])
        better = case.by_size[case.k][objectives > case.objective(block.ids[result.chosen]) + 1e-6]
        gone = block.ids[result.survivors == 0]
        excluded += len(gone)
        assert not better[:, gone].any(), case
    assert excluded > 20


# Caps carry Theorem 1 over: at most m rows of a group.


def capped_point(rng, labels, k, cap):
    """A point of the relaxed allowed sets: sum k, at most `cap` in each group. None if there is none."""
    n = len(labels)
    room = {label: float(cap) for label in labels}
    x = np.zeros(n)
    for i in rng.permutation(n):  # fill up, then mix
        x[i] = min(1.0, room[labels[i]], k - x.sum())
        room[labels[i]] -= x[i]
    if x.sum() < k - 1e-12:
        return None
    for _ in range(4 * n):
        i, j = rng.choice(n, 2, replace=False)
        spare = np.inf if labels[i] == labels[j] else cap - x[labels == labels[i]].sum()
        move = min(1 - x[i], x[j], spare) * rng.choice([0.3, 0.7, 1.0])
        x[i], x[j] = x[i] + max(move, 0.0), x[j] - max(move, 0.0)
    return x


def movable(x, labels, cap):
    """Two fractional rows of one group, or of two groups that both have room; Theorem 1 needs them to exist."""
    inside = fractional(x)
    for a, i in enumerate(inside):
        for j in inside[a + 1 :]:
            room = [cap - x[labels == labels[row]].sum() for row in (i, j)]
            if labels[i] == labels[j] or min(room) > 1e-9:
                return i, j
    return None


@pytest.mark.parametrize("sharpness", [1, 2])
def test_theorem_1_under_caps(sharpness):
    """From any relaxed point pairwise moves inside a group, or between groups with room, end at an allowed set, and f
    never falls: so the relaxation has the value of the best allowed set."""
    rng = np.random.default_rng(sharpness)
    penalty, ended = (2.0 if sharpness == 1 else 1.0), 0
    for _ in range(60):
        n, cap = int(rng.integers(4, 9)), int(rng.integers(1, 3))
        E = unit(rng.standard_normal((n, 3)))
        labels, k = rng.integers(int(rng.integers(2, 5)), size=n), int(rng.integers(2, n))
        case = Case(E, unit(rng.standard_normal(3)), k, float(rng.uniform(0, 0.95)), sharpness)
        case.constraints = {"groups": [f"g{x}" for x in labels], "per_group": cap}
        x = capped_point(rng, labels, k, cap)
        if x is None:
            assert case.largest < k
            continue
        rows, problem = E, Problem(case.q, k, case.theta)
        if sharpness == 2:
            rows = np.column_stack((np.einsum("na,nb->nab", E, E).reshape(n, -1), case.c))
            problem = Problem.from_scores(9, k, case.theta)
        relaxation = Relaxation(problem, penalty)
        best = case.optimum(k) * k * (k - 1) + relaxation.offset()
        assert value(relaxation, rows, x) <= best + 1e-9
        while (pair := movable(x, labels, cap)) is not None:
            slope = gradient(relaxation, rows, x)
            i, j = sorted(pair, key=lambda row: -slope[row])
            room = np.inf if labels[i] == labels[j] else cap - x[labels == labels[i]].sum()
            move = min(1 - x[i], x[j], room)
            before = value(relaxation, rows, x)
            x[i], x[j] = x[i] + move, x[j] - move
            assert value(relaxation, rows, x) >= before - 1e-9
        assert len(fractional(x)) == 0
        chosen = np.flatnonzero(x > 0.5)
        assert case.breaks(chosen) == ""
        assert value(relaxation, rows, x) <= best + 1e-9
        ended += 1
    assert ended >= 25


@pytest.mark.parametrize("sharpness", [1, 8])
def test_the_best_vertex_under_caps_is_picked_row_by_row(sharpness):
    """What Frank-Wolfe climbs to: rows in the order of their gradient while their group has room."""
    rng = np.random.default_rng(sharpness)
    for _ in range(80):
        case = random_case(rng, ["groups"], sharpness=sharpness)
        if case.largest < case.k:
            continue
        names = np.array(case.constraints["groups"], dtype=object)
        limits = Constraints((Groups(lambda ids, names=names: names[ids], case.constraints["per_group"]),))
        problem = Problem(case.q, case.k, case.theta, sharpness=sharpness, constraints=limits)
        block = Block(Pool(problem, np.arange(case.n), case.E, case.c, 0, -np.inf), np.arange(case.n))
        slope = rng.standard_normal(case.n)
        vertex = block.pick(slope, 0.0)
        assert allows(block.rules, vertex[None]).all()
        largest = (case.by_size[case.k] @ slope).max()
        assert slope[vertex].sum() == pytest.approx(largest)
