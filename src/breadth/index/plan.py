"""What becomes of the documents of a batch: which are new, unchanged, replaced, in conflict, or no longer wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from breadth.errors import InputError
from breadth.index.documents import Document
from breadth.index.snapshot import Snapshot
from breadth.index.store import StoredRow, View

Rows = npt.NDArray[np.float32]


@dataclass
class Plan:
    """What to do with a batch.

    new         the places in the batch of the documents to write
    unchanged   how many are there already
    replaced    the ids of documents that are written anew
    dropped     the ids of pieces that are no longer wanted
    skipped     documents that are left out, with the reason
    conflicts   documents that are there with other content, and what is said about them
    """

    new: list[int] = field(default_factory=list)
    unchanged: int = 0
    replaced: list[str] = field(default_factory=list)
    dropped: list[str] = field(default_factory=list)
    skipped: list[tuple[str, str]] = field(default_factory=list)
    conflicts: dict[str, str] = field(default_factory=dict)


def make_plan(
    view: View, batch: Sequence[Document], rows: Rows | None, whole: bool, read: Callable[[], Snapshot]
) -> Plan:
    """Compare a batch with what is stored. Where the rows are given, a document with another row has changed.

    whole   the batch holds all pieces of its documents: pieces that are stored but not in the batch are not wanted.
    read    gets the rows that are stored, if they are needed.
    """
    plan = Plan()
    places = sorted({document.id: place for place, document in enumerate(batch)}.values())
    stored = view.find([batch[place].id for place in places])
    other_rows = _find_other_rows(batch, places, stored, rows, read)
    for place in places:
        document = batch[place]
        known = stored.get(document.id)
        if known is None:
            plan.new.append(place)
        elif whole and known.root(document.id) != document.root:
            plan.skipped.append((document.id, f"this id is taken by a document that is no piece of {document.root!r}"))
        elif known.holds(document) and place not in other_rows:
            plan.unchanged += 1
        else:
            what = "another vector" if place in other_rows else "other content"
            plan.conflicts[document.id] = f"document {document.id!r} is there with {what}; use update"
            plan.new.append(place)
            plan.replaced.append(document.id)
    if whole:
        _compare_families(plan, view, batch)
    return plan


def _find_other_rows(
    batch: Sequence[Document],
    places: Sequence[int],
    stored: dict[str, StoredRow],
    rows: Rows | None,
    read: Callable[[], Snapshot],
) -> set[int]:
    """The places of documents whose content is stored, but with another row."""
    same = [p for p in places if batch[p].id in stored and stored[batch[p].id].holds(batch[p])]
    if rows is None or not same:
        return set()
    numbers = np.array([stored[batch[place].id].number for place in same], dtype=np.int64)
    order = np.argsort(numbers)
    kept = read().restricted(numbers[order]).rows(np.arange(len(order)))
    return {same[at] for at, row in zip(order.tolist(), kept, strict=True) if not np.array_equal(row, rows[same[at]])}


def _compare_families(plan: Plan, view: View, batch: Sequence[Document]) -> None:
    """Find the pieces that are no longer wanted, and documents that are there in other pieces."""
    members: dict[str, list[str]] = {}
    for document in batch:
        members.setdefault(document.root, []).append(document.id)
    new = {batch[place].id for place in plan.new} - set(plan.replaced)
    for root, family in view.families(list(members)).items():
        left = sorted(set(family) - set(members[root]))
        plan.dropped += left
        if left or new & set(members[root]):
            for identity in members[root]:
                plan.conflicts.setdefault(identity, f"document {root!r} is there in other pieces; use update")


def check_unique(batch: Sequence[Document]) -> None:
    """Refuse a batch in which an id stands twice."""
    seen: set[str] = set()
    for document in batch:
        if document.id in seen:
            raise InputError(f"the id {document.id!r} stands twice among the documents")
        seen.add(document.id)
