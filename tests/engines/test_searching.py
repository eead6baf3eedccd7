"""Collections in engines, searched by text: `Searcher` and `breadth search ADDRESS`."""

from __future__ import annotations

import json

import chromadb
import numpy as np
import pytest
from chromadb.config import Settings

import breadth
from breadth import InputError
from breadth.encoders import BuiltinEncoder
from breadth.searcher import Searcher
from tests.cli.commands import breadth as run
from tests.cli.test_cli import records


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The passages of the tests of the command line, in an index and in Chroma."""
    where = tmp_path_factory.mktemp("engine")
    passages = [breadth.Document(str(line["id"]), line["text"], {"year": line["year"]}) for line in records()]
    with breadth.Index.create(where / "my.index") as index:
        index.add(passages)
    client = chromadb.PersistentClient(str(where / "chroma"), settings=Settings(anonymized_telemetry=False))
    collection = client.create_collection("docs", configuration={"hnsw": {"space": "ip"}}, embedding_function=None)
    rows = BuiltinEncoder().encode([passage.text for passage in passages])
    collection.add(
        ids=[passage.id for passage in passages],
        embeddings=rows,
        documents=[passage.text for passage in passages],
        metadatas=[dict(passage.metadata) for passage in passages],
    )
    client.close()
    return where


def find(folder, place, *arguments):
    return json.loads(run("search", place.format(folder=folder), "asthma", *arguments, "--json").stdout)


ADDRESS, ENCODER = "chroma:{folder}/chroma/docs", ("--encoder", "builtin")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("-k", "5", "--theta", "0.5"),
        ("--where", "year >= 2010"),
        ("--group-by", "year"),
        ("--budget", "60"),
        ("--keep", "0.9"),
    ],
    ids=lambda given: "-".join(given) or "default",
)
def test_an_engine_answers_as_an_index_does(folder, arguments):
    ours, theirs = find(folder, ADDRESS, *ENCODER, *arguments), find(folder, "{folder}/my.index", *arguments)
    assert ours["searched"] == theirs["searched"]
    assert ours["objective"] == pytest.approx(theirs["objective"], abs=1e-5)
    assert [hit["text"] for hit in ours["hits"]] == [hit["text"] for hit in theirs["hits"]]
    assert [hit["metadata"] for hit in ours["hits"]] == [hit["metadata"] for hit in theirs["hits"]]


def test_pinned_and_excluded_documents(folder):
    best = find(folder, ADDRESS, *ENCODER)["hits"][0]["id"]
    last = records()[-1]["id"]
    chosen = [hit["id"] for hit in find(folder, ADDRESS, *ENCODER, "--exclude", best, "--pin", last)["hits"]]
    assert best not in chosen
    assert str(last) in chosen


def test_the_table_for_people(folder):
    shown = run("search", ADDRESS.format(folder=folder), "asthma", *ENCODER).stdout
    assert "asthma" in shown
    assert "certified" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "a text needs the encoder that made the vectors"),
        ((*ENCODER, "--hybrid", "0.5"), "hybrid needs an index made by `breadth index`"),
        ((*ENCODER, "--where", "text exists"), "where"),
        ((*ENCODER, "--where", "exists year"), "Chroma cannot ask whether a row has the field 'year'"),
    ],
)
def test_what_an_engine_cannot_do_is_said(folder, arguments, message):
    done = run("search", ADDRESS.format(folder=folder), "asthma", *arguments, code=1)
    assert message in " ".join(done.stderr.split())


def test_another_encoder_is_refused(folder):
    class Small:
        name, dim = "small", 3

        def encode(self, texts, kind="document"):
            return np.eye(1, 3, dtype=np.float32)

    oracle = breadth.open(ADDRESS.format(folder=folder))
    with pytest.raises(InputError, match="small makes vectors of 3 dimensions, but the collection has 256"):
        Searcher(oracle, Small())
    oracle.close()


def test_no_match_is_an_empty_result(folder):
    assert find(folder, ADDRESS, *ENCODER, "--where", "year > 9000")["hits"] == []


def test_an_engine_without_texts_answers_with_ids(tmp_path, rng):
    import faiss

    rows = BuiltinEncoder().encode([record["text"] for record in records()])
    index = faiss.IndexFlatIP(256)
    index.add(rows)
    with Searcher(breadth.oracles.faiss(index), BuiltinEncoder()) as opened:
        found = opened.search("asthma", 4, pinned=["7"])
        assert "7" in found.ids
        assert all(hit.text == "" for hit in found)
        with pytest.raises(InputError, match="has no metadata to filter by"):
            opened.search("asthma", 4, where={"year": 2000})
        with pytest.raises(InputError, match="pinned: there is no document 'seven'"):
            opened.search("asthma", 4, pinned=["seven"])
