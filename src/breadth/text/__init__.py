"""What texts say: whether one says all of another, and what differs."""

from breadth.text.compare import CONTAINED, DIFFERS, PARAPHRASE, SAME, Comparison, Difference, compare

__all__ = ["CONTAINED", "DIFFERS", "PARAPHRASE", "SAME", "Comparison", "Difference", "compare"]
