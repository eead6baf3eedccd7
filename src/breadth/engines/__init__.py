"""Oracles on vector engines: the store that people already have. One file for each engine, the only importer of it.

`registry.py` lists them; `breadth.oracles` has the function that opens each. An adapter fits the protocols in
`breadth/oracles/protocol.py`. What adapters share is here as well: handles for text ids (`keys.py`), metrics
(`metric.py`), checks and errors (`checking.py`), and addresses (`address.py`).
"""
