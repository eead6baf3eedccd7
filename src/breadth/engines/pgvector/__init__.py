"""PostgreSQL with pgvector, exact or with an index, synchronous or asynchronous (extra `pgvector`).

opening.py      the functions that open a table
oracle.py       the oracles: one for threads, one for tasks
collection.py   what they ask, written once: statements, settings, how answers are read
table.py        what the catalog says about a table
filters.py      filters in SQL
driver.py       the only importer of psycopg: pools of connections, time limits, errors
"""

from breadth.engines.pgvector.opening import apgvector, pgvector

__all__ = ["apgvector", "pgvector"]
