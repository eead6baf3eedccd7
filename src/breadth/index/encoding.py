"""The encoder that an index was made with: texts and vectors of another one do not mix with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from breadth import encoders
from breadth.encoders import BuiltinEncoder, Encoder, Kind, Vectors
from breadth.errors import BreadthError, StoreError


class RecordedEncoder:
    """The encoder whose name the index records. If none is given, it is made from its name when a text needs it."""

    def __init__(self, folder: Path, name: str, dim: int, given: Encoder | None) -> None:
        self._folder = folder
        self.name = name
        self.dim = dim
        self.encoder = BuiltinEncoder() if given is None and name == BuiltinEncoder.name else given
        if self.encoder is not None and self.encoder.name != name:
            raise StoreError(f"{folder} was made with the encoder {name}, not {self.encoder.name}; vectors do not mix")

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Turn texts into unit rows."""
        if self.encoder is None:
            self.encoder = self._make_from_name()
        return self.encoder.encode(texts, kind)

    def _make_from_name(self) -> Encoder:
        try:
            made = encoders.encoder(self.name)
        except BreadthError as error:
            raise StoreError(
                f"{self._folder} was made with the encoder {self.name}; open it with that encoder ({error})"
            ) from error
        if made.name != self.name:
            raise StoreError(f"{self._folder} was made with another version of the encoder {self.name}")
        return made
