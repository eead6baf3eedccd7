"""What the service counts, in the text format that Prometheus reads."""

from __future__ import annotations

import threading
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import accumulate

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
Labels = tuple[str, ...]


class Counter:
    """Something that only grows."""

    kind = "counter"

    def __init__(self, name: str, summary: str, labels: Labels = ()) -> None:
        self.name, self.summary, self._labels = name, summary, labels
        self._mutex = threading.Lock()
        self._values: dict[Labels, float] = {} if labels else {(): 0.0}

    def add(self, *labels: str, amount: float = 1.0) -> None:
        """Add to the series with these values of its labels."""
        with self._mutex:
            self._values[labels] = self._values.get(labels, 0.0) + amount

    def value(self, *labels: str) -> float:
        """The value of a series."""
        return self._values.get(labels, 0.0)

    def lines(self) -> Iterator[str]:
        """The lines about it."""
        with self._mutex:
            values = dict(self._values)
        for labels, value in sorted(values.items()):
            yield f"{self.name}{_write_labels(self._labels, labels)} {value:g}"


class Gauge(Counter):
    """Something that grows and shrinks."""

    kind = "gauge"


class Histogram:
    """How often a value was at most each of several bounds."""

    kind = "histogram"

    def __init__(self, name: str, summary: str, bounds: Sequence[float], labels: Labels = ()) -> None:
        self.name, self.summary, self._bounds, self._labels = name, summary, tuple(bounds), labels
        self._mutex = threading.Lock()
        self._counts: dict[Labels, list[int]] = {}
        self._sums: dict[Labels, float] = {}

    def observe(self, value: float, *labels: str) -> None:
        """Count a value."""
        with self._mutex:
            counts = self._counts.setdefault(labels, [0] * (len(self._bounds) + 1))
            counts[bisect_left(self._bounds, value)] += 1
            self._sums[labels] = self._sums.get(labels, 0.0) + value

    def lines(self) -> Iterator[str]:
        """The lines about it."""
        with self._mutex:
            seen = [(labels, tuple(counts), self._sums[labels]) for labels, counts in sorted(self._counts.items())]
        names = (*self._labels, "le")
        for labels, counts, total in seen:
            edges = (*(f"{bound:g}" for bound in self._bounds), "+Inf")
            for edge, count in zip(edges, accumulate(counts), strict=True):
                yield f"{self.name}_bucket{_write_labels(names, (*labels, edge))} {count}"
            yield f"{self.name}_sum{_write_labels(self._labels, labels)} {total:g}"
            yield f"{self.name}_count{_write_labels(self._labels, labels)} {sum(counts)}"


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

    def render(self) -> str:
        """The text for Prometheus."""
        lines: list[str] = []
        for metric in vars(self).values():
            lines += [f"# HELP {metric.name} {metric.summary}", f"# TYPE {metric.name} {metric.kind}", *metric.lines()]
        return "\n".join(lines) + "\n"


def _write_labels(names: Sequence[str], values: Sequence[str]) -> str:
    if not names:
        return ""
    escaped = (value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for value in values)
    return "{" + ",".join(f'{name}="{value}"' for name, value in zip(names, escaped, strict=True)) + "}"
