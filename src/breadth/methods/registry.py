"""The methods, by name. A solver is a generator: it yields requests, is sent answers, and returns a `Selection`.

Every solver takes the problem and the facts of the collection first, then its own options by keyword.
"""

from collections.abc import Callable

from breadth.certified.solver import certified
from breadth.methods.dpp import dpp
from breadth.methods.exact import exact
from breadth.methods.frank_wolfe import frank_wolfe
from breadth.methods.greedy import greedy, msd
from breadth.methods.mmr import mmr
from breadth.methods.muss import muss
from breadth.methods.topk import topk
from breadth.methods.vrsd import vrsd
from breadth.requests import Asking

SOLVERS: dict[str, Callable[..., Asking]] = {
    "certified": certified,
    "frank_wolfe": frank_wolfe,
    "greedy": greedy,
    "mmr": mmr,
    "dpp": dpp,
    "msd": msd,
    "vrsd": vrsd,
    "muss": muss,
    "topk": topk,
    "exact": exact,
}

__all__ = ["SOLVERS"]
