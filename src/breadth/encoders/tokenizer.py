"""Tokenizers from a file. The only importer of the package `tokenizers`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from breadth.errors import EncoderError, MissingExtraError


def load_tokenizer(path: str | Path, extra: str) -> Any:
    """Load a tokenizer.json; `extra` is the extra that brings the package to the encoder that asks."""
    try:
        from tokenizers import Tokenizer
    except ImportError:
        raise MissingExtraError("tokenizers", extra) from None
    try:
        return Tokenizer.from_file(str(path))
    except Exception as error:  # the package raises plain exceptions
        raise EncoderError(f"{path} cannot be read as a tokenizer: {error}") from error
