"""Documents on their way into an index: checked one by one, and cut into batches."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from breadth.errors import InputError
from breadth.index.documents import Document


def check_documents(documents: Iterable[Document]) -> Iterator[Document]:
    """Yield the documents, and refuse what is none."""
    if isinstance(documents, (Document, str, bytes, dict)):
        raise InputError(f"documents must be a list of `Document`s, got one {type(documents).__name__}; pass a list")
    try:
        items = iter(documents)
    except TypeError:
        raise InputError(f"documents must be a list of `Document`s, got {type(documents).__name__}") from None
    for place, item in enumerate(items):
        if not isinstance(item, Document):
            hint = "; write Document(**record)" if isinstance(item, dict) else ""
            raise InputError(f"documents must hold `Document`s, got {type(item).__name__} at place {place}{hint}")
        yield item


def split_into_batches(documents: Iterable[Document], size: int) -> Iterator[list[Document]]:
    """Yield the documents in lists of `size`, or a few more: the pieces of a document stay together."""
    batch: list[Document] = []
    for document in documents:
        if len(batch) >= size and batch[-1].root != document.root:
            yield batch
            batch = []
        batch.append(document)
    if batch:
        yield batch


def look_ahead(items: Iterable[list[Document]]) -> Iterator[tuple[list[Document], bool]]:
    """Yield every item, and whether it is the last."""
    before: list[Document] | None = None
    for item in items:
        if before is not None:
            yield before, False
        before = item
    if before is not None:
        yield before, True


def report_count(documents: int, rows: int) -> InputError:
    """The error where there are more or fewer vectors than documents."""
    if rows > documents:
        return InputError(f"vectors has more rows ({rows}) than there are documents ({documents})")
    return InputError(f"vectors has fewer rows ({rows}) than there are documents (at least {documents})")
