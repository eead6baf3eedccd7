"""A Ray cluster on this machine. Ray listens on every address, so this runs inside an enclosure alone."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from tests.engines.servers.child import temporary_folder
from tests.engines.servers.enclosure import is_inside


@contextmanager
def cluster(cpus: int = 4) -> Iterator[None]:
    """Start a cluster, join it, and stop it."""
    import ray  # here, since the other tests import this file as well

    if not is_inside():
        raise RuntimeError("Ray listens on every address: start it in an enclosure")
    with temporary_folder() as folder:
        ray.init(
            num_cpus=cpus, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR,
            object_store_memory=1 << 28, _temp_dir=str(folder),
        )  # fmt: skip
        try:
            yield
        finally:
            ray.shutdown()
