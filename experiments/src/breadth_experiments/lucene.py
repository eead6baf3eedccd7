"""BM25 over a Lucene index (extra `pyserini`, needs Java): the paper's `wikipedia-dpr-100w`, or one of your own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from breadth.errors import InputError, MissingExtraError
from breadth_experiments.run import Passage


class LuceneSearcher:
    """A prebuilt index of Pyserini by name, or a folder with an index of JSON documents ({"id", "contents"}: the title,
    a new line, the text)."""

    def __init__(self, index: str) -> None:
        try:
            from pyserini.search.lucene import LuceneSearcher as Searcher
        except ImportError as error:  # Pyserini itself, or one of the many packages that it imports
            raise MissingExtraError(str(error.name), "pyserini") from error
        self._searcher: Any = Searcher(index) if Path(index).is_dir() else Searcher.from_prebuilt_index(index)
        if self._searcher is None:
            raise InputError(f"lucene must be a folder with an index, or a prebuilt index of Pyserini; got {index!r}")

    def top(self, question: str, count: int) -> list[str]:
        return [hit.docid for hit in self._searcher.search(question, count)]

    def passage(self, identity: str) -> Passage:
        document = self._searcher.doc(identity)
        if document is None:
            raise InputError(f"the Lucene index has no document {identity!r}")
        contents = str(json.loads(document.raw())["contents"])
        title, _, text = contents.partition("\n")
        return Passage(identity, title.strip().strip('"'), text or title)
