"""The encoder that ships with the package: potion-base-8M by MinishLab (MIT), its table quantised to int8.

A static model: the vector of a text is the mean of the vectors of its tokens. No network, no GPU, thousands of
passages a second. `scripts/quantise_potion.py` made the file.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from breadth.encoders.protocol import Kind, Vectors, unit_rows
from breadth.errors import MissingExtraError

_TOKENS = 512
"""Tokens of a text that count, as in the original."""
_TOGETHER, _NUMBERS = 1024, 1 << 16
"""Texts, and about how many tokens of them, at a time."""


class BuiltinEncoder:
    """potion-base-8M, int8, 256 dimensions. Documents and queries are encoded alike."""

    name = "builtin:potion-base-8M-int8-v1"
    dim = 256

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Unit rows; a text without any known token is a row of zeros."""
        rows = np.zeros((len(texts), self.dim), dtype=np.float32)
        for start in range(0, len(texts), _TOGETHER):
            some = list(texts[start : start + _TOGETHER])
            tokens = [self._known(one.ids) for one in self._tokenizer.encode_batch_fast(some, add_special_tokens=False)]
            counts = np.array([len(t) for t in tokens])
            filled = np.flatnonzero(counts)
            if len(filled):
                for some_filled in np.array_split(filled, 1 + int(counts.sum()) // _NUMBERS):
                    every = np.concatenate([tokens[i] for i in some_filled])
                    vectors = self._codes[every].astype(np.float32) * self._scales[every, None]
                    begins = np.concatenate(([0], np.cumsum(counts[some_filled])[:-1]))
                    rows[start + some_filled] = np.add.reduceat(vectors, begins, axis=0)
        return unit_rows(rows, len(texts), self.name)

    def _known(self, ids: list[int]) -> Any:
        tokens = np.asarray(ids, dtype=np.int64)
        return tokens[tokens != self._unknown][:_TOKENS]

    @cached_property
    def _table(self) -> dict[str, Any]:
        with np.load(_file("potion-base-8M-int8.npz")) as table:
            return {name: table[name] for name in ("codes", "scales", "unknown")}

    @cached_property
    def _codes(self) -> Any:
        return self._table["codes"]

    @cached_property
    def _scales(self) -> Any:
        return self._table["scales"]

    @cached_property
    def _unknown(self) -> int:
        return int(self._table["unknown"])

    @cached_property
    def _tokenizer(self) -> Any:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise MissingExtraError("tokenizers", "text") from None
        return Tokenizer.from_file(_file("potion-base-8M-tokenizer.json"))


def _file(name: str) -> str:
    return str(files("breadth.encoders") / "data" / name)
