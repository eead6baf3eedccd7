"""The adapters beside the MMR of their frameworks: the same candidates, the same store, one run.

`python -m benchmarks frameworks --data FOLDER` needs the extras `langchain`, `llama-index` and `haystack`, and the
package sentence-transformers-haystack, which has Haystack's ranker.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

import breadth
from benchmarks import report
from benchmarks.serve.collection import Collection, Source, load_collection
from benchmarks.timing import machine, progress
from breadth.bootstrap import estimate, resamples
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


def choose_by_mmr(rows: np.ndarray, query: np.ndarray, k: int) -> list[int]:
    """The sets of LangChain's and Haystack's MMR, λ = 0.5, in less time: a test compares them."""
    return [int(i) for i in breadth.select(rows, query, k=k, theta=0.5, method="mmr").ids]


def choose_by_last_pick(rows: np.ndarray, query: np.ndarray, k: int) -> list[int]:
    """The sets of LlamaIndex's MMR, λ = 0.5, in less time: it penalises likeness to the last pick alone."""
    relevance = rows @ query
    left = np.ones(len(rows), dtype=bool)
    chosen = [int(relevance.argmax())]
    while len(chosen) < k:
        left[chosen[-1]] = False
        values = np.where(left, 0.5 * relevance - 0.5 * (rows @ rows[chosen[-1]]), -np.inf)
        chosen.append(int(values.argmax()))
    return chosen


def choose_by_default(rows: np.ndarray, query: np.ndarray, k: int) -> list[int]:
    """The sets of our adapters."""
    return [int(i) for i in breadth.select(rows, query, k=k).ids]


WAYS = {"MMR": choose_by_mmr, "LlamaIndex's MMR": choose_by_last_pick, "breadth": choose_by_default}
"""What is compared by the sets that it chooses."""
PARTS = ("times", "sets")


def main(data: Path, folder: Path, part: str | None) -> None:
    """Measure, and write the page."""
    collections = [found for source in SOURCES if (found := load_collection(data, folder, source)) is not None]
    results = {} if part is None else report.load("frameworks")
    if part in (None, "times"):
        results |= {"machine": machine(), "cells": _measure_times(collections)}
    if part in (None, "sets"):
        results["sets"] = [_judge(c, n, k) for c in collections for n in SIZES for k in COUNTS if k <= n]
    report.save("frameworks", results)
    render()


def _judge(collection: Collection, size: int, k: int) -> dict[str, Any]:
    """Recall and objective of all ways on the `size` most relevant candidates, for all reporting questions."""
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in WAYS}
    for number in _list_questions(collection):
        places, rows, query = _find_candidates(collection, number, size)
        for name, choose in WAYS.items():
            chosen = choose(rows, query, k)
            recall = collection.evidence.recall(collection.judged.questions[number].id, places[chosen].tolist())
            seen[name].append((recall, _objective(rows[chosen], query)))
    means = {name: np.mean(values, axis=0).tolist() for name, values in seen.items()}
    others = {name: [mine[0] - one[0] for mine, one in zip(seen["breadth"], seen[name], strict=True)] for name in WAYS}
    weights = resamples(len(seen["breadth"]))
    differences = {
        name: asdict(estimate(np.array(values), weights)) for name, values in others.items() if name != "breadth"
    }
    return {"collection": collection.name, "n": size, "k": k, "means": means, "differences": differences,
            "questions": len(seen["breadth"])}  # fmt: skip


def _list_questions(collection: Collection) -> list[int]:
    return [place for place, half in enumerate(collection.judged.halves) if half == "reporting"]


def _find_candidates(collection: Collection, number: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The places of the most relevant passages, their rows, and the query."""
    query = collection.queries[number].astype(np.float32)
    places = np.argsort(-(collection.rows @ query), kind="stable")[:size]
    return places, np.ascontiguousarray(collection.rows[places], dtype=np.float32), query


def _measure_times(collections: list[Collection]) -> list[dict[str, Any]]:
    cells = []
    grid = {f"{c.name}, {r.name}, n = {n}": (c, r, n) for c in collections for r in RIVALS for n in SIZES}
    for name in progress(list(grid), "frameworks"):
        collection, rival, size = grid[name]
        cells += [_measure(collection, rival, size, k) for k in COUNTS if k <= size]
    return cells


def _measure(collection: Collection, rival: Rival, size: int, k: int) -> dict[str, Any]:
    """Both ways on the `size` most relevant candidates of each question of the reporting half."""
    seen: dict[str, list[float]] = {"theirs": [], "ours": []}
    begin = time.perf_counter()
    for number in _list_questions(collection):
        _, rows, query = _find_candidates(collection, number, size)
        ways = dict(zip(("theirs", "ours"), rival.prepare(rows, query), strict=True))
        if not seen["ours"]:  # modules and compiled loops are loaded once
            for choose in ways.values():
                choose(k)
            begin = time.perf_counter()
        for name, choose in ways.items():
            start = time.perf_counter()
            choose(k)
            seen[name].append(time.perf_counter() - start)
        if time.perf_counter() - begin > _SECONDS:
            break
    return {
        "collection": collection.name,
        "framework": rival.name,
        "n": size,
        "k": k,
        "questions": len(seen["ours"]),
        **{name: {"ms": 1000 * statistics.median(seconds)} for name, seconds in seen.items()},
    }


def _objective(rows: np.ndarray, query: np.ndarray) -> float:
    """The objective of the default setting, whatever chose the set."""
    cosines = (rows @ rows.T).astype(np.float64)
    size = len(rows)
    redundancy = ((cosines**DEFAULT.sharpness).sum() - size) / (size * (size - 1)) if size > 1 else 0.0
    return float(DEFAULT.theta * (rows @ query).mean() - (1 - DEFAULT.theta) * redundancy)


def render() -> None:
    """Write docs/benchmarks/frameworks.md."""
    found = report.load("frameworks")
    parts = [_OPENING.format(**found["machine"]), _word_times(found["cells"]), "", "## Times", ""]
    for name in dict.fromkeys(cell["collection"] for cell in found["cells"]):
        rows = [_time_row(cell) for cell in found["cells"] if cell["collection"] == name]
        parts += [f"### {name}", "", report.table(_TIMES, rows), ""]
    parts += ["## Sets", "", _SETS, "", _word_sets(found["sets"]), "", report.table(_JUDGED, _set_rows(found["sets"]))]
    report.page("frameworks", "\n".join([*parts, ""]))


_OPENING = """\
# The adapters beside their frameworks

`python -m benchmarks frameworks --data FOLDER` writes this page from `benchmarks/results/frameworks.json`; do not edit
it.

For each question of the reporting halves, the n most relevant passages are put into a store of the framework. Its own
MMR then chooses k of them, and so does our adapter on the same store, both with their default settings. LangChain:
`InMemoryVectorStore` and `BreadthRetriever`. LlamaIndex: `VectorStoreIndex` in memory and `BreadthRetriever`. Haystack:
the MMR of `SentenceTransformersDiversityRanker`, which is handed the embeddings, and `BreadthRanker`. Times are medians
over the questions, fewer of them where a framework took more than six seconds. They include reading the embeddings from
the store, and for breadth the bound, the coverage and the near-copies of each passage. The machine did other work
meanwhile: compare the two times of a row, not rows.

{cpu}, {cores} cores, Python {python}, NumPy {numpy}.
"""
_TIMES = ["framework", "n", "k", "questions", "its MMR, ms", "breadth, ms", "breadth / its MMR"]
_SETS = """\
Recall is the share of a question's aspects that a set holds; the objective is that of our default. MMR is that of
LangChain and Haystack with λ = 0.5; LlamaIndex's penalises likeness to the last pick alone. In brackets: the difference
of breadth's recall to theirs, with its 95 % interval over the questions."""
_JUDGED = ["collection", "questions", "n", "k", *(f"recall: {name}" for name in WAYS),
           *(f"objective: {name}" for name in WAYS)]  # fmt: skip


def _time_row(cell: dict[str, Any]) -> list[str]:
    theirs, ours = cell["theirs"]["ms"], cell["ours"]["ms"]
    times = [f"{theirs:,.0f}" if theirs >= 100 else f"{theirs:.3g}", f"{ours:,.0f}" if ours >= 100 else f"{ours:.3g}"]
    return [cell["framework"], f"{cell['n']:,}", str(cell["k"]), str(cell["questions"]), *times, f"{ours / theirs:.2g}"]


def _set_rows(sets: list[dict[str, Any]]) -> list[list[str]]:
    rows = []
    for one in sets:
        recalls = [f"{one['means'][name][0]:.3f}" for name in WAYS]
        for place, difference in enumerate(one["differences"].values()):
            recalls[place] += f" ({difference['mean']:+.3f}, {difference['low']:+.3f} to {difference['high']:+.3f})"
        objectives = [f"{one['means'][name][1]:.3f}" for name in WAYS]
        rows.append([one["collection"], str(one["questions"]), f"{one['n']:,}", str(one["k"]), *recalls, *objectives])
    return rows


def _word_times(cells: list[dict[str, Any]]) -> str:
    large = [cell for cell in cells if cell["n"] >= 200]
    faster = sum(cell["ours"]["ms"] < cell["theirs"]["ms"] for cell in large)
    slower = [cell for cell in cells if cell["ours"]["ms"] >= cell["theirs"]["ms"]]
    listed = ", ".join(f"{c['framework']} n = {c['n']:,} k = {c['k']} ({c['collection']})" for c in slower) or "none"
    return f"With n of 200 and more, breadth is faster in {faster} of {len(large)} cells. Slower in: {listed}."


def _word_sets(sets: list[dict[str, Any]]) -> str:
    sentences = []
    for name in WAYS:
        if name != "breadth":
            low = sum(one["differences"][name]["low"] > 0 for one in sets)
            high = sum(one["differences"][name]["high"] < 0 for one in sets)
            sentences.append(
                f"Against {name}, the interval is above 0 in {low} of {len(sets)} cells and below 0 in {high}."
            )
    return " ".join(sentences)
