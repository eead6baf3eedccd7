"""Real servers for tests and benchmarks, one file each.

Every server runs on loopback, on a free port, in a temporary folder, and is stopped for sure: at the end of the block,
after a failure, and if the test process itself is killed (`child.py`). A server that insists on listening on every
address runs in a network of its own, and only one port of it can be reached from outside (`enclosure.py`).
They need Linux.
"""
