"""Independent, dense implementations straight from the formulas: slow, obvious, and only for checking.

`algorithm1` is a line-by-line transcription of the paper's pseudo-code; the benchmarks time it as a peer.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np


def objective(E, c, S, theta):
    """F(S), with the pairs written out."""
    S = list(S)
    pairs = sum(float(E[i] @ E[j]) for i in S for j in S if i != j)
    return theta * (len(S) - 1) * sum(float(c[i]) for i in S) - (1 - theta) * pairs


def reported(E, c, S, theta):
    return objective(E, c, S, theta) / (len(S) * (len(S) - 1))


def relaxed(E, c, x, k, theta, lam=2.0):
    """f(x)."""
    v = E.T @ x
    return theta * (k - 1) * (c @ x) + (1 - theta) * (lam * (x @ x) - v @ v)


def gradient(E, c, x, k, theta, lam=2.0):
    return theta * (k - 1) * c + 2 * (1 - theta) * (lam * x - E @ (E.T @ x))


def all_sets(n, k):
    return combinations(range(n), k)


def optimum(E, c, k, theta):
    return max(objective(E, c, S, theta) for S in all_sets(len(E), k))


def algorithm1(E, c, k, theta, lam=2.0, T=200, start=None, zero=0.0):
    """Algorithm 1, line by line. Returns x and the number of iterations."""
    n = len(E)
    x = np.full(n, k / n, dtype=E.dtype) if start is None else start.astype(E.dtype)
    v = E.T @ x
    for t in range(T):
        grad = theta * (k - 1) * c + 2 * (1 - theta) * (lam * x - E @ v)
        top = np.argpartition(-grad, k - 1)[:k]
        s = np.zeros(n, dtype=E.dtype)
        s[top] = 1
        d = s - x
        gap = float(grad @ d)
        if gap <= zero:
            return x, t
        Ed = E[top].sum(axis=0) - v
        C = 2 * (1 - theta) * (lam * float(d @ d) - float(Ed @ Ed))
        gamma = 1.0 if C >= 0 else min(1.0, gap / -C)
        x = s if gamma == 1.0 else x + E.dtype.type(gamma) * d
        v = v + E.dtype.type(gamma) * Ed
    return x, T


def greedy(E, c, k, theta):
    S = [int(np.argmax(c))]
    while len(S) < k:
        S.append(max(_rest(E, S), key=lambda i: theta * (k - 1) * c[i] - 2 * (1 - theta) * sum(E[i] @ E[j] for j in S)))
    return S


def msd(E, c, k, theta):
    S = [int(np.argmax(c))]

    def merit(i):
        return 0.5 * theta * (k - 1) * c[i] + 2 * (1 - theta) * sum(1 - E[i] @ E[j] for j in S)

    while len(S) < k:
        S.append(max(_rest(E, S), key=merit))
    return S


def mmr(E, c, k, theta):
    S = [int(np.argmax(c))]
    while len(S) < k:
        S.append(max(_rest(E, S), key=lambda i: theta * c[i] - (1 - theta) * max(E[i] @ E[j] for j in S)))
    return S


def dpp(E, c, k, theta):
    """Greedy on θ Σc + (1-θ) log det, with determinants."""
    S = []
    while len(S) < k:
        before = _log_det(E, S)
        S.append(max(_rest(E, S), key=lambda i: theta * c[i] + (1 - theta) * (_log_det(E, [*S, i]) - before)))
    return S


def vrsd(E, q, k):
    S = []

    def cosine(i):
        total = E[[*S, i]].sum(axis=0)
        return float(q @ total) / float(np.linalg.norm(total))

    while len(S) < k:
        S.append(max(_rest(E, S), key=cosine))
    return S


def _rest(E, S):
    return [i for i in range(len(E)) if i not in S]


def _log_det(E, S):
    if not S:
        return 0.0
    return float(np.linalg.slogdet(E[S] @ E[S].T)[1])
