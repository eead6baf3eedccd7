"""Time of this tree over that of another checkout of the project, case by case, in one run.

Two worker processes, one for each tree, hold the same rows and take turns.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.collections import prepared
from benchmarks.report import ROOT, load, page, save, table
from benchmarks.timing import machine
from tests.synthetic import clustered, query_near

POOLS, LARGE = (100, 1_000, 10_000), 1_000_000
KS, LARGE_KS, THETAS = (5, 10, 50), (10, 100), (0.5, 0.7, 0.9)
_PAUSE = 0.02


def main(against: Path, rounds: int, folder: Path) -> None:
    """Measure, and write results/pace.json and docs/benchmarks/pace.md."""
    files = _write_pools(folder)
    rows, compact = prepared(folder, "clustered", LARGE, 384, None)
    files |= {f"{LARGE} array": str(rows), f"{LARGE} compact": str(compact)}
    trees = {"this": ROOT / "src", "other": against / "src"}
    workers = {name: _Worker(tree, files) for name, tree in trees.items()}
    commits = {name: _describe(tree) for name, tree in trees.items()}
    cells = []
    for name in files:
        ks = KS if int(name.split()[0]) < LARGE else LARGE_KS
        for k in ks:
            for theta in THETAS:
                cells.append(_compare(workers, name, k, theta, rounds))
                print(cells[-1], flush=True)
    for worker in workers.values():
        worker.close()
    save("pace", {"machine": machine(), "rounds": rounds, "commits": commits, "cells": cells})
    render()


def _compare(workers: dict[str, _Worker], name: str, k: int, theta: float, rounds: int) -> dict[str, Any]:
    """One case: the median over queries of this tree's time over the other's, and what the sets are worth."""
    for worker in workers.values():
        worker.ask(name, k, theta)
    found: dict[str, list[dict[str, list[float]]]] = {tree: [] for tree in workers}
    for number in range(rounds):
        for tree in list(workers) if number % 2 else list(workers)[::-1]:
            time.sleep(_PAUSE)
            found[tree].append(workers[tree].ask(name, k, theta))
    seconds = {tree: np.array([one["seconds"] for one in answers]) for tree, answers in found.items()}
    ratios = seconds["this"] / seconds["other"]
    gains = np.array(found["this"][0]["objectives"]) - np.array(found["other"][0]["objectives"])
    return {
        "case": name,
        "k": k,
        "theta": theta,
        "ratio": float(np.median(ratios)),
        "low": float(np.quantile(ratios, 0.25)),
        "high": float(np.quantile(ratios, 0.75)),
        "ms": 1000 * float(np.median(seconds["this"])),
        "other_ms": 1000 * float(np.median(seconds["other"])),
        "better": int(np.sum(gains > 1e-6)),
        "worse": int(np.sum(gains < -1e-6)),
    }


class _Worker:
    """A process that selects with the sources of one tree."""

    def __init__(self, tree: Path, files: dict[str, str]) -> None:
        environment = {**os.environ, "PYTHONPATH": str(tree)}
        command = [sys.executable, "-m", "benchmarks.pace_worker", json.dumps(files)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, name: str, k: int, theta: float) -> dict[str, list[float]]:
        """Select for every query of a case once: seconds and objectives."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([name, k, theta]) + "\n")
        self._process.stdin.flush()
        answer: dict[str, list[float]] = json.loads(self._process.stdout.readline())
        return answer

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def _write_pools(folder: Path) -> dict[str, str]:
    """Small collections as files, so that both workers see the same rows."""
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(1)
    files = {}
    for n in POOLS:
        path = folder / f"pool-{n}.npy"
        np.save(path, clustered(rng, n, 384))
        files[f"{n} array"] = str(path)
    return files


def make_queries(rows: np.ndarray, count: int) -> list[np.ndarray]:
    """The queries of a collection, the same for both trees."""
    rng = np.random.default_rng(2)
    return [query_near(rng, rows).astype(np.float32) for _ in range(count)]


def _describe(tree: Path) -> str:
    command = ["git", "-C", str(tree), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def render() -> None:
    """Write the page from results/pace.json."""
    data = load("pace")
    info = data["machine"]
    rows = [
        [
            c["case"],
            str(c["k"]),
            str(c["theta"]),
            f"{c['ms']:.2f}",
            f"{c['other_ms']:.2f}",
            f"{c['ratio']:.2f} ({c['low']:.2f}–{c['high']:.2f})",
            str(c["better"]),
            str(c["worse"]),
        ]
        for c in data["cells"]
    ]
    head = ["rows", "k", "θ", "ms", "before, ms", "ratio", "better sets", "worse sets"]
    page(
        "pace",
        f"""# Time of `certified` over that of an earlier commit

Written by `python -m benchmarks pace --against FOLDER`; do not edit. {info["cpu"]}, {info["cores"]} cores, Python {
            info["python"]
        }, NumPy {info["numpy"]}.

Commit {data["commits"]["this"]} over {
            data["commits"]["other"]
        }: two processes hold the same clustered rows (384 dimensions)
and take turns. Ratios are medians of {
            data["rounds"]
        } rounds over several queries, quartiles in brackets. "Better" and "worse"
count the queries whose objective differs by more than 1e-6.

{table(head, rows)}
""",
    )
