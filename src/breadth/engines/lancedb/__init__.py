"""LanceDB: a table in a folder, or in any place that LanceDB can connect to (extra `lancedb`).

oracle.py    opens a table and asks it; the only importer of lancedb
filters.py   filters in its SQL
"""

from breadth.engines.lancedb.oracle import LanceOracle, lancedb

__all__ = ["LanceOracle", "lancedb"]
