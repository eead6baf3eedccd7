"""A collection in any engine, searched by text: it answers with documents, as an index does."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np

from breadth import api
from breadth.encoders import Encoder
from breadth.errors import InputError
from breadth.index import Document, Hit, Results
from breadth.index.results import no_results
from breadth.index.wishes import count_words, read_label
from breadth.oracles.protocol import Payload


class Searcher:
    """An oracle, which `breadth.open` opens, with the encoder that made its vectors.

    The engine must hold texts or metadata for what is asked of them: `group_by` and `budget` need `documents`.
    """

    def __init__(self, oracle: Any, encoder: Encoder | None) -> None:
        if encoder is not None and oracle.size and encoder.dim != oracle.dim:
            raise InputError(
                f"encoder: {encoder.name} makes vectors of {encoder.dim} dimensions, but the collection has "
                f"{oracle.dim}; pass the encoder that made them"
            )
        self._oracle, self._encoder = oracle, encoder

    def __enter__(self) -> Searcher:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if hasattr(self._oracle, "close"):
            self._oracle.close()

    def search(
        self,
        query: Any,
        k: int = 10,
        theta: float | str | None = None,
        *,
        where: Mapping[str, Any] | None = None,
        group_by: str | None = None,
        budget: float | None = None,
        count: Callable[[str], float] | None = None,
        **options: Any,
    ) -> Results:
        """Choose the k documents that together serve the query best.

        The arguments are those of `Index.search`; `pinned` and `excluded` name the engine's own ids.
        """
        oracle = self._oracle if where is None else self._filter(where)
        text = query if isinstance(query, str) else None
        told = {"theta": theta, **options}
        if oracle.size == 0:
            return no_results(text, k, told)
        shelf = _Shelf(oracle)
        if group_by is not None:
            told["groups"] = lambda names: [read_label(entry.metadata, group_by) for entry in shelf.read(names)]
            told.setdefault("per_group", 1)
        if budget is not None:
            measure = count or count_words
            told["costs"] = lambda names: [measure(entry.text or "") for entry in shelf.read(names)]
            told["budget"] = budget
        told |= {name: read_ids(oracle, told[name]) for name in ("pinned", "excluded") if told.get(name)}
        selection = api.select(oracle, self._encode(query), k=min(k, oracle.size), **told)
        copies = selection.copies or (selection.ids[:0],) * len(selection.ids)
        found = zip(shelf.documents(selection.ids), selection.scores.tolist(), copies, strict=True)
        hits = tuple(Hit(document, score, tuple(shelf.documents(near))) for document, score, near in found)
        return Results(text, hits, selection, oracle.size, k)

    def _filter(self, where: Mapping[str, Any]) -> Any:
        if not hasattr(self._oracle, "filtered"):
            raise InputError(f"where: {type(self._oracle).__name__} has no metadata to filter by")
        return self._oracle.filtered(where)

    def _encode(self, query: Any) -> Any:
        if not isinstance(query, str):
            return query
        if self._encoder is None:
            raise InputError(
                "a text needs the encoder that made the vectors of the collection; pass encoder (--encoder)"
            )
        return self._encoder.encode([query], "query")[0]


class _Shelf:
    """Documents by the engine's own ids, each read once."""

    def __init__(self, oracle: Any) -> None:
        self._oracle = oracle
        self._known: dict[Any, Payload] = {}

    def read(self, names: Iterable[Any]) -> list[Payload]:
        """The texts and metadata of rows; without `documents` there are none."""
        wanted = np.asarray(names, dtype=object).tolist()
        missing = [name for name in wanted if name not in self._known]
        if missing and hasattr(self._oracle, "documents"):
            ids = self._oracle.handles(missing) if hasattr(self._oracle, "handles") else np.array(missing)
            self._known.update(zip(missing, self._oracle.documents(ids), strict=True))
        return [self._known.get(name, Payload()) for name in wanted]

    def documents(self, names: Any) -> list[Document]:
        """The documents of rows, with their ids as text."""
        entries = zip(names.tolist(), self.read(names), strict=True)
        return [Document(str(name), entry.text or "", entry.metadata) for name, entry in entries]


def read_ids(oracle: Any, texts: Sequence[Any]) -> list[Any]:
    """The engine's ids from what was typed: numbers where the engine has numbers."""
    if hasattr(oracle, "keys"):
        sample = oracle.keys(oracle.top(np.eye(1, oracle.dim), 1)[0][0]).tolist()
        kind = type(sample[0]) if sample else str
    else:
        kind = int
    try:
        return [name if isinstance(name, kind) else kind(name) for name in texts]
    except (TypeError, ValueError):
        raise InputError(f"the ids of this collection are of type {kind.__name__}, got {texts!r}") from None
