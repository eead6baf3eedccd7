"""An engine behind the service: the same answers as `breadth.select` gives on it."""

from __future__ import annotations

import faiss as library
import httpx
import numpy as np
import pytest

import breadth
from breadth.encoders import BuiltinEncoder
from breadth.errors import InputError
from breadth.oracles import faiss
from breadth.service.collections.engine import ServedEngine
from breadth.service.collections.opening import open_collection
from breadth.service.settings import Settings
from breadth.testing.case import MAKE_KEY
from tests.engines.stores import STORES
from tests.service.passages import documents
from tests.service.running import serving

QUERY = "How is asthma treated?"


@pytest.fixture(scope="module")
def index():
    rows = BuiltinEncoder().encode([document.text for document in documents()], "document")
    made = library.IndexFlatIP(rows.shape[1])
    made.add(np.ascontiguousarray(rows, dtype=np.float32))
    return made


@pytest.fixture(scope="module")
def oracle(index):
    return faiss(index, documents=[{"text": d.text, **d.metadata} for d in documents()])


@pytest.fixture(scope="module")
def client(oracle):
    opened = ServedEngine(oracle, BuiltinEncoder())
    with serving(Settings("none", port=0), lambda: opened) as running, httpx.Client(base_url=running.url) as made:
        yield made


@pytest.mark.parametrize(
    "asked",
    [
        {"k": 5},
        {"k": 5, "theta": 0.9, "distinct": 0.8},
        {"k": 8, "cover": 0.3},
        {"k": 5, "where": {"source": "nih"}},
        {"k": 5, "pinned": ["7"], "excluded": ["1"]},
    ],
    ids=str,
)
def test_select_gives_what_the_library_gives(client, oracle, asked):
    answer = client.post("/v1/select", json={"query": QUERY, **asked})
    assert answer.status_code == 200, answer.text
    told = dict(asked)
    rows = oracle.filtered(told.pop("where")) if "where" in told else oracle
    told |= {name: [int(i) for i in told[name]] for name in ("pinned", "excluded") if name in told}
    texts = {} if "cover" in told else {"texts": lambda ids: [documents()[i].text for i in ids.tolist()]}
    wanted = breadth.select(rows, BuiltinEncoder().encode([QUERY], "query")[0], **texts, **told)
    hits = answer.json()["hits"]
    assert [hit["id"] for hit in hits] == [str(i) for i in wanted.ids]
    assert [hit["text"] for hit in hits] == [documents()[i].text for i in wanted.ids]
    batch = client.post("/v1/select/batch", json={"queries": [QUERY, "gout"], **asked}).json()
    assert batch["results"][0]["hits"] == hits


def test_groups_and_budgets_come_from_the_payload(client):
    hits = client.post("/v1/select", json={"query": "asthma", "k": 6, "group_by": "subject", "on_topic": 0.0}).json()[
        "hits"
    ]
    subjects = [hit["metadata"].get("subject") for hit in hits if "subject" in hit["metadata"]]
    assert len(subjects) == len(set(subjects)) > 1
    hits = client.post("/v1/select", json={"query": "asthma", "k": 6, "budget": 30.0}).json()["hits"]
    assert 0 < sum(len(hit["text"].split()) for hit in hits) <= 30


def test_the_other_routes(client, oracle):
    curve = client.post("/v1/frontier", json={"query": QUERY, "k": 4, "thetas": [0.5, 1.0]}).json()
    assert [point["theta"] for point in curve["points"]] == [0.5, 1.0]
    assert client.get("/v1/documents/3").json()["text"] == documents()[3].text
    assert client.get("/readyz").json()["documents"] == oracle.size
    assert client.post("/v1/select", json={"query": QUERY, "k": 900}).json()["searched"] == oracle.size
    assert client.post("/v1/select", json={"query": QUERY, "where": {"source": "nobody"}}).json()["hits"] == []


@pytest.mark.parametrize("identity", ["64", "-1", "3.0", "x", "9" * 30, "٣"])
def test_a_document_that_is_not_there(client, identity):
    assert client.get(f"/v1/documents/{identity}").status_code == 404


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"query": QUERY, "hybrid": 0.5}, "hybrid"),
        ({"query": QUERY, "pinned": ["x"]}, "'x'"),
        ({"query": QUERY, "per_group": 2}, "group_by"),
        ({"query": " "}, "empty"),
        ({"query": [1.0]}, "256"),
        ({"query": QUERY, "where": {"source": {"$like": "n"}}}, "$like"),
    ],
    ids=str,
)
def test_bad_input(client, body, words):
    answer = client.post("/v1/select", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["error"]["message"]


def test_an_address_opens_the_engine(index, tmp_path):
    library.write_index(index, str(tmp_path / "rows.faiss"))
    served = open_collection(f"faiss:{tmp_path / 'rows.faiss'}", None)
    with pytest.raises(InputError, match="--encoder"):
        served.check("a text")
    (found,) = served.select([[1.0] + [0.0] * 255], {"k": 3})
    assert len(found) == 3
    served.close()
    with pytest.raises(InputError, match="no index"):
        open_collection(str(tmp_path / "nothing"), None)


@pytest.mark.engine
@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("qdrant_edge-scan", "uuid"),
        ("qdrant-memory", "uuid"),
        ("chroma-ip", "text"),
        ("lancedb-scan", "number"),
        ("lancedb-scan", None),
        ("milvus-lite", "text"),
        ("usearch-hnsw", "number"),
    ],
)
def test_the_ids_of_an_engine_are_shown_and_read_as_text(name, kind, tmp_path):
    store = STORES[name]
    rows = np.random.default_rng(3).standard_normal((60, 24)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    keys = None if kind is None else [MAKE_KEY[kind](i) for i in range(60)]
    texts = [f"passage {i}" for i in range(60)]
    oracle = store.fill(store.place(tmp_path, None), rows, **({} if keys is None else {"keys": keys}), texts=texts)
    names = [str(i if keys is None else keys[i]) for i in range(60)]
    served = ServedEngine(oracle, None)
    try:
        (plain,) = served.select([rows[0].tolist()], {"k": 3, "theta": 1.0})
        assert plain.ids[0] == names[0]
        (pinned,) = served.select([rows[0].tolist()], {"k": 3, "pinned": [names[7]], "excluded": [names[0]]})
        assert names[7] in pinned.ids
        assert names[0] not in pinned.ids
        found = served.get(names[7])
        assert found is not None
        assert found.id == names[7]
        assert not hasattr(oracle, "documents") or found.text == "passage 7"
        for wrong in ("nobody", "5", "-1", "00000000-0000-0000-0000-000000000000", "x'; --", "9" * 30):
            if wrong not in names:
                assert served.get(wrong) is None, wrong
                with pytest.raises(InputError, match="pinned: there is no document"):
                    served.select([rows[0].tolist()], {"k": 3, "pinned": [names[7], wrong]})
    finally:
        served.close()
