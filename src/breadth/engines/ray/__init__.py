"""A matrix over the machines of a Ray cluster: vectors without a store (extra `ray`).

oracle.py   the oracle: asks all shards and joins their answers; the only importer of ray
shard.py    what a worker holds: some of the rows, as a `CompactOracle`
source.py   where a worker gets its rows from: an array that it is sent, or a file that it reads
"""

from breadth.engines.ray.oracle import ray

__all__ = ["ray"]
