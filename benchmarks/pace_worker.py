"""One side of `benchmarks.pace`: reads cases from standard input, answers with seconds and objectives.

It runs with the sources of the tree that it measures, so it uses public names of `breadth` alone.
"""

from __future__ import annotations

import inspect
import json
import sys
import time

import numpy as np

from benchmarks.pace import make_queries
from breadth import ArrayOracle, CompactOracle, select

PAPER = {"sharpness": 1} if "sharpness" in inspect.signature(select).parameters else {}
"""Both trees solve the paper's problem; an older one knows no other."""


def main() -> None:
    files = json.loads(sys.argv[1])
    held: dict[str, tuple[object, list[np.ndarray]]] = {}
    for line in sys.stdin:
        name, k, theta = json.loads(line)
        if name not in held:
            held.clear()  # one collection at a time
            array = next(path for other, path in files.items() if other == f"{name.split()[0]} array")
            rows = np.load(array)
            # Each tree has a file format of its own, so the codes are built anew.
            oracle = CompactOracle.build(rows) if name.endswith("compact") else ArrayOracle(rows)
            held[name] = oracle, make_queries(rows, 5 if len(rows) > 100_000 else 12)
        oracle, queries = held[name]
        seconds, objectives = [], []
        for query in queries:
            started = time.perf_counter()
            found = select(oracle, query, k=k, theta=theta, **PAPER)
            seconds.append(time.perf_counter() - started)
            objectives.append(found.objective)
        print(json.dumps({"seconds": seconds, "objectives": objectives}), flush=True)


if __name__ == "__main__":
    main()
