"""An exact oracle over int8 codes: `oracle.py` searches, `codes.py` quantises, `layout.py`, `writer.py` and `file.py`
are its file."""

from breadth.oracles.compact.oracle import CompactOracle

__all__ = ["CompactOracle"]
