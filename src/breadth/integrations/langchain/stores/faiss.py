"""`FAISS` of langchain-community."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from breadth import oracles
from breadth.arrays import Ids
from breadth.integrations.candidates import Candidate
from breadth.integrations.langchain.stores.filters import check_dict
from breadth.integrations.whole import Whole, empty
from breadth.oracles import Payload


def open_faiss(store: Any, condition: Any) -> Whole:
    shelf = _Shelf(store)
    if len(shelf) == 0:
        return empty()
    oracle = oracles.faiss(store.index, documents=shelf, where=check_dict(condition))

    def read(ids: Ids) -> list[Candidate]:
        found = ((str(store.index_to_docstore_id[i]), shelf[i]) for i in ids.tolist())
        return [Candidate(name, one.text or "", one.metadata) for name, one in found]

    return Whole(oracle, read)


class _Shelf(Mapping[int, Payload]):
    """The documents of a FAISS store by their rows."""

    def __init__(self, store: Any) -> None:
        self._store = store

    def __getitem__(self, row: int) -> Payload:
        document = self._store.docstore.search(self._store.index_to_docstore_id[row])
        return Payload(document.page_content, document.metadata)

    def __iter__(self) -> Iterator[int]:
        return iter(self._store.index_to_docstore_id)

    def __len__(self) -> int:
        return len(self._store.index_to_docstore_id)
