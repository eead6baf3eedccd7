"""Whether the pinned rows can be in one set."""

from __future__ import annotations

from collections import Counter

import numpy as np

from breadth.arrays import Array
from breadth.errors import InputError
from breadth.problem import Problem


def check_pins(problem: Problem, rows: Array) -> None:
    """Raise an error that names the conflict if the pinned rows, given in their order, cannot be in one set."""
    constraints = problem.constraints
    pins = constraints.pinned
    if len(pins) > problem.k:
        raise InputError(f"pinned names {len(pins)} rows, but k is {problem.k}")
    if len(pins) == 0:
        return
    if constraints.distinct is not None:
        cosines = problem.cosines(rows, rows)
        np.fill_diagonal(cosines, -np.inf)
        one, other = divmod(int(np.argmax(cosines)), len(pins))
        if cosines[one, other] > constraints.distinct:
            raise InputError(
                f"pinned and distinct contradict each other: rows {pins[one]} and {pins[other]} are pinned, and their "
                f"cosine is {cosines[one, other]:.4f}, above distinct={constraints.distinct:g}"
            )
    if constraints.groups is not None:
        counts = Counter(label for label in constraints.groups(pins) if label is not None)
        label, count = counts.most_common(1)[0] if counts else (None, 0)
        if count > constraints.per_group:
            raise InputError(
                f"pinned and per_group contradict each other: {count} pinned rows are of the group {label!r}, "
                f"but per_group is {constraints.per_group}"
            )
    if constraints.costs is not None and float(constraints.costs(pins).sum()) > constraints.budget:
        raise InputError(
            f"pinned and budget contradict each other: the pinned rows cost {constraints.costs(pins).sum():g}, "
            f"more than budget={constraints.budget:g}"
        )
