"""The paper's latency figure on your device: methods on a TorchOracle, k = 25, 50, 100, θ from 0.1 to 0.9.

It prints a table and writes results/gpu.json. There is no page, because every machine has its own figures.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from benchmarks.collections import clustered_chunks
from benchmarks.report import save, table
from benchmarks.timing import machine, progress
from breadth import select
from breadth.oracles import TorchOracle
from tests.synthetic import query_near

METHODS = ("topk", "frank_wolfe", "mmr", "dpp", "certified")


def main(rounds: int, rows: int, dim: int, device: str | None, dtype: str, thetas: tuple[float, ...]) -> None:
    """Time every method at every k and θ."""
    import torch

    device = device or ("cuda" if torch.cuda.is_available() else "cpu")
    rng = np.random.default_rng(0)
    E = np.concatenate(list(clustered_chunks(rng, rows, dim)))
    oracle = TorchOracle(E, device=device, dtype=getattr(torch, dtype))
    queries = [query_near(rng, E).astype(np.float32) for _ in range(rounds)]
    what = torch.cuda.get_device_name(device) if device.startswith("cuda") else device
    print(f"{rows:,} × {dim}, {dtype}, on {what}; {rounds} queries per cell, median ms", flush=True)
    data: dict[str, Any] = {"rows": rows, "dim": dim, "dtype": dtype, "device": what, "machine": machine(), "cells": []}
    lines = []
    for k, theta in progress([(k, t) for k in (25, 50, 100) for t in thetas], "gpu"):
        line = [str(k), f"{theta:g}"]
        for method in METHODS:
            select(oracle, queries[0], k=k, theta=theta, method=method, sharpness=1)
            times = []
            for q in queries:
                start = time.perf_counter()
                select(oracle, q, k=k, theta=theta, method=method, sharpness=1)
                times.append(1000 * (time.perf_counter() - start))
            data["cells"].append({"k": k, "theta": theta, "method": method, "ms": float(np.median(times))})
            line.append(f"{np.median(times):.1f}")
        lines.append(line)
    save("gpu", data)
    print(table(["k", "θ", *METHODS], lines))
