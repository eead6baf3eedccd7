"""Which sets a user allows: one file for each constraint, `registry.py` lists them, `family.py` joins those of a query.

`protocol.py` says what a constraint can say. Solvers ask the family, and what they work with on rows in memory are the
`Rules` of `breadth.feasible`.
"""

from breadth.constraints.family import NO_CONSTRAINTS, Constraints

__all__ = ["NO_CONSTRAINTS", "Constraints"]
