"""One suite for the compiled core and for NumPy instead: what `_core.pyi` promises of a block, against all its sets."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from breadth.feasible import allows
from tests import cores
from tests.native.blocks import Case, cases
from tests.synthetic import SHAPES, isotropic

LEAST = 1e-9
ROUNDING = 1e-4
"""Diagonals allow for the rounding of float32 pairs."""
NOTHING = np.empty(0)
every = pytest.mark.parametrize("name", cores.NAMES)


def make_effort(core, **settings):
    effort = core.Effort()
    for key, value in {"closed": 1e-9, "least_gain": LEAST, "spread": 1.0, **settings}.items():
        setattr(effort, key, value)
    return effort


def solve(core, case: Case, starts=(), seconds=1e9, **settings):
    return case.block(core).solve(make_effort(core, **settings), list(starts), None, seconds)


@every
@settings(max_examples=150)
@given(case=cases(), full=st.booleans(), prove=st.sampled_from([0.0, 5.0]))
def test_sets_are_allowed_and_bounds_hold(name, case, full, prove):
    core = cores.load(name)
    result = solve(core, case, full=full, prove=prove)
    if not result.complete:
        assert len(result.chosen) < case.k or len(case.sets) == 0
        assert case.rules != ()
        return
    assert allows(case.rules, result.chosen[None]).all()
    assert result.value == pytest.approx(case.value(result.chosen), abs=1e-6)
    assert result.bound >= case.best - ROUNDING
    assert result.value <= case.best + 1e-6
    assert case.best_swap(result.chosen) <= result.value + 1e-6
    if prove and name == "compiled":
        assert result.value == pytest.approx(case.best, abs=1e-6)
        assert result.bound == pytest.approx(case.best, abs=ROUNDING)


@every
@settings(max_examples=100)
@given(case=cases(), first=st.integers(0, 9))
def test_greedy_picks_rows_that_may_join(name, case, first):
    core = cores.load(name)
    given = np.flatnonzero(case.rules.locked) if case.rules.locked is not None else np.empty(0, dtype=np.int64)
    merits = case.rng.standard_normal(len(case))
    picks = case.block(core).pick(merits, case.coupling, given)
    assert len(set(picks.tolist())) == len(picks) <= case.k
    if len(given) < len(picks) == case.k:
        assert allows(case.rules, picks[None]).all()
    if case.rules.is_free:
        taken = list(given)
        for pick in picks[len(given) :]:
            worth = merits - case.coupling * case.gram[taken, : len(case)].sum(axis=0, dtype=np.float64)
            worth[taken] = -np.inf
            assert worth[pick] == pytest.approx(worth.max(), abs=1e-5)
            taken.append(int(pick))


@every
@settings(max_examples=100)
@given(case=cases(), data=st.data())
def test_a_bound_holds_at_any_point_and_with_further_rows(name, case, data):
    core = cores.load(name)
    assume(len(case.sets))
    x = case.rng.uniform(size=len(case)) * data.draw(st.sampled_from([0.0, 0.3, 1.0]))
    bound = case.block(core).bound_at(x, NOTHING, -np.inf)
    assert bound >= case.best - ROUNDING
    further = case.rng.standard_normal(3)
    assert case.block(core).bound_at(x, further, -np.inf) >= bound - 1e-9 or case.rules.least is not None
    assert case.block(core).bound_at(x, further, 5.0) >= case.best - ROUNDING


@every
@settings(max_examples=100)
@given(case=cases(ruled=False), hidden=st.integers(0, 4))
def test_a_supply_stands_for_the_rows_outside(name, case, hidden):
    """Some rows are hidden; what they are worth at the most is told."""
    core = cores.load(name)
    case.gram[np.isnan(case.gram)] = 0.0
    case.gram[:] = np.maximum(case.gram, 0.0)  # else a row may be worth more than its relevance
    case.shift = -np.full(len(case), 50.0)
    order = np.argsort(-case.linear, kind="stable")
    shown = max(len(case) - hidden, 1)
    whole = Case(
        case.linear[order], case.gram[np.ix_(order, order)].copy(), case.k, case.coupling, case.rng, shift=case.shift
    )
    part = Case(
        whole.linear[:shown].copy(), whole.gram[:shown, :shown].copy(), case.k, case.coupling, case.rng,
        shift=case.shift[:shown], supply=float(whole.linear[shown]) if shown < len(case) else -np.inf,
    )  # fmt: skip
    result = solve(core, part)
    if not result.complete:
        assert shown < case.k
        return
    assert result.bound >= whole.best - ROUNDING
    if not result.needs_more:
        everyone = whole.value(result.chosen)
        outside = np.arange(shown, len(case))
        for place in range(case.k):
            for row in outside.tolist():
                swapped = result.chosen.copy()
                swapped[place] = row
                assert whole.value(swapped) <= everyone + 1e-6 or result.bound - result.value <= 1e-6


@every
@given(case=cases(max_n=9), data=st.data())
def test_a_start_is_improved_and_never_lost(name, case, data):
    core = cores.load(name)
    assume(len(case.sets))
    start = case.sets[data.draw(st.integers(0, len(case.sets) - 1))]
    result = solve(core, case, [start], full=False)
    assert result.complete
    assert result.value >= case.value(start) - 1e-6
    assert allows(case.rules, result.chosen[None]).all()


@every
def test_rows_that_a_group_needs_are_found_behind_conflicts(name):
    """The best row stands apart from every row of the group that must be there."""
    core = cores.load(name)
    apart = np.zeros((5, 5), dtype=np.uint8)
    apart[0, 3:] = apart[3:, 0] = 1
    group, most = np.array([0, 0, 0, 1, 1], dtype=np.int32), np.array([5, 5], dtype=np.int32)
    least = np.array([0, 1], dtype=np.int32)
    linear = np.array([5.0, 1.0, 0.9, 0.2, 0.1])
    block = core.Block.make(linear, np.eye(5, dtype=np.float32), 2, 1.0, apart, group, most, least)
    result = block.solve(make_effort(core), [])
    assert result.complete
    assert set(result.chosen.tolist()) == {1, 3}


@cores.needs_compiled
@pytest.mark.parametrize("shape", sorted(SHAPES))
@pytest.mark.parametrize("n", [1, 2, 3, 17, 255, 700])
@pytest.mark.parametrize("coupling", [0.0, 1e-12, 1.0, 1e6])
def test_extreme_sizes_and_ties(shape, n, coupling):
    """All k that are near an end, costs from nothing to a million, and half of all rows the same."""
    core = cores.load("compiled")
    rng = np.random.default_rng(n)
    rows = SHAPES[shape](rng, n, 8).astype(np.float64)
    rows[n // 2 :] = rows[0]
    gram = ((rows @ rows.T) ** 2).astype(np.float32)
    for k in sorted({1, min(2, n), max(n - 1, 1), n}):
        case = Case(rows @ rng.standard_normal(8), gram, k, coupling, rng)
        result = solve(core, case, seconds=0.5, prove=0.05, tabu=100)
        assert result.complete
        assert len(set(result.chosen.tolist())) == k
        assert np.isfinite(result.bound)
        assert result.bound >= result.value - 1e-6 * max(1.0, coupling * k * k)


@every
@pytest.mark.parametrize("k", [3, 20])
def test_a_call_ends_in_time_and_its_bound_holds(name, k):
    core = cores.load(name)
    rng = np.random.default_rng(0)
    rows = isotropic(rng, 500, 64).astype(np.float64)
    case = Case(0.3 * (k - 1) * (rows @ rows[0]), (rows @ rows.T).astype(np.float32), k, 1.4, rng)
    full = solve(core, case)
    for seconds in (0.0, 0.05):
        started = time.perf_counter()
        result = solve(core, case, seconds=seconds, prove=1e6)
        assert time.perf_counter() - started <= seconds + 0.5
        assert result.late or name == "numpy"  # which has no branch and bound
        assert result.complete
        assert result.bound >= full.value - ROUNDING


@cores.needs_compiled
def test_ctrl_c_ends_a_call():
    code = """
import numpy as np, time
from breadth.native import core
rng = np.random.default_rng(0)
rows = rng.standard_normal((500, 64)); rows /= np.linalg.norm(rows, axis=1, keepdims=True)
block = core.Block.make(rows @ rows[0], (rows @ rows.T).astype(np.float32), 20, 1.4)
effort = core.Effort()
effort.prove, effort.closed, effort.spread = 1e6, 1e-9, 1.0
print("ready", flush=True)
try:
    block.solve(effort, [])
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        pressed = time.time()
        process.send_signal(signal.SIGINT)
        ended = float(process.stdout.readline())
    assert process.returncode == 0
    assert ended - pressed <= 1.0  # a busy machine; alone it takes 0.05 s


@cores.needs_compiled
@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"k": 0}, "k must be at least 1"),
        ({"gram": np.eye(3, dtype=np.float32)}, "gram must hold all pairs"),
        ({"apart": np.zeros((3, 3), dtype=np.uint8)}, "apart must be"),
        ({"group": np.zeros(4, dtype=np.int32)}, "group and most belong together"),
        ({"group": np.full(4, 7, dtype=np.int32), "most": np.ones(1, dtype=np.int32)}, "no such group"),
        ({"cost": np.ones(3)}, "cost must have an entry for each row"),
        ({"shift": np.ones(5)}, "shift must have an entry for each row"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changed, message):
    core = cores.load("compiled")
    arguments = {"linear": np.ones(4), "gram": np.eye(4, dtype=np.float32), "k": 2, "coupling": 1.0, **changed}
    with pytest.raises(ValueError, match=message):
        core.Block.make(**arguments)


@cores.needs_compiled
@pytest.mark.parametrize("start", [[0, 0], [0, 9], [-1, 0], [0]])
def test_sets_that_are_none_are_refused(start):
    core = cores.load("compiled")
    block = core.Block.make(np.ones(4), np.eye(4, dtype=np.float32), 2, 1.0)
    with pytest.raises(ValueError, match="a set"):
        block.solve(core.Effort(), [np.array(start, dtype=np.int64)])
