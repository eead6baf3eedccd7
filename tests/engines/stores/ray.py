"""A matrix over the workers of a Ray cluster."""

from __future__ import annotations

import breadth
from breadth.testing import CHECKS
from tests.engines.servers.ray import cluster
from tests.engines.stores.store import Place, Store


def serve(_folder):
    return cluster()


def fill(_place: Place, rows, keys=None, metadata=None, texts=None):
    return breadth.oracles.ray(rows, shards=min(2, len(rows)), cpus=0.1, timeout=20.0)


_NOT_ASKED = ("facts", "closed", "empty collection", "ties", "rows of another length")
"""An array is never empty. The others are in tests/engines/enclosed, or those of the compact oracle."""
_ASKED = tuple(name for name in CHECKS if name not in _NOT_ASKED)
STORES = (
    Store("ray", "array", fill, exact=True, metadata=False, serve=serve, enclosed=True, options={"only": _ASKED}),
)
