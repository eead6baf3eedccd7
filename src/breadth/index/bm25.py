"""BM25 over texts in memory (extra `bm25`): relevance by words, and the candidate pools of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from breadth.arrays import Ids
from breadth.checks import check_count
from breadth.errors import InputError, MissingExtraError

PER_QUERY = 3000
"""How many passages the paper takes for each question."""


class BM25:
    """A BM25 index in memory (bm25s, English stemming and stop words)."""

    def __init__(self, texts: Sequence[str]) -> None:
        try:
            import bm25s
            import Stemmer
        except ImportError as error:
            raise MissingExtraError(str(error.name), "bm25") from None
        if len(texts) == 0:
            raise InputError("texts must hold at least one text")
        self._bm25s: Any = bm25s
        self._stemmer = Stemmer.Stemmer("english")
        self._size = len(texts)
        self._index = bm25s.BM25()
        self._index.index(self._tokenize(list(texts)), show_progress=False)

    def scores(self, query: str) -> npt.NDArray[np.float32]:
        """Score every text, 0 where it shares no word with the query. `breadth.select(scores=…)` takes the result."""
        tokens = self._tokenize([query], ids=False)[0]
        known = [token for token in tokens if token in self._index.vocab_dict]
        if not known:
            return np.zeros(self._size, dtype=np.float32)
        scores: npt.NDArray[np.float32] = self._index.get_scores(known)
        return scores

    def top(self, query: str, count: int) -> Ids:
        """Return the texts that share a word with the query, best first, at most `count`."""
        scores = self.scores(query)
        order = np.argsort(-scores, kind="stable")[: check_count(count, "count")]
        return order[scores[order] > 0.0].astype(np.int64)

    def pool(self, queries: Sequence[str], per_query: int = PER_QUERY) -> Ids:
        """Merge the best texts of every query: each text once, in increasing order."""
        found = [self.top(query, per_query) for query in queries]
        return np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)

    def _tokenize(self, texts: list[str], ids: bool = True) -> Any:
        return self._bm25s.tokenize(texts, stopwords="en", stemmer=self._stemmer, return_ids=ids, show_progress=False)
