"""Checks of what `breadth.select` finds on an oracle, against the same on an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.api import select
from breadth.arrays import Array
from breadth.testing.case import Case, NotApplicableError, Opened
from breadth.testing.collections import make_metadata
from breadth.testing.promises import require

_K = 8


def check_default(case: Case) -> None:
    """The default: the set of an array if the engine is exact, otherwise a set that says that it is not proved."""
    rows = case.rows()
    with case.opened(rows) as found:
        for query in case.queries(rows, 2):
            ours, array = select(found.oracle, query, k=_K), select(rows, query, k=_K)
            _compare(case, found, ours, array)
            for name in ("requests", "rows", "bytes"):
                require(ours.stats[name] > 0, f"stats[{name!r}] is {ours.stats[name]}")
            if hasattr(found.oracle, "top_rows"):
                require(ours.stats["requests"] <= ours.stats["rounds"], "rows and ids took more than one request")


def check_paper(case: Case) -> None:
    """The paper's objective: directions that are no queries. For an exact engine."""
    rows = case.rows(300)
    with case.opened(rows) as found:
        if not found.exact:
            raise NotApplicableError("the engine is not exact")
        query = case.queries(rows, 1)[0]
        for theta in (0.5, 0.8):
            ours, array = (select(x, query, k=_K, theta=theta, sharpness=1) for x in (found.oracle, rows))
            _compare(case, found, ours, array)


def check_constraints(case: Case) -> None:
    """Pinned and excluded rows, groups and costs, by the engine's own ids."""
    rows = case.rows(120)
    with case.opened(rows) as found:
        names: list[Any] = list(range(len(rows))) if found.names is None else found.names
        query = case.queries(rows, 1)[0]
        order = np.argsort(-(rows @ query))
        pin, out = names[int(order[20])], names[int(order[0])]
        by_name = {name: place % 3 for place, name in enumerate(names)}
        ours = select(
            found.oracle, query, k=6, pinned=[pin], excluded=[out], groups=by_name, per_group=2,
            costs=lambda ids: [1.0 for _ in ids], budget=100.0,
        )  # fmt: skip
        chosen = ours.ids.tolist()
        require(pin in chosen, f"the pinned row {pin!r} is not among {chosen}")
        require(out not in chosen, f"the excluded row {out!r} was chosen")
        require(max(np.bincount([by_name[name] for name in chosen])) <= 2, "a group has more rows than per_group")
        reasons = list(ours.explain())
        require([reason.id for reason in reasons] == chosen, "explain() names other rows")


def check_few_matches(case: Case) -> None:
    """Where fewer than k rows match a filter, the set has fewer, and says so."""
    if not case.metadata:
        raise NotApplicableError("the engine was opened without metadata")
    rows = case.rows(60)
    with case.opened(rows, make_metadata(len(rows))) as found:
        if not hasattr(found.oracle, "filtered"):
            raise NotApplicableError("the oracle has no filtered()")
        inside = found.oracle.filtered({"year": 2003})
        ours = select(inside, case.queries(rows, 1)[0], k=_K, on_topic=0.0)
        require(len(ours.ids) == inside.size < _K, f"{inside.size} rows match, {len(ours.ids)} were chosen")
        require(ours.stats.get("asked") == _K, "stats['asked'] does not say how many rows there should have been")


def _compare(case: Case, found: Opened, ours: Any, array: Any) -> None:
    if found.exact:
        off = abs(ours.objective - array.objective)
        require(off <= 10 * case.tolerance + case.row_error, f"the objective is {off:.3g} off that of an array")
    require(ours.certificate.exact == found.exact, f"the certificate says exact={ours.certificate.exact}")
    require(_are_known(found, ours.ids), f"ids are not the engine's own: {ours.ids!r}")


def _are_known(found: Opened, ids: Array) -> bool:
    known = range(found.size) if found.names is None else found.names
    return all(name in known for name in ids.tolist())
