"""The methods by name, with their traits. The API, the command line, the experiments, docs and tests go by this list.

A method is a generator function `solve(problem, facts, *, clock, …)`: it yields requests (`breadth.requests`), is sent
the answers, and returns a `Selection`. Its further keyword arguments are its options. To add one, write it in a file of
its own and list it here.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

from breadth.coverage.worth import SHARPNESS as COVERAGE_SHARPNESS
from breadth.requests import Asking
from breadth.selection import Selection


@dataclass(frozen=True)
class Method:
    """One way to choose a set.

    home              module and name of the generator function, which is imported when it is used
    summary           what it does, in a line
    has_theta         whether θ changes the set; it always changes the reported objective
    looks_at_f        whether it maximises the objective F itself
    needs_scores      whether it needs the scores of all rows: on other oracles pass `pool=`
    takes_relevance   whether it also works with relevance from outside (`scores=`)
    proves            whether it gives a certificate for every θ
    in_order          whether the rows come in the order of the picks, not by relevance
    small             whether it refuses all but small collections
    sharpness         the sharpness it has unless it is told otherwise
    best_hit_alone    whether its set for k = 1 is the most relevant row
    """

    home: str
    summary: str
    has_theta: bool = True
    looks_at_f: bool = True
    needs_scores: bool = False
    takes_relevance: bool = True
    proves: bool = False
    in_order: bool = False
    small: bool = False
    best_hit_alone: bool = True
    sharpness: int = 1

    @property
    def solve(self) -> Callable[..., Asking[Selection]]:
        """The generator function."""
        module, _, name = self.home.rpartition(".")
        found: Callable[..., Asking[Selection]] = getattr(import_module(module), name)
        return found

    @property
    def options(self) -> tuple[str, ...]:
        """The names of its own options."""
        parameters = inspect.signature(self.solve).parameters.values()
        return tuple(p.name for p in parameters if p.kind is p.KEYWORD_ONLY and p.name != "clock")


METHODS: dict[str, Method] = {
    "certified": Method(
        "breadth.solve.certified.certified",
        "the best set that any method finds, with a proof of how good it is",
        proves=True,
    ),
    "frank_wolfe": Method("breadth.methods.frank_wolfe.frank_wolfe", "the paper's Algorithm 1", proves=True),
    "greedy": Method("breadth.methods.greedy.greedy", "greedy on the objective", in_order=True),
    "mmr": Method(
        "breadth.methods.mmr.mmr", "maximal marginal relevance", looks_at_f=False, needs_scores=True, in_order=True
    ),
    "dpp": Method(
        "breadth.methods.dpp.dpp", "determinantal point process", looks_at_f=False, needs_scores=True, in_order=True
    ),
    "msd": Method("breadth.methods.greedy.msd", "max-sum dispersion", in_order=True),
    "vrsd": Method(
        "breadth.methods.vrsd.vrsd",
        "the sum of the set points at the query",
        has_theta=False,
        looks_at_f=False,
        needs_scores=True,
        takes_relevance=False,
        in_order=True,
    ),
    "muss": Method("breadth.methods.muss.muss", "greedy through clusters", needs_scores=True, in_order=True),
    "coverage": Method(
        "breadth.methods.coverage.coverage",
        "the rows that stand for most of the relevant material",
        has_theta=False,
        looks_at_f=False,
        best_hit_alone=False,
        sharpness=COVERAGE_SHARPNESS,
    ),
    "topk": Method("breadth.methods.topk.topk", "the k most relevant rows", has_theta=False, looks_at_f=False),
    "exact": Method("breadth.methods.exact.exact", "every set, for very small collections", proves=True, small=True),
}
