"""The settings of `select` that a user need not choose, and the paper's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Setting:
    """How relevance is weighed against redundancy, what counts as a copy and as off topic, and whether the best hit
    stays."""

    theta: float
    sharpness: int
    distinct: float | None
    keep_best: bool
    on_topic: float | None


PAPER = Setting(theta=0.7, sharpness=1, distinct=None, keep_best=False, on_topic=None)
"""The paper's objective."""

DEFAULT = Setting(theta=1.0, sharpness=12, distinct=0.999, keep_best=True, on_topic=0.5)
"""Top-k without repeats. `distinct` is for vectors alone: on the choosing halves of `python -m benchmarks serve` it
finds as much as 0.95 does, and hides hardly a passage that says something else. `on_topic` was not chosen: it is what
that benchmark calls off topic, half the relevance of the last row of top-k."""


def compares_texts(arguments: Mapping[str, Any]) -> bool:
    """Whether passages that repeat each other are to be told by their texts, where there are texts.

    Not for the paper's objective or another method, unless a `distinct` is passed; not for coverage, which counts what
    is said twice in its own way.
    """
    if arguments.get("cover") is not None or arguments.get("method") == "coverage":
        return False
    ordinary = arguments.get("method") in (None, "certified") and arguments.get("sharpness") is None
    return ordinary or arguments.get("distinct") is not None


DEFAULT_THETAS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
"""Those of a frontier."""
