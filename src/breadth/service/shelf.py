"""The collection that is served. It can be opened again while requests are being answered."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from breadth.service.collections.protocol import Served

Open = Callable[[], Served]


@dataclass(eq=False)
class _Copy:
    """An open collection, how many requests use it, and whether a newer one has taken its place."""

    served: Served
    users: int = 0
    replaced: bool = False


class Shelf:
    """Lends the collection. After `reload`, who has the old one keeps it; the last one to give it back closes it."""

    def __init__(self, open_collection: Open) -> None:
        self._open = open_collection
        self._mutex = threading.Lock()
        self._reloading = threading.Lock()
        self._current = _Copy(_open_warm(open_collection))

    @contextmanager
    def lend(self) -> Iterator[Served]:
        """Lend the collection that is current now."""
        with self._mutex:
            copy = self._current
            copy.users += 1
        try:
            yield copy.served
        finally:
            with self._mutex:
                copy.users -= 1
                last = copy.replaced and copy.users == 0
            if last:
                copy.served.close()

    def reload(self) -> None:
        """Open the collection again. If that fails, the error is raised and the old one stays."""
        with self._reloading:
            self._put(_Copy(_open_warm(self._open)))

    def close(self) -> None:
        """Close the collection once nobody uses it."""
        with self._mutex:
            copy, self._current.replaced = self._current, True
            idle = copy.users == 0
        if idle:
            copy.served.close()

    def _put(self, fresh: _Copy) -> None:
        with self._mutex:
            old, self._current = self._current, fresh
            old.replaced = True
            idle = old.users == 0
        if idle:
            old.served.close()


def _open_warm(open_collection: Open) -> Served:
    """Open a collection and search it once, so that the first request need not wait for files and compilers."""
    served = open_collection()
    try:
        if served.count():
            served.select([[1.0] + [0.0] * (served.dim - 1)], {"k": 1})
    except BaseException:
        served.close()
        raise
    return served
