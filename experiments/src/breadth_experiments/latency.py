"""How long one query takes: one query at a time, with nothing else running, on some of the questions of a run."""

from __future__ import annotations

import time

import numpy as np

import breadth
from breadth_experiments.engine import Engine, load_collection, record_origin
from breadth_experiments.grid import KEY, WITHOUT_THETA, Grid
from breadth_experiments.progress import Progress, report_nothing
from breadth_experiments.records import Records
from breadth_experiments.run import Run


def measure_latency(
    run: Run,
    grid: Grid,
    *,
    engine: Engine | None = None,
    sample: int = 10,
    progress: Progress = report_nothing,
) -> int:
    """Time the queries that latency.jsonl does not have yet, and return how many were timed.

    `sample` questions, spread over the run, are asked one after the other, with the methods in turn. Preparations that
    do not depend on the query (the clusters of MUSS) are made before and are not timed.
    """
    engine = engine or Engine()
    record_origin(run, "latency", engine)
    collection = load_collection(run.folder, engine)
    oracle, queries, questions = collection.oracle, collection.queries, run.questions()
    places = np.unique(np.linspace(0, len(questions) - 1, min(sample, len(questions))).round().astype(int))
    plan = [(k, theta, place) for k in grid.ks for theta in grid.thetas for place in places]
    timed = 0
    with Records(run.path("latency.jsonl"), KEY) as records:
        for method in grid.methods:  # once each, so that nothing is compiled or loaded while the clock runs
            options = collection.options(method, grid.thetas[0])
            breadth.select(oracle, queries[0], k=min(grid.ks), method=method, **options, sharpness=1)
        for number, (k, theta, place) in enumerate(plan):
            for method in grid.methods:
                value = None if method in WITHOUT_THETA else theta
                key = (method, k, value, questions[place].id)
                if key in records:
                    continue
                options = collection.options(method, value)
                start = time.perf_counter()
                breadth.select(oracle, queries[place], k=k, method=method, **options, sharpness=1)
                seconds = time.perf_counter() - start
                records.append({**dict(zip(KEY, key, strict=True)), "seconds": round(seconds, 7)})
                timed += 1
            records.flush()
            progress(number + 1, len(plan))
    return timed
