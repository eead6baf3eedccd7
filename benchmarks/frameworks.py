"""The adapters beside the MMR of their frameworks: the same candidates, the same store, one run.

`python -m benchmarks frameworks --data FOLDER` needs the extras `langchain`, `llama-index` and `haystack`, and the
package sentence-transformers-haystack, which has Haystack's ranker.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import report
from benchmarks.serve.collection import Collection, Source, load_collection
from benchmarks.timing import machine, progress
from breadth.settings import DEFAULT

SOURCES = (Source("trec", "potion"), Source("asqa", "potion", 2))
"""News about events, and Wikipedia with two extra copies of each passage."""
SIZES = (20, 200, 1_000, 10_000)
COUNTS = (5, 10, 50)
_SECONDS = 6.0
"""How long a framework may take for the questions of one cell; at least one question is asked."""

Choose = Callable[[int], list[int]]
"""From k to the places of the chosen candidates."""


@dataclass(frozen=True)
class Rival:
    """A framework: its own way to choose from candidates with a query, and that of the adapter, on one store."""

    name: str
    own: str
    prepare: Callable[[np.ndarray, np.ndarray], tuple[Choose, Choose]]


def prepare_langchain(rows: np.ndarray, query: np.ndarray) -> tuple[Choose, Choose]:
    """`InMemoryVectorStore`: its MMR with all candidates as the pool, and `BreadthRetriever` on the same store."""
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    from breadth.integrations.langchain import BreadthRetriever

    vector = query.tolist()

    class Known(Embeddings):
        def embed_query(self, text: str) -> list[float]:
            return vector

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [rows[int(text)].tolist() for text in texts]

    store = InMemoryVectorStore(Known())
    names = [str(place) for place in range(len(rows))]
    store.add_texts(names, ids=names)

    def theirs(k: int) -> list[int]:
        return [int(one.id) for one in store.max_marginal_relevance_search("", k=k, fetch_k=len(rows))]

    return theirs, lambda k: [int(one.id) for one in BreadthRetriever(source=store, k=k).invoke("")]


def prepare_llama_index(rows: np.ndarray, query: np.ndarray) -> tuple[Choose, Choose]:
    """`VectorStoreIndex` in memory: its mode `mmr`, and `BreadthRetriever` on the same index."""
    from llama_index.core import MockEmbedding, VectorStoreIndex
    from llama_index.core.schema import QueryBundle, TextNode

    from breadth.integrations.llama_index import BreadthRetriever

    nodes = [TextNode(id_=str(i), text=str(i), embedding=row.tolist()) for i, row in enumerate(rows)]
    index = VectorStoreIndex(nodes, embed_model=MockEmbedding(embed_dim=rows.shape[1]))
    asked = QueryBundle("", embedding=query.tolist())

    def theirs(k: int) -> list[int]:
        made = index.as_retriever(similarity_top_k=k, vector_store_query_mode="mmr")
        return [int(one.node_id) for one in made.retrieve(asked)]

    return theirs, lambda k: [int(one.node_id) for one in BreadthRetriever(index, k).retrieve(asked)]


def prepare_haystack(rows: np.ndarray, query: np.ndarray) -> tuple[Choose, Choose]:
    """The MMR of `SentenceTransformersDiversityRanker` on given embeddings, and `BreadthRanker` on the same documents.

    The ranker would embed all documents at every run. That step is left out: it is handed the embeddings.
    """
    import torch
    from haystack import Document
    from haystack_integrations.components.rankers.sentence_transformers import SentenceTransformersDiversityRanker

    from breadth.integrations.haystack import BreadthRanker

    documents = [Document(id=str(i), content=str(i), embedding=row.tolist()) for i, row in enumerate(rows)]
    embedded = torch.from_numpy(rows), torch.from_numpy(query)[None, :]

    class Given(SentenceTransformersDiversityRanker):
        def __init__(self) -> None:
            pass

        def _prepare_texts_to_embed(self, documents: list[Document]) -> list[str]:
            return []

        def _embed_and_normalize(self, query: str, texts_to_embed: list[str]) -> tuple[Any, Any]:
            return embedded

    ranker, vector = Given(), query.tolist()

    def theirs(k: int) -> list[int]:
        return [int(one.id) for one in ranker._maximum_margin_relevance("", documents, 0.5, k)]

    def ours(k: int) -> list[int]:
        made = BreadthRanker(top_k=k, relevance="query")
        return [int(one.id) for one in made.run("", documents, query_embedding=vector)["documents"]]

    return theirs, ours


RIVALS = (
    Rival("LangChain", "max_marginal_relevance_search, lambda_mult=0.5", prepare_langchain),
    Rival("LlamaIndex", "vector_store_query_mode='mmr', mmr_threshold=0.5", prepare_llama_index),
    Rival("Haystack", "maximum_margin_relevance, lambda_threshold=0.5", prepare_haystack),
)


def main(data: Path, folder: Path) -> None:
    """Measure, and write the page."""
    collections = [found for source in SOURCES if (found := load_collection(data, folder, source)) is not None]
    cells = []
    grid = [(c, r, n) for c in collections for r in RIVALS for n in SIZES]
    for collection, rival, size in progress(grid, "frameworks"):
        cells += [_measure(collection, rival, size, k) for k in COUNTS if k <= size]
    report.save("frameworks", {"machine": machine(), "cells": cells})
    render()


def _measure(collection: Collection, rival: Rival, size: int, k: int) -> dict[str, Any]:
    """Both ways on the `size` most relevant candidates of each question of the reporting half."""
    numbers = [place for place, half in enumerate(collection.judged.halves) if half == "reporting"]
    seen: dict[str, list[tuple[float, float, float]]] = {"theirs": [], "ours": []}
    begin = time.perf_counter()
    for number in numbers:
        query = collection.queries[number].astype(np.float32)
        cosines = collection.rows @ query
        places = np.argsort(-cosines, kind="stable")[:size]
        rows = np.ascontiguousarray(collection.rows[places], dtype=np.float32)
        ways = dict(zip(("theirs", "ours"), rival.prepare(rows, query), strict=True))
        if not seen["ours"]:
            ways["ours"](k)  # compiled loops are loaded once
        for name, choose in ways.items():
            start = time.perf_counter()
            chosen = choose(k)
            seconds = time.perf_counter() - start
            recall = collection.evidence.recall(collection.judged.questions[number].id, places[chosen].tolist())
            seen[name].append((seconds, recall, _objective(rows[chosen], query)))
        if time.perf_counter() - begin > _SECONDS:
            break
    return {
        "collection": collection.name,
        "framework": rival.name,
        "n": size,
        "k": k,
        "questions": len(seen["ours"]),
        **{name: _summarise(values) for name, values in seen.items()},
    }


def _summarise(values: list[tuple[float, float, float]]) -> dict[str, float]:
    seconds, recall, objective = zip(*values, strict=True)
    means = {"recall": statistics.mean(recall), "objective": statistics.mean(objective)}
    return {"ms": 1000 * statistics.median(seconds), **means}


def _objective(rows: np.ndarray, query: np.ndarray) -> float:
    """The objective of the default setting, whatever chose the set."""
    cosines = (rows @ rows.T).astype(np.float64)
    size = len(rows)
    redundancy = ((cosines**DEFAULT.sharpness).sum() - size) / (size * (size - 1)) if size > 1 else 0.0
    return float(DEFAULT.theta * (rows @ query).mean() - (1 - DEFAULT.theta) * redundancy)


def render() -> None:
    """Write docs/benchmarks/frameworks.md."""
    found = report.load("frameworks")
    parts = [_OPENING.format(**found["machine"])]
    for name in dict.fromkeys(cell["collection"] for cell in found["cells"]):
        parts += [f"## {name}", ""]
        cells = [cell for cell in found["cells"] if cell["collection"] == name]
        parts += [report.table(_HEAD, [_row(cell) for cell in cells]), ""]
    report.page("frameworks", "\n".join([*parts, _word_summary(found["cells"]), ""]))


_HEAD = ["framework", "n", "k", "questions", "its MMR, ms", "breadth, ms", "time over its MMR's", "recall: its MMR",
         "breadth", "objective: its MMR", "breadth"]  # fmt: skip
_OPENING = """\
# The adapters beside their frameworks

`python -m benchmarks frameworks --data FOLDER` writes this page from `benchmarks/results/frameworks.json`; do not edit
it.

For each question, the n most relevant passages are put into a store of the framework. Its own MMR then chooses k of
them, and so does our adapter on the same store, both with their default settings. LangChain: `InMemoryVectorStore`
and `BreadthRetriever`. LlamaIndex: `VectorStoreIndex` in memory and `BreadthRetriever`. Haystack: the MMR of
`SentenceTransformersDiversityRanker`, which is handed the embeddings, and `BreadthRanker`. Times are medians over the
questions; they include reading the embeddings from the store, and for breadth the bound, the coverage and the near-
copies of each passage. Recall is the share of a question's aspects that the set holds; the objective is that of our
default. The questions are those of the reporting halves; fewer where a framework took more than six seconds.

{cpu}, {cores} cores, Python {python}, NumPy {numpy}.
"""


def _row(cell: dict[str, Any]) -> list[str]:
    theirs, ours = cell["theirs"], cell["ours"]
    return [
        cell["framework"],
        f"{cell['n']:,}",
        str(cell["k"]),
        str(cell["questions"]),
        f"{theirs['ms']:.3g}",
        f"{ours['ms']:.3g}",
        f"{ours['ms'] / theirs['ms']:.2g}",
        f"{theirs['recall']:.3f}",
        f"{ours['recall']:.3f}",
        f"{theirs['objective']:.3f}",
        f"{ours['objective']:.3f}",
    ]


def _word_summary(cells: list[dict[str, Any]]) -> str:
    large = [cell for cell in cells if cell["n"] >= 200]
    faster = sum(cell["ours"]["ms"] < cell["theirs"]["ms"] for cell in large)
    better, worse = (
        sum(sign * (cell["ours"]["recall"] - cell["theirs"]["recall"]) > 1e-9 for cell in cells) for sign in (1, -1)
    )
    slower = [cell for cell in cells if cell["ours"]["ms"] >= cell["theirs"]["ms"]]
    listed = ", ".join(f"{c['framework']} n = {c['n']:,} k = {c['k']}" for c in slower) or "none"
    return (
        f"With n of 200 and more, breadth is faster in {faster} of {len(large)} cells. Slower in: {listed}. Its recall "
        f"is larger in {better} of {len(cells)} cells, smaller in {worse}."
    )
