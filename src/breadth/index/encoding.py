"""The encoder that an index was made with: texts and vectors of another one do not mix with it.

An index records its name, with the address of its endpoint, if it has one, but never a password; an encoder that is
made from the name asks the same host. An index of vectors that were made elsewhere records an empty name.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from breadth import encoders
from breadth.checks import check_count
from breadth.encoders import BuiltinEncoder, Encoder, Kind, Vectors
from breadth.encoders.address import split_description
from breadth.errors import BreadthError, InputError, StoreError


def describe_encoder(encoder: Encoder | None, dim: int | None) -> dict[str, str]:
    """What an index records about its encoder, or about its vectors if they are made elsewhere."""
    if encoder is None and dim is not None:
        return {"encoder": "", "dim": str(check_count(dim, "dim"))}
    used = encoder or BuiltinEncoder()
    if dim is not None and check_count(dim, "dim") != used.dim:
        raise InputError(f"dim is {dim}, but the encoder {used.name} makes vectors of {used.dim} dimensions")
    return {"encoder": used.name, "dim": str(used.dim)}


class RecordedEncoder:
    """The encoder that the index records. If none is given, it is made from its name when a text needs it."""

    def __init__(self, folder: Path, facts: dict[str, str], given: Encoder | None) -> None:
        self._folder = folder
        self.name, self.dim = facts["encoder"], int(facts["dim"])
        self._mutex = threading.Lock()
        self.given = given
        self.encoder = BuiltinEncoder() if given is None and self.name == BuiltinEncoder.name else given
        if given is not None and self.name and not _make_the_same(given.name, self.name):
            raise StoreError(f"{folder} was made with the encoder {self.name}, not {given.name}; vectors do not mix")
        if given is not None and not self.name and given.dim != self.dim:
            raise StoreError(f"{folder} holds vectors of {self.dim} dimensions, but {given.name} makes {given.dim}")

    def encode(self, texts: Sequence[str], kind: Kind) -> Vectors:
        """Turn texts into unit rows."""
        with self._mutex:
            if self.encoder is None:
                self.encoder = self._make_from_name()
        return self.encoder.encode(texts, kind)

    def _make_from_name(self) -> Encoder:
        if not self.name:
            raise InputError(
                f"{self._folder} has no encoder: its vectors were made elsewhere. Pass a vector of {self.dim} "
                "dimensions instead of a text, or open the index with an encoder"
            )
        try:
            made = encoders.encoder(self.name)
        except BreadthError as error:
            raise StoreError(
                f"{self._folder} was made with the encoder {self.name}; open it with that encoder ({error})"
            ) from error
        if made.name != self.name:
            raise StoreError(f"{self._folder} was made with {self.name}, but this name now means {made.name}")
        return made


def _make_the_same(one: str, other: str) -> bool:
    """Whether two names mean the same model. An encoder that you pass may ask another host for it."""
    return one == other or split_description(one)[0] == split_description(other)[0]
