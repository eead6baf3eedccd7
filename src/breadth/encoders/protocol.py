"""What turns text into unit vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from breadth.errors import InputError

Kind = Literal["document", "query"]
Vectors = npt.NDArray[np.float32]


@runtime_checkable
class Encoder(Protocol):
    """`encode(texts, kind)` returns (len(texts), dim) float32 rows of unit length.

    `name` tells what made the vectors: two encoders with one name give the same vectors. A row of zeros says that a
    text holds nothing the encoder knows.
    """

    @property
    def name(self) -> str: ...
    @property
    def dim(self) -> int: ...
    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors: ...


def unit_rows(rows: Any, wanted: int, name: str) -> Vectors:
    """What a model returned, as float32 rows of unit length; rows of zeros stay."""
    vectors = np.array(rows, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != wanted:
        raise InputError(f"encoder {name} was given {wanted} texts and returned an array of shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise InputError(f"encoder {name} returned NaN or infinity for one of the texts")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(lengths > 0.0, lengths, 1.0), dtype=np.float32)
