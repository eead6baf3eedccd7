"""Made-up collections of unit rows with the shapes that real embeddings have. Also used by the benchmarks."""

from __future__ import annotations

import numpy as np


def unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def isotropic(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Directions without any structure."""
    return unit(rng.standard_normal((n, d), dtype=np.float32))


def clustered(rng: np.random.Generator, n: int, d: int, clusters: int = 0, spread: float = 0.7) -> np.ndarray:
    """Topics of about 200 rows around centres that share a common direction, as embeddings do."""
    clusters = clusters or max(2, n // 200)
    centres = unit(isotropic(rng, clusters, d) + 0.5 * isotropic(rng, 1, d))
    rows = rng.standard_normal((n, d), dtype=np.float32)
    rows *= spread / np.sqrt(d)
    rows += centres[rng.integers(clusters, size=n)]
    rows /= np.sqrt(np.einsum("ij,ij->i", rows, rows))[:, None]
    return rows


def duplicated(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Every row about four times, exactly."""
    return isotropic(rng, max(1, n // 4), d)[rng.integers(max(1, n // 4), size=n)]


def narrow_cone(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """All rows within a narrow cone: every cosine is high."""
    return unit(isotropic(rng, n, d) * 0.5 + isotropic(rng, 1, d))


SHAPES = {"isotropic": isotropic, "clustered": clustered, "duplicated": duplicated, "narrow_cone": narrow_cone}


def query_near(rng: np.random.Generator, rows: np.ndarray) -> np.ndarray:
    """A query that some row is relevant to."""
    row = rows[rng.integers(len(rows))]
    return unit(row + 0.8 * isotropic(rng, 1, rows.shape[1])[0])
