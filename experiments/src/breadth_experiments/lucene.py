"""BM25 over a Lucene index (extra `pyserini`, needs Java): the paper's `wikipedia-dpr-100w`, or one of your own."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from breadth.errors import InputError, MissingExtraError
from breadth_experiments.run import Passage


class MissingPyseriniError(MissingExtraError):
    """Pyserini, or a package that it needs, is not installed."""

    def __init__(self, package: str) -> None:
        ImportError.__init__(
            self, f"{package} is not installed; get it with: pip install './experiments[pyserini]' (needs Java 21)"
        )
        self._package = package

    def __reduce__(self) -> Any:
        return type(self), (self._package,)


class LuceneSearcher:
    """Finds passages in an index of Pyserini: a prebuilt one by its name, or a folder with one of your own.

    A document of your own index is {"id", "contents"}, where the contents are the title, a new line and the text.
    """

    def __init__(self, index: str) -> None:
        try:
            from pyserini.search.lucene import LuceneSearcher as Searcher
        except ImportError as error:  # Pyserini itself, or one of the many packages that it imports
            raise MissingPyseriniError(str(error.name)) from error
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
