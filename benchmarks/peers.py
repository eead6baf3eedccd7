"""The libraries we compare with, called as their users call them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def plain_top_k(E: np.ndarray, q: np.ndarray, k: int) -> np.ndarray:
    """An ordinary top-k: one product and one partition."""
    scores = E @ q
    near = np.argpartition(scores, len(scores) - k)[len(scores) - k :]
    return near[np.argsort(-scores[near])]


def faiss_top_k(E: np.ndarray) -> Callable[[np.ndarray, int], Any]:
    """faiss with IndexFlatIP. A query uses one thread, which is faster on few cores."""
    import faiss

    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(E.shape[1])
    index.add(E)
    return lambda q, k: index.search(q[None], k)


def algorithm_1_torch(E: np.ndarray, theta: float, k: int, most: int = 200) -> Callable[[np.ndarray], np.ndarray]:
    """The paper's Algorithm 1, written directly in PyTorch: λ = 2, uniform start, exact line search."""
    import torch

    rows = torch.from_numpy(E)

    def solve(query: np.ndarray) -> np.ndarray:
        q = torch.from_numpy(query)
        n = len(rows)
        c = rows @ q
        x = torch.full((n,), k / n)
        v = rows.T @ x
        for _ in range(most):
            gradient = theta * (k - 1) * c + 2 * (1 - theta) * (2 * x - rows @ v)
            top = torch.topk(gradient, k).indices
            towards = rows[top].sum(dim=0)
            gap = float(gradient[top].sum() - gradient @ x)
            if gap <= 1e-7 * k * (k - 1):
                break
            square = float(x @ x) - 2 * float(x[top].sum()) + k
            curvature = 2 * (1 - theta) * (2 * square - float((towards - v).square().sum()))
            gamma = 1.0 if curvature >= 0 else min(1.0, gap / -curvature)
            x *= 1 - gamma
            x[top] += gamma
            v = (1 - gamma) * v + gamma * towards
        return torch.topk(x, k).indices.numpy()

    return solve


def pyversity(strategy: str, E: np.ndarray, q: np.ndarray, k: int, diversity: float) -> Any:
    """pyversity's `diversify`. The time includes the scores, because a user has to compute them."""
    from pyversity import Strategy, diversify

    return diversify(E, E @ q, k, strategy=Strategy(strategy), diversity=diversity)


def langchain_mmr(E: np.ndarray, q: np.ndarray, k: int, theta: float) -> Any:
    """What LangChain runs for `search_type="mmr"`."""
    from langchain_core.vectorstores.utils import maximal_marginal_relevance

    return maximal_marginal_relevance(q, list(E), lambda_mult=theta, k=k)
