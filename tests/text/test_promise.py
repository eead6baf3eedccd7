"""The default loses nothing: every passage of plain top-k is in the set, or a passage of the set says all of it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from breadth import ArrayOracle, metrics, select, select_many
from breadth.encoders import encoder
from breadth.index import Document, Index
from breadth.text import compare
from tests.oracles.test_wrappers import SearchOnly
from tests.synthetic import unit

ROOT = Path(__file__).parents[2]
SHARED = ROOT.parent / "shared" / "data"
EXAMPLES = ROOT / "examples" / "data"
DEMO = ROOT / "src" / "breadth" / "cli" / "data"
SIZES = (3, 5, 10, 20)
QUERIES = ("How is it treated?", "denial of service via a crafted image", "Who won the first season?", "What is it?")


def read_lines(path):
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def read_ramdocs(path):
    return [document for line in read_lines(path) for document in line["documents"]]


COLLECTIONS = {
    "wikipedia": (EXAMPLES / "wikipedia" / "passages.jsonl", read_lines),
    "advisories": (DEMO / "advisories.jsonl.gz", read_lines),
    "medquad": (DEMO / "medquad.jsonl.gz", read_lines),
    "all advisories": (SHARED / "advisories" / "passages.jsonl", read_lines),
    "ramdocs": (SHARED / "ramdocs" / "RAMDocs_test.jsonl", read_ramdocs),
    "perspectrum": (SHARED / "perspectrum" / "passages.jsonl", read_lines),
}


@pytest.fixture(scope="module", params=COLLECTIONS)
def collection(request):
    """Texts and their vectors; every tenth passage stands there twice, and every tenth as the half of another one."""
    path, read = COLLECTIONS[request.param]
    if not path.exists():
        pytest.skip(f"{path.parent.name} does not come with the project: it is among the shared data only")
    texts = [line["text"] for line in read(path)][:3000]
    halves = [text[: text.find(". ", len(text) // 2) + 1] for text in texts[5::10]]
    texts += texts[::10] + [half for half in halves if half]
    texts = [text for text in texts if text.strip()]
    rows = encoder("builtin").encode(texts, "document")
    return texts, rows


def check_promise(texts, rows, query, found, k):
    """Every one of the k most relevant passages is there, or is said; ties at the end may go either way."""
    relevance = rows @ query
    order = np.argsort(-relevance, kind="stable")
    top = [row for row in order[:k].tolist() if relevance[row] > relevance[order[k - 1]] + 1e-6 or row in found.ids]
    chosen = found.ids.tolist()
    said = {copy.id: member for member, copies in zip(chosen, found.copies, strict=True) for copy in copies}
    for row in top:
        assert row in chosen or row in said
        if row not in chosen:
            cosine = float(rows[row] @ rows[said[row]])
            assert compare(texts[said[row]], texts[row], cosine).left_says_all
    assert metrics.lost([texts[row] for row in top], [texts[row] for row in chosen]) == []
    assert set(found.given_up) <= set(order[:k].tolist()) - set(top)


@pytest.mark.parametrize("k", SIZES)
def test_nothing_of_top_k_is_lost(collection, k):
    texts, rows = collection
    queries = encoder("builtin").encode([*QUERIES, *texts[7 :: len(texts) // 8]], "query")
    oracle = ArrayOracle(rows)
    found = select_many(oracle, queries, k=k, texts=texts)
    for query, one in zip(queries, found, strict=True):
        assert one.theta == 1.0
        assert one.stats["judged_by"] == "texts"
        check_promise(texts, rows, query, one, k)


def test_nothing_is_lost_in_an_engine_that_only_searches(collection):
    texts, rows = collection
    oracle = SearchOnly(rows)
    for query in encoder("builtin").encode(QUERIES, "query"):
        found = select(oracle, query, k=10, texts=dict(enumerate(texts)))
        check_promise(texts, rows, query, found, 10)


def test_nothing_is_lost_in_an_index(collection, tmp_path):
    texts, rows = collection
    with Index.create(tmp_path / "my.index") as index:
        index.add([Document(str(place), text) for place, text in enumerate(texts)], rows)
        for query in QUERIES:
            top, found = index.search(query, k=8, method="topk"), index.search(query, k=8)
            there = {hit.id for hit in found} | {copy.id for hit in found for copy in hit.copies}
            last = top[-1].score + 1e-6
            assert {hit.id for hit in top if hit.score > last} <= there
            assert metrics.lost([hit.text for hit in top if hit.score > last], [hit.text for hit in found]) == []


WORDS = st.sampled_from(["Node 18", "Node 20", "is", "needed", "not", "for", "the tool", "in Oslo", "in Rome", "today"])
PASSAGES = st.lists(
    st.lists(st.lists(WORDS, min_size=1, max_size=5).map(" ".join), min_size=1, max_size=3).map(". ".join),
    min_size=2,
    max_size=24,
)


@settings(max_examples=150, deadline=None)
@given(PASSAGES, st.integers(0, 2**32 - 1), st.sampled_from([0.01, 0.1, 0.3]), st.integers(1, 12))
def test_nothing_is_lost_whatever_the_texts_and_vectors(texts, seed, spread, k):
    rng = np.random.default_rng(seed)
    centre = rng.normal(size=8)
    rows = unit(centre + spread * rng.normal(size=(len(texts), 8)) * np.linalg.norm(centre)).astype(np.float32)
    query = unit(centre + rng.normal(size=8)).astype(np.float32)
    k = min(k, len(texts))
    check_promise(texts, rows, query, select(rows, query, k=k, texts=texts, on_topic=0), k)


def test_a_lower_theta_says_what_it_gave_up():
    rng = np.random.default_rng(3)
    rows = unit(np.ones(6) + rng.normal(size=(40, 6))).astype(np.float32)
    texts = [f"Passage {place} says something." for place in range(40)]
    query = rows[0]
    found = select(rows, query, k=5, theta=0.05, texts=texts, sharpness=2)
    top = set(np.argsort(-(rows @ query), kind="stable")[:5].tolist())
    assert set(found.given_up) == top - set(found.ids.tolist())
    assert found.given_up
    assert found.to_dict()["given_up"] == list(found.given_up)
    lost = metrics.lost([texts[row] for row in sorted(top)], [texts[row] for row in found.ids])
    assert len(lost) == len(found.given_up)


def test_a_row_that_is_as_relevant_as_the_last_one_chosen_is_not_given_up():
    rows = unit(np.array([[1.0, 0.0, 0.0], [1.0, 0.5, 0.0], [1.0, 0.0, 0.5], [0.0, 0.0, 1.0]])).astype(np.float32)
    for texts in (["a 1", "b 2", "c 3", "d 4"], ["a 1", "c 3", "b 2", "d 4"]):
        assert select(rows, rows[0], k=2, texts=texts).given_up == ()


def test_without_texts_vectors_are_the_judges():
    rng = np.random.default_rng(4)
    rows = unit(np.repeat(rng.normal(size=(5, 6)), 2, axis=0)).astype(np.float32)
    found = select(rows, rows[0], k=3)
    assert found.stats["judged_by"] == "vectors"
    assert {copy.relation for some in found.copies for copy in some} == {"close vectors"}
    assert "judged_by" not in select(rows, rows[0], k=3, sharpness=1).stats


def test_a_shorter_passage_that_says_all_of_a_longer_one_takes_its_place():
    """Its end was cut elsewhere: what the longer one has at its beginning stands elsewhere in the shorter one."""
    body = " ".join(f"The insulin level of patient number {number} was too high." for number in range(8))
    longer = f"The insulin level patient was too high {body} The level of the insulin"
    shorter = f"{body} The level of the insulin stopped."
    assert compare(shorter, longer).left_says_all
    assert not compare(longer, shorter).left_says_all
    rows = unit(np.array([[1.0, 0.1, 0.0], [1.0, 0.0, 0.1], [0.2, 1.0, 0.0]])).astype(np.float32)
    for texts in ([longer, shorter, "Something else."], [shorter, longer, "Something else."]):
        found = select(rows, rows[0], k=3, texts=texts, on_topic=0)
        assert len(found.ids) == 2
        assert [len(copies) for copies in found.copies] == [1, 0]
