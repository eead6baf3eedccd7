"""Large collections with the shape of real embeddings, made once and kept in a folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks import asqa
from breadth.oracles import CompactOracle
from tests.synthetic import isotropic, unit

_CHUNK = 50_000


def clustered_chunks(rng: np.random.Generator, n: int, d: int, spread: float = 0.7) -> Iterator[np.ndarray]:
    """Yield topics of about 200 rows around centres that share a common direction, chunk by chunk."""
    clusters = max(2, n // 200)
    centres = unit(isotropic(rng, clusters, d) + 0.5 * isotropic(rng, 1, d))
    for start in range(0, n, _CHUNK):
        size = min(_CHUNK, n - start)
        rows = rng.standard_normal((size, d), dtype=np.float32)
        rows *= spread / np.sqrt(d)
        rows += centres[rng.integers(clusters, size=size)]
        yield unit(rows)


def tiled_chunks(rng: np.random.Generator, n: int, passages: np.ndarray, spread: float = 0.35) -> Iterator[np.ndarray]:
    """Yield the real passages over and over, perturbed each time: this is what a redundant collection looks like."""
    d = passages.shape[1]
    for start in range(0, n, len(passages)):
        rows = passages[: min(len(passages), n - start)]
        noise = rng.standard_normal(rows.shape, dtype=np.float32) * np.float32(spread / np.sqrt(d))
        yield unit(rows + noise if start else rows)


def prepared(folder: Path, name: str, n: int, d: int, asqa_folder: Path | None) -> tuple[Path, Path]:
    """Return the paths of the rows as `.npy` and as a compact file, and make the files if they do not exist.

    `name` is "clustered", or "tiled" for real passages over and over.
    """
    folder.mkdir(parents=True, exist_ok=True)
    array, compact = folder / f"{name}-{n}x{d}.npy", folder / f"{name}-{n}x{d}.compact"
    if not array.exists():
        rng = np.random.default_rng(n + d)
        passages = asqa.load(asqa_folder)[1]
        chunks = tiled_chunks(rng, n, passages) if name == "tiled" else clustered_chunks(rng, n, d)
        partial = array.with_suffix(".partial")
        kept = np.lib.format.open_memmap(partial, "w+", np.float32, (n, d))
        start = 0
        for chunk in chunks:
            kept[start : start + len(chunk)] = chunk
            start += len(chunk)
        kept.flush()
        partial.replace(array)
    if not compact.exists():
        rows = np.load(array, mmap_mode="r")
        CompactOracle.stream((rows[start : start + _CHUNK] for start in range(0, n, _CHUNK)), compact)
    return array, compact
