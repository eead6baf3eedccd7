"""What the certified solver promises, checked against the whole collection in float64."""

from __future__ import annotations

import numpy as np

import breadth
from breadth import Problem
from breadth.methods.registry import METHODS
from breadth.solve.effort import Effort

LITTLE = Effort(held=300, whole=100)
"""So little is held in memory that a few thousand rows have to be priced."""

OTHERS = [
    ("frank_wolfe", {"init": "topk"}),
    *((name, {}) for name, method in METHODS.items() if name != "certified" and not method.small),
]
"""All other methods."""


def best_swap(E, q, ids, theta):
    """The largest gain of any exchange with any row of the collection, on the reported scale."""
    k = len(ids)
    if k == len(E):
        return -np.inf
    E = E.astype(np.float64)
    problem = Problem(q.astype(np.float64), k, theta)
    merits = E @ problem.direction(E[ids].sum(axis=0))
    own = np.einsum("ij,ij->i", E[ids], E[ids])
    gains = merits[:, None] - merits[ids] - 2 * (1 - theta) * (own - E @ E[ids].T)
    gains[ids] = -np.inf
    return gains.max() / problem.scale


def assert_beaten_by_none(oracle, q, *selections):
    """No other method finds a better set in `oracle` than these (of one k and θ), and none is above their bounds."""
    k, theta = selections[0].k, selections[0].theta
    for method, options in OTHERS:
        other = breadth.select(oracle, q, k=k, theta=theta, method=method, **options, sharpness=1)
        for found in selections:
            assert found.objective >= other.objective - 1e-7, (theta, method, options, found.stats)
            assert found.certificate.bound >= other.objective - 1e-6, (theta, method, options, found.stats)
