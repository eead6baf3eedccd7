"""`texts`: no passage beside one that says all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from breadth.arrays import Ids, Mask
from breadth.checks import check_number
from breadth.constraints.lookup import check_together, read_lookup
from breadth.constraints.protocol import Constraint, Given, Lookup, Option, Pairs, Scope
from breadth.errors import InputError
from breadth.near import CLOSE_VECTORS
from breadth.settings import DEFAULT
from breadth.text.compare import Comparison, compare_tokens, find_relation
from breadth.text.tokens import Tokens, read_tokens

COMPARED = 0.8
"""Texts are compared where the cosine of their vectors is above this. Passages that contain each other, with shifted
borders, were seen at 0.89; below 0.8 hardly a pair says the same."""
_BY_VECTORS = DEFAULT.distinct or 1.0
"""The cosine above which rows that have no text count as copies."""
PARAPHRASE = 0.85
"""The cosine above which texts in other words can say the same, for the built-in encoder."""


@dataclass(frozen=True, eq=False)
class Texts(Constraint):
    """Of two passages of which one says all of the other, one only.

    look_up      the texts of rows
    paraphrase   the cosine above which texts in other words can say the same
    prefer       values of rows: of copies with the same words, the one with the largest value is reported
    """

    look_up: Lookup
    paraphrase: float = PARAPHRASE
    prefer: Lookup | None = None
    _known: dict[int, Tokens] = field(default_factory=dict)

    arguments = ("texts", "prefer")
    options = (
        Option("prefer", str, "of passages with the same words, show the one with the largest value of this field"),
    )
    of_pairs = True

    @property
    def limit(self) -> str:
        return "texts"

    @classmethod
    def read(cls, given: Given, scope: Scope) -> Texts | None:
        texts, prefer, distinct = given.get("texts"), given.get("prefer"), given.get("distinct")
        if texts is None:
            check_together(
                texts=texts, prefer=prefer, why="it says which of several passages with the same words counts"
            )
            return None
        paraphrase = PARAPHRASE if distinct is None else check_number(distinct, "distinct", -1.0, 1.0)
        if paraphrase == 1.0:  # copies are allowed
            return None
        values = None if prefer is None else read_lookup(prefer, "prefer", scope)
        return cls(read_lookup(texts, "texts", scope), float(paraphrase), values)

    def renumber(self, ids: Ids) -> Texts:
        prefer = self.prefer
        inside = None if prefer is None else lambda places: prefer(ids[places])
        return Texts(lambda places: self.look_up(ids[places]), self.paraphrase, inside)

    def find_preferred(self, ids: Sequence[int]) -> int:
        """The row with the largest value; rows without one come last, and of equal ones the first stays."""
        assert self.prefer is not None
        values = list(self.prefer(np.array(ids, dtype=np.int64)))
        there = [place for place, value in enumerate(values) if value is not None and value == value]  # no NaN
        try:
            return ids[max(there, key=lambda place: values[place])] if there else ids[0]
        except TypeError:
            kinds = sorted({type(values[place]).__name__ for place in there})
            raise InputError(f"prefer must give values that can be compared, got {' and '.join(kinds)}") from None

    def read_rows(self, ids: Sequence[int]) -> list[Tokens]:
        """The texts of some rows, as tokens."""
        missing = [identity for identity in ids if identity not in self._known]
        if missing:
            for identity, text in zip(missing, self.look_up(np.array(missing, dtype=np.int64)), strict=True):
                if not isinstance(text, str):
                    raise InputError(f"texts must hold a text for every row, got {text!r} for row {identity}")
                self._known[identity] = read_tokens(text)
        return [self._known[identity] for identity in ids]

    def find_relation(self, whole: Tokens, part: Tokens, cosine: float) -> str | None:
        """How one text says all of another: "same", "contained", "says the same"; None if it does not.

        Where neither has a text, "close vectors".
        """
        if not (whole.keys or part.keys):
            return CLOSE_VECTORS if cosine > _BY_VECTORS else None
        return find_relation(whole, part, cosine > self.paraphrase)

    def compare(self, left: Tokens, right: Tokens, cosine: float) -> Comparison:
        return compare_tokens(left, right, cosine > self.paraphrase)

    def clash(self, pairs: Pairs) -> Mask:
        mask: Mask = pairs.above(min(COMPARED, self.paraphrase)).copy()
        mask &= pairs.left[:, None] != pairs.right
        for row, column in zip(*np.nonzero(mask), strict=True):
            left, right = self.read_rows([int(pairs.left[row]), int(pairs.right[column])])
            cosine = float(pairs.cosines[row, column])
            mask[row, column] = bool(self.find_relation(left, right, cosine) or self.find_relation(right, left, cosine))
        return mask

    def contradict(self, pins: Pairs) -> str | None:
        left, right = np.nonzero(np.triu(self.clash(pins), k=1))
        if len(left) == 0:
            return None
        return f"rows {pins.left[left[0]]} and {pins.left[right[0]]} are pinned, and one says all that the other says"
