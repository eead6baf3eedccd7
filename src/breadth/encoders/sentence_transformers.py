"""Models of sentence-transformers (extra `sentence-transformers`)."""

from __future__ import annotations

from collections.abc import Sequence

from breadth.encoders.protocol import Kind, Vectors, check_texts, no_rows, unit_rows
from breadth.errors import EncoderError, MissingExtraError


class SentenceTransformersEncoder:
    """Any model of sentence-transformers, by name or folder, with its own prompts for queries and documents."""

    def __init__(self, model: str, device: str | None = None) -> None:
        self.name = f"sentence-transformers:{model}"
        try:
            from sentence_transformers import SentenceTransformer
        except ImportError:
            raise MissingExtraError("sentence-transformers", "sentence-transformers") from None
        try:
            self._model = SentenceTransformer(model, device=device)
        except Exception as error:  # whatever a broken model makes the package raise
            raise EncoderError(f"sentence-transformers cannot load {model!r}: {error}") from error

    @property
    def dim(self) -> int:
        """The number of dimensions."""
        dim = self._model.get_sentence_embedding_dimension()
        return int(self.encode(["dimension"]).shape[1] if dim is None else dim)

    def encode(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Turn texts into unit rows; the model's prompt for this kind of text, if it has one, goes before each."""
        every = check_texts(texts, kind)
        if not every:
            return no_rows(self.dim)
        prompts = getattr(self._model, "prompts", None) or {}
        prompt = kind if prompts.get(kind) else None
        rows = self._model.encode(every, prompt_name=prompt, show_progress_bar=False, convert_to_numpy=True)
        return unit_rows(rows, len(every), self.name)
