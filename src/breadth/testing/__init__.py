"""Check an oracle of your own: `check_oracle` runs the contract that every engine of this package is tested with.

`contract.py` lists the checks; `promises.py` says what each answer of an oracle must look like.
"""

from breadth.testing.contract import CHECKS, Report, check_oracle

__all__ = ["CHECKS", "Report", "check_oracle"]
