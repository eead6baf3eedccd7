"""The encoder that comes with the package: potion-base-8M by MinishLab (MIT), with its table quantised to int8.

It is a static model: the vector of a text is the mean of the vectors of its tokens. It needs no network and no GPU, and
encodes thousands of passages a second. `scripts/quantise_potion.py` made its files.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from typing import Any

import numpy as np

from breadth.encoders.protocol import Kind, Vectors, check_texts, unit_rows
from breadth.encoders.tokenizer import load_tokenizer

_TOKENS = 512
"""How many tokens of a text count, as in the original."""
_TEXTS_AT_A_TIME, _TOKENS_AT_A_TIME = 1024, 1 << 16
"""How many texts are tokenized, and about how many vectors are looked up, at a time: this bounds the memory."""


class BuiltinEncoder:
    """potion-base-8M, int8, 256 dimensions. It encodes documents and queries alike."""

    name = "builtin:potion-base-8M-int8-v1"
    dim = 256

    @classmethod
    def from_description(cls, version: str) -> BuiltinEncoder:
        """Make the encoder; there is one version, and an index that records another one says so when it is opened."""
        return cls()

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Turn texts into unit rows; a text without any known token becomes a row of zeros."""
        every = check_texts(texts, kind)
        rows = np.zeros((len(every), self.dim), dtype=np.float32)
        for start in range(0, len(every), _TEXTS_AT_A_TIME):
            some = every[start : start + _TEXTS_AT_A_TIME]
            tokens = [self._known(one.ids) for one in self._tokenizer.encode_batch_fast(some, add_special_tokens=False)]
            rows[start : start + len(some)] = self._sum_vectors(tokens)
        return unit_rows(rows, len(every), self.name)

    def _sum_vectors(self, tokens: list[Any]) -> Vectors:
        """Add up the vectors of the tokens of every text."""
        sums = np.zeros((len(tokens), self.dim), dtype=np.float32)
        counts = np.array([len(one) for one in tokens])
        filled = np.flatnonzero(counts)
        if len(filled) == 0:
            return sums
        for some in np.array_split(filled, 1 + int(counts.sum()) // _TOKENS_AT_A_TIME):
            together = np.concatenate([tokens[place] for place in some])
            vectors = self._codes[together].astype(np.float32) * self._scales[together, None]
            begins = np.concatenate(([0], np.cumsum(counts[some])[:-1]))
            sums[some] = np.add.reduceat(vectors, begins, axis=0)
        return sums

    def _known(self, ids: list[int]) -> Any:
        tokens = np.asarray(ids, dtype=np.int64)
        return tokens[tokens != self._unknown][:_TOKENS]

    @cached_property
    def _table(self) -> dict[str, Any]:
        with np.load(_data_file("potion-base-8M-int8.npz")) as table:
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
        return load_tokenizer(_data_file("potion-base-8M-tokenizer.json"), "text")


def _data_file(name: str) -> str:
    return str(files("breadth.encoders") / "data" / name)
