"""Static models in the format of model2vec (extra `model2vec`)."""

from __future__ import annotations

from collections.abc import Sequence

from breadth.encoders.protocol import Kind, Vectors, check_texts, no_rows, unit_rows
from breadth.errors import EncoderError, MissingExtraError


class Model2VecEncoder:
    """Any static model in model2vec's format, by name or folder. It encodes documents and queries alike."""

    def __init__(self, model: str) -> None:
        self.name = f"model2vec:{model}"
        try:
            from model2vec import StaticModel
        except ImportError:
            raise MissingExtraError("model2vec", "model2vec") from None
        try:
            self._model = StaticModel.from_pretrained(model)
        except Exception as error:  # whatever a broken model makes the package raise
            raise EncoderError(f"model2vec cannot load {model!r}: {error}") from error

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        return int(self._model.dim)

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Turn texts into unit rows."""
        every = check_texts(texts, kind)
        return unit_rows(self._model.encode(every), len(every), self.name) if every else no_rows(self.dim)
