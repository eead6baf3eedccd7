"""An exact oracle over int8 codes: `oracle.py` searches, `codes.py` quantises, `memory.py` holds what was built,
`layout.py`, `writer.py` and `file.py` are its file."""

from breadth.oracles.compact.oracle import CompactOracle, save_together, write_rows

__all__ = ["CompactOracle", "save_together", "write_rows"]
