"""An exact oracle over int8 codes, and its file."""

from breadth.oracles.compact.oracle import CompactOracle

__all__ = ["CompactOracle"]
