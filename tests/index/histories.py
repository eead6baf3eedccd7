"""Random histories of an index beside a model of it: what is there, with which vector, and what a filter finds."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from breadth.errors import InputError, StoreError
from breadth.filters import matches, read_filter
from breadth.index import Document, Index, merging
from tests.synthetic import isotropic

DIM = 6
FILTERS = [
    {"colour": "red"},
    {"size": {"$gte": 3, "$lt": 8}},
    {"tags": {"$contains": "b"}},
    {"$or": [{"colour": {"$in": ["blue", "green"]}}, {"size": None}]},
    {"$not": {"inside.depth": {"$gt": 1}}},
    {"colour": {"$exists": False}},
]


@dataclass
class Model:
    """What an index should hold: documents by id, and their vectors."""

    documents: dict[str, Document] = field(default_factory=dict)
    vectors: dict[str, np.ndarray] = field(default_factory=dict)

    def put(self, documents, rows):
        for document, row in zip(documents, rows, strict=True):
            self.documents.pop(document.id, None)
            self.documents[document.id], self.vectors[document.id] = document, row

    def drop(self, ids):
        for identity in ids:
            if self.documents.pop(identity, None) is not None:
                del self.vectors[identity]


class History:
    """One history: `step` makes a random change to the index and to its model, `compare` compares them."""

    def __init__(self, path, seed):
        self.rng = np.random.default_rng(seed)
        self.path, self.model, self.changes = path, Model(), []
        self.index = Index.create(path, dim=DIM)
        self.seen = set()

    def run(self, steps):
        """Make so many changes, and return what went wrong."""
        problems = []
        try:
            for _ in range(steps):
                name = str(self.rng.choice(list(_CHANGES), p=_SHARES))
                self.changes.append(name)
                _CHANGES[name](self)
                problems += self.compare()
                if problems:
                    break
            found = self.index.check()
            problems += found.problems
        finally:
            self.index.close()
        return [f"{problem} after {self.changes}" for problem in problems]

    def compare(self):
        problems = []
        model = self.model
        if len(self.index) != len(model.documents):
            problems.append(f"{len(self.index)} documents instead of {len(model.documents)}")
        if {d.id: d for d in self.index} != model.documents:
            problems.append("other documents")
        if not model.documents:
            return problems
        oracle = self.index.oracle()
        ids = [document.id for document in self.index.documents(oracle.numbers)]
        if sorted(ids) != sorted(model.documents):
            problems.append("other vectors")
        elif not np.array_equal(oracle.rows(np.arange(len(ids))), np.array([model.vectors[i] for i in ids])):
            problems.append("the vectors of other documents")
        problems += self._compare_numbers(oracle.numbers.tolist(), ids)
        where = FILTERS[int(self.rng.integers(len(FILTERS)))]
        wanted = {i for i, d in model.documents.items() if matches(read_filter(where), d.metadata)}
        query = isotropic(self.rng, 1, DIM)[0]
        found = self.index.search(query, k=len(ids) + 3, where=where, theta=1.0, distinct=1.0, on_topic=0)
        if set(found.ids) != wanted or found.searched != len(wanted):
            problems.append(f"{where} finds {found.ids} instead of {wanted}")
        best = max(model.vectors, key=lambda i: float(model.vectors[i] @ query))
        top = self.index.search(query, k=1, theta=1.0)[0]
        if top.id != best and abs(top.score - float(model.vectors[best] @ query)) > 1e-5:
            problems.append(f"{top.id} instead of {best}")
        return problems

    def _compare_numbers(self, numbers, ids):
        """A number belongs to one document for ever."""
        pairs = {
            (number, self.model.documents[i].text, i)
            for number, i in zip(numbers, ids, strict=True)
            if i in self.model.documents
        }
        again = {number for number, *_ in self.seen - pairs} & {number for number, *_ in pairs - self.seen}
        self.seen |= pairs
        return [f"the numbers {sorted(again)} were used twice"] if again else []

    def make(self, ids):
        """Documents with these ids, random content and random vectors."""
        colours, made = ["red", "blue", "green", None], []
        for identity in ids:
            data = {
                "size": [None, *range(10)][int(self.rng.integers(11))],
                "tags": list("abc"[: int(self.rng.integers(4))]),
            }
            if (colour := colours[int(self.rng.integers(4))]) is not None:
                data["colour"] = colour
            if self.rng.random() < 0.3:
                data["inside"] = {"depth": int(self.rng.integers(4))}
            parent = self.model.documents[identity].parent if identity in self.model.documents else None
            made.append(Document(identity, f"text {self.rng.integers(1 << 30)}", data, parent))
        return made, isotropic(self.rng, max(1, len(made)), DIM)[: len(made)]

    def some_ids(self, most):
        """Ids of documents that are there."""
        known = list(self.model.documents)
        count = int(self.rng.integers(0, most)) if known else 0
        return [known[int(i)] for i in self.rng.integers(len(known), size=count)] if count else []


def _add(history):
    fresh = [f"n{history.rng.integers(1 << 40)}" for _ in range(int(history.rng.choice([1, 3, 30])))]
    documents, rows = history.make(fresh)
    history.index.add(documents, vectors=rows, batch=int(history.rng.choice([1, 7, 100])))
    history.model.put(documents, rows)


def _update(history):
    ids = list(dict.fromkeys([*history.some_ids(8), f"n{history.rng.integers(1 << 40)}"]))
    documents, rows = history.make(ids)
    history.index.update(documents, vectors=rows, batch=int(history.rng.choice([1, 100])))
    history.model.put(documents, rows)


def _update_vectors(history):
    ids = list(dict.fromkeys(history.some_ids(5)))
    if ids:
        rows = isotropic(history.rng, len(ids), DIM)
        documents = [history.model.documents[i] for i in ids]
        assert history.index.update(documents, vectors=rows).updated == len(ids)
        history.model.put(documents, rows)


def _repeat(history):
    ids = list(dict.fromkeys(history.some_ids(5)))
    documents = [history.model.documents[i] for i in ids]
    rows = np.array([history.model.vectors[i] for i in ids]).reshape(-1, DIM)
    assert history.index.add(documents, vectors=rows).unchanged == len(ids)


def _conflict(history):
    ids = list(dict.fromkeys(history.some_ids(5)))
    if ids:
        documents, rows = history.make(ids)
        try:
            history.index.add(documents, vectors=rows)
        except InputError:
            return
        raise AssertionError("a document was replaced by add")


def _delete(history):
    ids = [*history.some_ids(30 if history.rng.random() < 0.3 else 5), "nobody"]
    assert history.index.delete(ids) == len(set(ids) & set(history.model.documents))
    history.model.drop(set(ids))


def _replace_pieces(history):
    parent = f"p{history.rng.integers(3)}"
    ids = [f"{parent}#{i}" for i in range(int(history.rng.integers(0, 6)))]
    made, rows = history.make(ids)
    documents = [Document(d.id, d.text, d.metadata, parent) for d in made] or []
    history.index.update(documents, vectors=rows, whole=True)
    if documents:
        gone = [i for i, d in history.model.documents.items() if d.parent == parent and i not in ids]
        history.model.drop(gone)
        history.model.put(documents, rows)


def _optimize(history):
    history.index.optimize()


def _reopen(history):
    history.index.close()
    history.index = Index.open(history.path)


def _read_again(history):
    """Numbers of an earlier state lead to the same documents, or nowhere."""
    if not history.seen:
        return
    number, text, _ = sorted(history.seen)[int(history.rng.integers(len(history.seen)))]
    try:
        assert history.index.documents([number])[0].text == text
    except StoreError:
        return


_CHANGES = {
    "add": _add,
    "update": _update,
    "update vectors": _update_vectors,
    "repeat": _repeat,
    "conflict": _conflict,
    "delete": _delete,
    "replace pieces": _replace_pieces,
    "optimize": _optimize,
    "reopen": _reopen,
    "read again": _read_again,
}
_SHARES = np.array([20, 15, 8, 5, 5, 18, 10, 4, 5, 10]) / 100


def run_history(path, seed, steps):
    """One history with small files, so that they are merged often. Return what went wrong."""
    before = merging.FLUSH, merging.FANOUT
    merging.FLUSH, merging.FANOUT = (12, 3) if seed % 3 else before
    try:
        return History(path, seed).run(steps)
    finally:
        merging.FLUSH, merging.FANOUT = before
