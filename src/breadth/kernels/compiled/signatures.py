"""The types that compiled functions are called with: they are fixed, so nothing is ever compiled inside a query."""

from __future__ import annotations

from numba import boolean, float32, float64, int64, types, uint8

from breadth.feasible import Parts, Rules
from breadth.kernels.contract import Aims, Outcome, Wanted

GRAM = types.Array(float32, 2, "C", readonly=True)
VECTOR = types.Array(float64, 1, "C", readonly=True)
ROW = types.Array(float32, 1, "C", readonly=True)
ROWS = types.Array(float64, 2, "C", readonly=True)
SET = types.Array(int64, 1, "C", readonly=True)
NUMBERS = types.Array(float64, 1, "C")
PLACES = types.Array(int64, 1, "C")
MASK = types.Array(boolean, 1, "C")
RULES = types.NamedTuple((boolean, types.Array(uint8, 2, "C"), PLACES, PLACES, MASK, NUMBERS, float64), Rules)
PARTS = types.NamedTuple((PLACES, PLACES, MASK), Parts)
AIMS = types.NamedTuple((int64, float64, float64, int64, int64, float64, int64, int64, float64, float64, float64), Aims)
WANTED = types.NamedTuple((int64, float64, float64, int64, float64, boolean, float64, float64), Wanted)
OUTCOME = types.NamedTuple((PLACES, NUMBERS, NUMBERS, NUMBERS, MASK, MASK, NUMBERS), Outcome)
