"""The methods, by name. A solver is a generator: it yields requests, is sent answers, and returns a `Selection`.

Every solver takes the problem and the facts of the collection first, then its own options by keyword.
"""

from collections.abc import Callable

from breadth.oracles.requests import Asking
from breadth.solvers.certified import certified
from breadth.solvers.dpp import dpp
from breadth.solvers.exact import exact
from breadth.solvers.frank_wolfe import frank_wolfe
from breadth.solvers.greedy import greedy, msd
from breadth.solvers.mmr import mmr
from breadth.solvers.muss import muss
from breadth.solvers.topk import topk
from breadth.solvers.vrsd import vrsd

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
