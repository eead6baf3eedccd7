"""The public functions: check the input, state the problem, run a method."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import partial
from typing import TYPE_CHECKING, Any

from breadth import drivers
from breadth.altering import alter
from breadth.checks import (
    check_choice,
    check_count,
    check_k,
    check_number,
    check_query,
    check_relevance,
    check_sharpness,
    check_table,
)
from breadth.clock import Clock
from breadth.constraints.protocol import Scope
from breadth.constraints.registry import list_arguments, read_constraints
from breadth.errors import InputError, OracleError
from breadth.explanation import Explanation
from breadth.methods.pool import run_on_pool
from breadth.methods.registry import METHODS, Method
from breadth.naming import name_reasons, name_rows, read_names
from breadth.oracles.array import ArrayOracle
from breadth.oracles.protocol import AsyncOracle, Facts, Oracle, describe
from breadth.problem import Problem
from breadth.requests import Asking
from breadth.selection import Selection
from breadth.settings import DEFAULT, DEFAULT_THETAS, PAPER, Setting
from breadth.solve.copies import add_copies

if TYPE_CHECKING:  # what `select` itself does not need is imported where it is used
    from breadth.curve import Frontier
    from breadth.oracles.wrappers import AuditingOracle

_TOGETHER = 64
"""Queries that `select_many` runs in lockstep: each holds some thousand rows and a few scores for every row."""


def methods() -> tuple[str, ...]:
    """The names `select(method=…)` takes."""
    return tuple(METHODS)


def select(
    vectors: Any,
    query: Any = None,
    *,
    k: int,
    theta: float | str | None = None,
    scores: Any = None,
    keep: float | None = None,
    choose: Callable[[Selection], float] | None = None,
    sharpness: int | None = None,
    texts: Any = None,
    prefer: Any = None,
    distinct: float | None = None,
    groups: Any = None,
    per_group: int | None = None,
    at_least: Any = None,
    apart: Any = None,
    unlike: Any = None,
    pinned: Any = None,
    excluded: Any = None,
    floor: float | None = None,
    on_topic: float | None = None,
    keep_best: bool | None = None,
    costs: Any = None,
    budget: float | None = None,
    cover: float | None = None,
    method: str = "certified",
    pool: int | None = None,
    time_limit: float | None = None,
    audit: bool = False,
    **options: Any,
) -> Selection:
    """Pick the k rows that together serve the query best: relevant, without copies.

    vectors      (n, d) array of unit rows, or an oracle. An array is checked at every call: build an `ArrayOracle`
                 once if you ask often.
    query        unit vector (d,). Pass either `query` or `scores`.
    scores       relevance of every row from outside (a reranker, hybrid search), instead of a query.
    k            how many rows.
    theta        weight of relevance in [0, 1]: 1 is plain top-k, 0 looks at copies alone; or "auto", the knee of the
                 frontier.
    keep         instead of theta: the set of the smallest theta that keeps this share (0.95, say) of top-k's relevance.
    choose       with theta="auto": a function that scores a candidate `Selection`; the best scored one is returned.
    sharpness    what counts as redundant: the cosine of two rows to this power, 1 or an even number. With 1, the
                 paper's mean cosine, every resemblance costs; with 16 almost only copies do.
    texts        the text of each row, given as groups are. Texts are compared where vectors are close: of passages that
                 say the same one is chosen, and passages that differ in a number, a name or a "not" may both be.
    prefer       a value for each row, given as groups are: of passages with the same words, the one with the largest
                 value is chosen (the newest, say). A row without one has None.
    distinct     without texts: no two chosen rows have a cosine above this; 1 allows copies. By vectors alone, a copy
                 cannot be told from a contradiction. With texts: the cosine above which passages in other words can
                 say the same; 1 allows copies.
    groups, per_group   the label of each row (its source, say; None for none), and how many rows of one label may be
                 chosen. A sequence with an entry for each row, a mapping from ids, or a function of an array of ids.
    at_least     with groups: how many rows of a label must be chosen, {label: number}.
    apart        pairs of ids of rows that may not both be chosen.
    unlike       pairs of ids of rows that count as unlike, whatever their cosine.
    pinned, excluded    ids of rows that must, or must not, be chosen.
    floor        the least relevance of a chosen row.
    on_topic     the same as a share of the relevance of top-k's last row: rows below it are off topic; 0 allows them.
    keep_best    whether the most relevant row that the other constraints allow is always chosen.
    costs, budget       what each row costs (its tokens, say; given as groups are), and what the set may cost.
    cover        the smallest set that stands for this share (0.8, say) of the relevant material, of at most k rows;
                 that is method "coverage".
    method       one of `methods()`.
    pool         restrict the method to this many most relevant rows.
    time_limit   seconds after which the best set so far is returned; `stats["stopped"]` then says "time_limit". The
                 collection is searched at least once.
    audit        on an engine that is not exact: `stats["recall"]` then says what share of the best rows the searches of
                 this query found, measured by an exact scan of the engine.
    options      of the method: see the docstring of the method in `breadth.methods`.

    `select` maximises θ·relevance - (1-θ)·redundancy over the allowed sets, see `Selection`. Without `sharpness` and
    with method "certified", `theta`, `sharpness`, `distinct`, `on_topic` and `keep_best` are those of
    `breadth.settings.DEFAULT` where you do not pass them; docs/methods.md says what they were chosen from. With
    `theta=1` the last three are off unless you pass them: that is plain top-k. With `sharpness` given, or another
    method, nothing restricts the set unless you pass it. Where the constraints leave fewer than k rows, the set has
    fewer, and `stats["asked"]` says how many there should have been.
    """
    if cover is not None:
        method, options = _read_cover(cover, method, options)
    further, options = _split(options)
    wishes = {
        "texts": texts, "prefer": prefer, "distinct": distinct, "groups": groups, "per_group": per_group,
        "at_least": at_least, "apart": apart, "unlike": unlike, "pinned": pinned, "excluded": excluded, "floor": floor,
        "on_topic": on_topic, "keep_best": keep_best, "costs": costs, "budget": budget, **further,
    }  # fmt: skip
    asked = _Asked(k, theta, keep, choose, method, pool, time_limit, options, sharpness, wishes)
    oracle, problem = asked.state(_make_oracle(vectors), query, scores)
    engine = _audit(oracle) if audit else oracle
    selection = drivers.run(asked.solve(problem, engine, asked.start_clock()), engine)
    if audit:
        selection = selection.with_stats(recall=engine.recall())
    return _make_explainable(asked.tell(selection), problem, oracle)


async def aselect(
    oracle: AsyncOracle | Oracle,
    query: Any,
    *,
    k: int,
    theta: float | str | None = None,
    keep: float | None = None,
    choose: Callable[[Selection], float] | None = None,
    method: str = "certified",
    pool: int | None = None,
    time_limit: float | None = None,
    sharpness: int | None = None,
    **options: Any,
) -> Selection:
    """`select` on an oracle whose methods are coroutines. `explain` is not available on what it returns.

    `options` may also hold the constraints of `select`: distinct, groups, per_group, pinned, ….
    """
    wishes, options = _split(options)
    asked = _Asked(k, theta, keep, choose, method, pool, time_limit, options, sharpness, wishes)
    engine, problem = asked.state(_make_oracle(oracle), query, None)
    return name_rows(engine, asked.tell(await drivers.arun(asked.solve(problem, engine, asked.start_clock()), engine)))


def select_many(
    vectors: Any,
    queries: Any = None,
    *,
    k: int,
    theta: float | str | None = None,
    scores: Any = None,
    keep: float | None = None,
    method: str = "certified",
    pool: int | None = None,
    time_limit: float | None = None,
    progress: Callable[[int, int], None] | None = None,
    sharpness: int | None = None,
    cover: float | None = None,
    **options: Any,
) -> list[Selection]:
    """`select` for many queries (b, d) or score rows (b, n): each round's searches share one scan of the collection.

    `options` may also hold the constraints of `select` (distinct, groups, per_group, pinned, …), for each query.
    `time_limit` is for each query: its own work, and its share of the scans. `progress(done, total)` is called after
    every batch of queries.
    """
    if (queries is None) == (scores is None):
        seen = "neither" if queries is None else "both"
        raise InputError(f"pass exactly one of queries and scores, got {seen}")
    if cover is not None:
        method, options = _read_cover(cover, method, options)
    wishes, options = _split(options)
    asked = _Asked(k, theta, keep, None, method, pool, time_limit, options, sharpness, wishes)
    oracle = _make_oracle(vectors)
    name, many = ("queries", queries) if scores is None else ("scores", scores)
    many = check_table(many, name)
    # With scores from outside every query has a collection of its own, so nothing can be shared.
    together = _TOGETHER if scores is None else 1
    found: list[Selection] = []
    for start in range(0, len(many), together):
        batch = many[start : start + together]
        found += _select_batch(asked, oracle, batch) if scores is None else [_select_scored(asked, oracle, batch[0])]
        if progress is not None:
            progress(len(found), len(many))
    return found


def frontier(
    vectors: Any,
    query: Any = None,
    *,
    k: int,
    thetas: Sequence[float] = DEFAULT_THETAS,
    scores: Any = None,
    time_limit: float | None = None,
    sharpness: int | None = None,
    **constraints: Any,
) -> Frontier:
    """Selections for several θ at little more than the cost of one: the curve of relevance against redundancy.

    `constraints` are those of `select`: distinct, groups, per_group, pinned, …. They hold for every θ.
    """
    if len(thetas) == 0:
        raise InputError("thetas must hold at least one value")
    checked = [check_number(theta, "thetas", 0.0, 1.0) for theta in thetas]
    if len(set(checked)) != len(checked):
        raise InputError(f"thetas must differ from each other, got {list(thetas)}")
    clock = Clock(_check_time_limit(time_limit))
    wishes, others = _split(constraints)
    if others:
        raise InputError(
            f"frontier has no argument {next(iter(others))!r}; its constraints are {', '.join(list_arguments())}"
        )
    asked = _Asked(k, None, None, None, "certified", None, time_limit, {}, sharpness, wishes)
    oracle, problem = asked.state(_make_oracle(vectors), query, scores)
    from breadth.solve import frontier as tradeoff

    curve = drivers.run(tradeoff.frontier(problem, describe(oracle), thetas=checked, clock=clock), oracle)
    return replace(curve, selections=tuple(_make_explainable(asked.tell(s), problem, oracle) for s in curve))


@dataclass(frozen=True)
class _Asked:
    """How a set is to be chosen: the arguments of `select` that do not depend on the query, checked."""

    k: Any
    theta: Any
    keep: Any
    choose: Any
    method: Any
    pool: Any
    time_limit: Any
    options: dict[str, Any]
    sharpness: Any
    wishes: dict[str, Any]
    """The constraints as they were passed; None where nothing was."""

    def __post_init__(self) -> None:
        if self.sharpness is not None:
            check_sharpness(self.sharpness)
        if self.keep is not None and self.theta is not None:
            raise InputError(f"pass theta or keep, not both; got theta={self.theta!r} and keep={self.keep!r}")
        if isinstance(self.theta, str) and not self.automatic:
            raise InputError(f"theta must be a number in [0, 1] or 'auto', got {self.theta!r}")
        if self.choose is not None and not (self.automatic and callable(self.choose)):
            raise InputError("choose takes a function and goes with theta='auto'")
        chosen = METHODS[check_choice(self.method, "method", METHODS)]
        if self.searches_theta and (self.method != "certified" or self.pool is not None or self.options):
            raise InputError("keep and theta='auto' work with method='certified' without options or pool")
        _check_options(self.method, chosen, self.options)
        _check_time_limit(self.time_limit)

    @property
    def automatic(self) -> bool:
        return isinstance(self.theta, str) and self.theta == "auto"

    @property
    def searches_theta(self) -> bool:
        """Whether θ is still to be found."""
        return self.automatic or self.keep is not None

    @property
    def setting(self) -> Setting:
        """What holds where nothing was passed: the default, but the paper's for its sharpness and its rivals."""
        if self.sharpness is not None or self.method != "certified":
            return replace(PAPER, sharpness=self.sharpness or METHODS[self.method].sharpness)
        return DEFAULT

    def state(self, oracle: Any, query: Any, scores: Any) -> tuple[Any, Problem]:
        """The checked problem, and the oracle that carries its relevance."""
        engine, problem = _state(oracle, query, scores, self.k, self.read_theta())
        numbered = hasattr(oracle, "scores") or hasattr(oracle, "above")
        return engine, self.pose(problem, Scope(oracle.size, numbered, problem.k), read_names(oracle, self.wishes))

    def read_theta(self) -> Any:
        """θ, or that of the setting."""
        return self.setting.theta if self.theta is None or self.automatic else self.theta

    def pose(self, problem: Problem, scope: Scope, wishes: dict[str, Any]) -> Problem:
        """The problem with the sharpness and the constraints that are asked for, or are those of the setting."""
        setting, wishes = self.setting, dict(wishes)
        for name in ("distinct", "keep_best", "on_topic"):
            if wishes.get(name) is None and not (name == "distinct" and wishes.get("texts") is not None):
                wishes[name] = getattr(setting, name)
        return alter(problem, sharpness=setting.sharpness, constraints=read_constraints(scope, **wishes))

    def tell(self, selection: Selection) -> Selection:
        """The selection, which says how many rows were asked for if fewer match a filter."""
        return selection.with_stats(asked=self.k) if len(selection.ids) < self.k else selection

    def start_clock(self) -> Clock:
        """A clock that begins to count now."""
        return Clock(_check_time_limit(self.time_limit))

    def solve(self, problem: Problem, oracle: Any, clock: Clock) -> Asking[Selection]:
        """The generator that finds the set."""
        facts = describe(oracle)
        if self.searches_theta:
            return self._search_theta(problem, oracle, facts, clock)
        solve = partial(METHODS[self.method].solve, clock=clock, **self.options)
        if self.pool is None:
            return add_copies(solve(problem, facts), problem, facts)
        return add_copies(run_on_pool(solve, problem, facts, check_count(self.pool, "pool")), problem, facts)

    def _search_theta(self, problem: Problem, oracle: Any, facts: Facts, clock: Clock) -> Asking[Selection]:
        from breadth.solve import frontier as tradeoff

        if self.keep is not None:
            return tradeoff.keep(problem, facts, clock=clock, share=check_number(self.keep, "keep", 0.0, 1.0))
        choose = self.choose
        judge = None if choose is None else lambda candidate: choose(name_rows(oracle, candidate))
        return tradeoff.automatic(problem, facts, clock=clock, judge=judge)


def _audit(oracle: Any) -> AuditingOracle:
    from breadth.oracles.wrappers import AuditingOracle

    audited = AuditingOracle(oracle)
    audited.check()
    return audited


def _select_batch(asked: _Asked, oracle: Any, queries: Any) -> list[Selection]:
    """Several queries in lockstep."""
    problems = [asked.state(oracle, query, None)[1] for query in queries]
    clocks = [asked.start_clock() for _ in problems]
    solvers = [asked.solve(problem, oracle, clock) for problem, clock in zip(problems, clocks, strict=True)]
    results = drivers.run_many(solvers, oracle, clocks)
    return [_make_explainable(asked.tell(s), problem, oracle) for s, problem in zip(results, problems, strict=True)]


def _select_scored(asked: _Asked, oracle: Any, scores: Any) -> Selection:
    """One query with relevance from outside."""
    scored, problem = asked.state(oracle, None, scores)
    return _make_explainable(drivers.run(asked.solve(problem, scored, asked.start_clock()), scored), problem, scored)


def _make_oracle(vectors: Any) -> Any:
    """The oracle given, or one over the array given."""
    if isinstance(vectors, type):
        raise InputError(f"vectors must be an array or an oracle, got the class {vectors.__name__}; make one of it")
    if hasattr(vectors, "top"):
        missing = [name for name in ("size", "dim", "exact", "rows", "mean") if not hasattr(vectors, name)]
        if not missing:
            return vectors
        raise OracleError(f"{type(vectors).__name__} is not an oracle: it lacks {', '.join(missing)}")
    return ArrayOracle(vectors)


def _state(oracle: Any, query: Any, scores: Any, k: Any, theta: Any) -> tuple[Any, Problem]:
    """The checked problem, and the oracle that carries its relevance."""
    if (query is None) == (scores is None):
        seen = "neither" if query is None else "both"
        raise InputError(f"pass exactly one of query and scores, got {seen}")
    k = _check_k(k, oracle)
    theta = check_number(theta, "theta", 0.0, 1.0)
    if query is not None:
        return oracle, Problem(check_query(query, oracle.dim), k, theta)
    if not hasattr(oracle, "with_scores"):
        raise OracleError(f"scores need an array or an oracle with with_scores(), got {type(oracle).__name__}")
    scored = oracle.with_scores(check_relevance(scores, oracle.size))
    return scored, Problem.from_scores(oracle.dim, k, theta)


def _check_k(k: Any, oracle: Any) -> int:
    """The number of rows to pick: all, where fewer match a filter."""
    where = getattr(oracle, "where", None)
    if oracle.size == 0:
        raise InputError("the collection is empty" if where is None else f"no row of the collection matches {where}")
    return check_k(k, oracle.size) if where is None else min(check_count(k, "k"), oracle.size)


def _read_cover(cover: float, method: str, options: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The method and its options where a share is to be covered."""
    if method not in ("certified", "coverage"):
        raise InputError(f"cover goes with method='coverage', got method={method!r}")
    return "coverage", {**options, "cover": check_number(cover, "cover", 0.0, 1.0)}


def _split(options: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The constraints among keyword arguments, and the others."""
    if not options:
        return {}, {}
    wishes = {name: options[name] for name in list_arguments() if name in options}
    return wishes, {name: value for name, value in options.items() if name not in wishes}


def _check_options(name: str, method: Method, options: dict[str, Any]) -> None:
    if not options:
        return
    allowed = method.options
    for option in options:
        if option not in allowed:
            has = f"its options are {', '.join(allowed)}" if allowed else "it has no options"
            near = get_close_matches(option, [*inspect.signature(select).parameters, *allowed], 1)
            meant = f"did you mean {near[0]!r}? " if near else ""
            raise InputError(f"{meant}method {name!r} has no option {option!r}; {has}")


def _check_time_limit(time_limit: Any) -> float:
    return math.inf if time_limit is None else check_number(time_limit, "time_limit", 0.0)


def _make_explainable(selection: Selection, problem: Problem, oracle: Oracle) -> Selection:
    """The selection, able to explain itself."""
    at_theta = problem if selection.theta == problem.theta else alter(problem, theta=selection.theta)

    def give_reasons() -> Explanation:
        from breadth.explain import explain

        return name_reasons(oracle, drivers.run(explain(at_theta, describe(oracle), selection.ids), oracle))

    return alter(name_rows(oracle, selection), explainer=give_reasons)
