"""Which passages of a set another one of them says all of."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.arrays import Mask
from breadth.checks import check_number, check_unit_rows
from breadth.constraints.texts import COMPARED, PARAPHRASE
from breadth.errors import InputError
from breadth.metrics.lost import check_texts
from breadth.text.compare import find_relation
from breadth.text.tokens import read_tokens


def repeats(texts: Any, vectors: Any = None, *, paraphrase: float = PARAPHRASE) -> Mask:
    """Return for each passage whether another one says all of it. Of passages that say the same the first one counts.

    vectors      their unit rows: only passages that are close are compared, and passages in other words can say the
                 same if their cosine is above `paraphrase`. Without vectors all are compared, by their words alone
    """
    tokens = [read_tokens(text) for text in check_texts(texts, "texts")]
    size = len(tokens)
    if vectors is None:
        cosines, least = np.zeros((size, size)), -1.0
    else:
        rows = check_unit_rows(vectors, "vectors").astype(np.float64)
        if len(rows) != size:
            raise InputError(f"vectors must have a row for each of the {size} texts, got {len(rows)}")
        cosines, least = rows @ rows.T, COMPARED
    close = cosines > check_number(paraphrase, "paraphrase", -1.0, 1.0)
    near = cosines > least
    np.fill_diagonal(near, False)
    said = np.zeros((size, size), dtype=bool)
    for whole, part in zip(*np.nonzero(near), strict=True):
        relation = find_relation(tokens[whole], tokens[part], bool(close[whole, part]) and vectors is not None)
        said[whole, part] = relation is not None
    said &= ~(said.T & np.tril(np.ones((size, size), dtype=bool)))  # of two that say each other the first counts
    return np.asarray(said.any(axis=0))
