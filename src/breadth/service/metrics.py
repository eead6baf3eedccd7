"""What the service counts, in the text format that Prometheus reads.

Several processes of one service each count for themselves. `Metrics.read` gives what one has counted, as plain values;
`Metrics.render` adds up what others have.
"""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import Any, ClassVar

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
Labels = tuple[str, ...]
Series = dict[Labels, list[float]]
"""The numbers of a metric, for each combination of the values of its labels."""


class Metric:
    """Numbers under a name. Several threads may change them."""

    kind: ClassVar[str]

    def __init__(self, name: str, summary: str, labels: Labels = ()) -> None:
        self.name, self.summary, self._labels = name, summary, labels
        self._mutex = threading.Lock()
        self._series: Series = {}

    def read(self) -> Series:
        """A copy of all numbers."""
        with self._mutex:
            return {labels: list(numbers) for labels, numbers in self._series.items()}

    def lines(self, series: Series) -> Iterator[str]:
        """The lines about these numbers."""
        raise NotImplementedError


class Counter(Metric):
    """Something that only grows."""

    kind = "counter"

    def __init__(self, name: str, summary: str, labels: Labels = ()) -> None:
        super().__init__(name, summary, labels)
        if not labels:
            self._series[()] = [0.0]

    def add(self, *labels: str, amount: float = 1.0) -> None:
        """Add to the series with these values of its labels."""
        with self._mutex:
            self._series.setdefault(labels, [0.0])[0] += amount

    def value(self, *labels: str) -> float:
        """The value of a series."""
        return self._series.get(labels, [0.0])[0]

    def lines(self, series: Series) -> Iterator[str]:
        for labels, (value,) in sorted(series.items()):
            yield f"{self.name}{_write_labels(self._labels, labels)} {value:.15g}"


class Gauge(Counter):
    """Something that grows and shrinks."""

    kind = "gauge"


class Histogram(Metric):
    """How often a value was at most each of several bounds. Its numbers are these counts, and the sum of the values."""

    kind = "histogram"

    def __init__(self, name: str, summary: str, bounds: Sequence[float], labels: Labels = ()) -> None:
        super().__init__(name, summary, labels)
        self._bounds = tuple(bounds)

    def observe(self, value: float, *labels: str) -> None:
        """Count a value."""
        with self._mutex:
            numbers = self._series.setdefault(labels, [0.0] * (len(self._bounds) + 2))
            numbers[bisect_left(self._bounds, value)] += 1
            numbers[-1] += value

    def lines(self, series: Series) -> Iterator[str]:
        names = (*self._labels, "le")
        edges = (*(f"{bound:g}" for bound in self._bounds), "+Inf")
        for labels, (*counts, total) in sorted(series.items()):
            for edge, count in zip(edges, accumulate(counts), strict=True):
                yield f"{self.name}_bucket{_write_labels(names, (*labels, edge))} {count:.15g}"
            yield f"{self.name}_sum{_write_labels(self._labels, labels)} {total:.15g}"
            yield f"{self.name}_count{_write_labels(self._labels, labels)} {sum(counts):.15g}"


Counted = dict[str, list[tuple[list[str], list[float]]]]
"""What was counted, fit for JSON: for each metric the values of the labels, and the numbers."""


class Metrics:
    """All that is counted."""

    def __init__(self) -> None:
        self.requests = Counter("breadth_requests_total", "Requests answered.", ("route", "status"))
        self.seconds = Histogram("breadth_request_seconds", "Seconds that requests took.", SECONDS, ("route",))
        self.running = Gauge("breadth_requests_running", "Requests that are being answered.")
        self.queries = Counter("breadth_queries_total", "Queries that were searched for.")
        self.searches = Counter("breadth_searches_total", "Searches; queries that arrive together share one.")
        self.sizes = Histogram("breadth_search_queries", "Queries that shared a search.", SIZES)
        self.reloads = Counter("breadth_reloads_total", "Times that the collection was opened again.")

    def read(self) -> Counted:
        """What was counted."""
        every: list[Metric] = list(vars(self).values())
        return {metric.name: [(list(one), numbers) for one, numbers in metric.read().items()] for metric in every}

    def render(self, others: Iterable[Counted] = ()) -> str:
        """The text for Prometheus: what was counted here and elsewhere."""
        elsewhere = list(others)
        lines: list[str] = []
        for metric in vars(self).values():
            series = metric.read()
            for one in elsewhere:
                _add(series, one.get(metric.name, []))
            lines += [f"# HELP {metric.name} {metric.summary}", f"# TYPE {metric.name} {metric.kind}"]
            lines += metric.lines(series)
        return "\n".join(lines) + "\n"


def _add(series: Series, more: Any) -> None:
    for labels, numbers in more:
        known = series.setdefault(tuple(labels), [0.0] * len(numbers))
        series[tuple(labels)] = [mine + theirs for mine, theirs in zip(known, numbers, strict=True)]


def _write_labels(names: Sequence[str], values: Sequence[str]) -> str:
    if not names:
        return ""
    escaped = (value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for value in values)
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(names, escaped, strict=True)) + "}"
