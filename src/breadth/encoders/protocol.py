"""What an encoder is: it turns texts into unit vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Protocol, get_args, runtime_checkable

import numpy as np
import numpy.typing as npt

from breadth.checks import check_choice
from breadth.errors import InputError
from breadth.filters.values import check_text
from breadth.foreign import to_array

Kind = Literal["document", "query"]
Vectors = npt.NDArray[np.float32]


@runtime_checkable
class Encoder(Protocol):
    """Anything with a `name`, a `dim` and `encode(texts, kind)`.

    `encode` returns one float32 row for each text, of shape (len(texts), dim), also for an empty list. A row has
    length 1, or is all zeros if the text holds nothing that the encoder knows. A row depends on its own text alone,
    not on the others in the list. `kind` says whether the texts are documents or queries; an encoder that treats both
    alike ignores it.

    `name` says what made the vectors: two encoders with the same name give the same vectors.
    """

    @property
    def name(self) -> str: ...
    @property
    def dim(self) -> int: ...
    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors: ...


def check_texts(texts: Sequence[str], kind: Kind) -> list[str]:
    """Check the arguments of `encode` and return the texts as a list."""
    check_choice(kind, "kind", get_args(Kind))
    if isinstance(texts, (str, bytes)):
        raise InputError(f"texts must be a list of texts, got {type(texts).__name__}; pass [text]")
    try:
        found = list(texts)
    except TypeError:
        raise InputError(f"texts must be a list of texts, got {texts!r}") from None
    for place, text in enumerate(found):
        if not isinstance(text, str):
            raise InputError(f"texts must hold texts only, got {text!r} at place {place}")
        check_text(text, f"the text at place {place}")
    return found


def unit_rows(rows: Any, wanted: int, name: str) -> Vectors:
    """Turn what a model returned into float32 rows of unit length; rows of zeros stay as they are."""
    vectors = to_array(rows, f"what encoder {name} returned")
    if vectors.dtype.kind not in "fiu":
        raise InputError(f"encoder {name} must return numbers, got {vectors.dtype}")
    if vectors.ndim != 2 or len(vectors) != wanted:
        raise InputError(f"encoder {name} was given {wanted} texts and returned an array of shape {vectors.shape}")
    if not np.isfinite(vectors).all():
        raise InputError(f"encoder {name} returned NaN or infinity for one of the texts")
    wide = vectors.astype(np.float64)
    largest = np.abs(wide).max(axis=1, initial=0.0, keepdims=True)
    wide /= np.where(largest > 0.0, largest, 1.0)  # so that no square is too large or too small
    lengths = np.linalg.norm(wide, axis=1, keepdims=True)
    return np.asarray(wide / np.where(lengths > 0.0, lengths, 1.0), dtype=np.float32)


def no_rows(dim: int) -> Vectors:
    """Return the rows of an empty list of texts."""
    return np.empty((0, dim), dtype=np.float32)
