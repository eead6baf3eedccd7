"""Every route gives what the library gives."""

from __future__ import annotations

import httpx
import numpy as np
import pytest

import breadth
from breadth.constraints.registry import CONSTRAINTS
from breadth.index import Index
from breadth.service.schemas.answers import BatchAnswer, DocumentAnswer, FrontierAnswer, SelectAnswer
from breadth.service.schemas.openai import SearchPage

QUERY = "How is asthma treated?"


@pytest.fixture(scope="module")
def client(running):
    with httpx.Client(base_url=running.url) as made:
        yield made


@pytest.fixture(scope="module")
def index(index_path):
    with Index.open(index_path) as opened:
        yield opened


@pytest.mark.parametrize(
    "asked",
    [
        {"k": 5},
        {"k": 5, "theta": 0.9, "distinct": 0.8},
        {"k": 5, "theta": "auto"},
        {"k": 5, "keep": 0.9},
        {"k": 8, "cover": 0.3},
        {"k": 5, "method": "mmr", "theta": 0.5, "pool": 50},
        {"k": 5, "method": "topk", "pool": 20},
        {"k": 5, "sharpness": 1, "prove": 0.5},
        {"k": 5, "where": {"source": "nih", "year": {"$gte": 2003}}},
        {"k": 5, "group_by": "subject", "per_group": 2},
        {"k": 5, "pinned": ["gout/causes"], "excluded": ["asthma/symptoms"]},
        {"k": 5, "floor": 0.2, "on_topic": 0.0, "keep_best": False},
        {"k": 9, "budget": 40.0},
        {"k": 5, "hybrid": 0.5},
        {"k": 5, "method": "frank_wolfe", "options": {"init": "topk", "max_iterations": 5}},
        {"k": 900},
        {"k": 5, "where": {"source": "nobody"}},
    ],
    ids=str,
)
def test_select_gives_what_search_gives(client, index, asked):
    answer = client.post("/v1/select", json={"query": QUERY, **asked})
    assert answer.status_code == 200, answer.text
    data = SelectAnswer.model_validate(answer.json())
    told = {name: value for name, value in asked.items() if name != "options"} | asked.get("options", {})
    wanted = index.search(QUERY, **told)
    assert [hit.id for hit in data.hits] == wanted.ids
    for name in ("copies", "variants"):
        told = [[other.model_dump(exclude={"text"}) for other in getattr(hit, name)] for hit in data.hits]
        assert told == [[other.to_dict() for other in getattr(hit, name)] for hit in wanted]
    assert data.objective == pytest.approx(wanted.selection.objective, abs=1e-6)
    assert (data.asked, data.searched) == (wanted.asked, wanted.searched)
    assert data.proof


def test_a_vector_gives_what_its_text_gives(client, index):
    vector = index.encode([QUERY])[0].astype(float).tolist()
    by_vector = client.post("/v1/select", json={"query": vector, "k": 5}).json()
    by_text = client.post("/v1/select", json={"query": QUERY, "k": 5}).json()
    assert [hit["id"] for hit in by_vector["hits"]] == [hit["id"] for hit in by_text["hits"]]


def test_copies_and_variants_bring_their_texts_on_request(client, index):
    data = client.post("/v1/select", json={"query": QUERY, "k": 5, "near_text": True}).json()
    near = [other for hit in data["hits"] for other in (*hit["copies"], *hit["variants"])]
    assert near
    assert all(other["text"] == index.get(other["id"]).text for other in near)
    plain = client.post("/v1/select", json={"query": QUERY, "k": 5}).json()
    assert {other["text"] for hit in plain["hits"] for other in hit["copies"]} == {None}


def test_what_was_given_up_of_top_k_is_named(client, index):
    asked = {"query": QUERY, "k": 5, "theta": 0.2, "distinct": 0.9}
    data = client.post("/v1/select", json=asked).json()
    assert data["given_up"] == list(index.search(**asked).given_up)
    assert client.post("/v1/select", json={"query": QUERY, "k": 5}).json()["given_up"] == []


def test_two_passages_are_compared_word_by_word(client, index):
    data = client.post("/v1/compare", json={"left": "asthma/treatment", "right": "copy 1"}).json()
    texts = [index.get(identity).text for identity in ("asthma/treatment", "copy 1")]
    assert [data["left"]["text"], data["right"]["text"]] == texts
    assert data["changes"]
    for change in data["changes"]:
        for text, side in zip(texts, ("here", "there"), strict=True):
            assert text[slice(*change[f"{side}_span"])] == change[side]
    missing = client.post("/v1/compare", json={"left": "asthma/treatment", "right": "nobody"})
    assert missing.status_code == 404
    assert "nobody" in missing.json()["error"]["message"]


def test_copies_are_named_and_texts_can_be_left_out(client):
    data = client.post("/v1/select", json={"query": "treatment of asthma", "k": 4, "text": False}).json()
    copies = [copy["id"] for hit in data["hits"] for copy in hit["copies"]]
    assert any(copy.startswith("copy") or copy == "asthma/treatment" for copy in copies)
    assert all(hit["text"] is None and hit["metadata"] is None for hit in data["hits"])


def test_a_batch_keeps_the_order_of_its_queries(client, index):
    queries = [QUERY, "What causes gout?", index.encode(["measles"])[0].astype(float).tolist()]
    answer = client.post("/v1/select/batch", json={"queries": queries, "k": 3})
    data = BatchAnswer.model_validate(answer.json())
    wanted = [index.search(q if isinstance(q, str) else np.array(q), k=3).ids for q in queries]
    assert [[hit.id for hit in one.hits] for one in data.results] == wanted


def test_frontier_gives_what_the_library_gives(client, index):
    asked = {"query": QUERY, "k": 5, "thetas": [0.4, 0.7, 1.0], "distinct": 0.9, "where": {"source": {"$ne": "copy"}}}
    data = FrontierAnswer.model_validate(client.post("/v1/frontier", json=asked).json())
    oracle = index.oracle(asked["where"])

    def read_texts(ids):
        return [document.text for document in index.documents(oracle.numbers[ids])]

    told = {"k": 5, "thetas": asked["thetas"], "distinct": 0.9, "texts": read_texts}
    curve = breadth.frontier(oracle, index.encode([QUERY])[0], **told)
    assert data.knee == curve.knee().theta
    assert [point.ids for point in data.points] == [
        [document.id for document in index.documents(oracle.numbers[selection.ids])] for selection in curve
    ]
    nothing = client.post("/v1/frontier", json={"query": QUERY, "where": {"source": "nobody"}}).json()
    assert nothing == {"points": [], "knee": None, "top_relevance": None}


def test_documents_by_id(client, index):
    for identity in ("asthma/treatment", "copy 1", "script"):
        data = DocumentAnswer.model_validate(client.get(f"/v1/documents/{identity}").json())
        assert data == DocumentAnswer.of(index.get(identity))


def test_the_search_of_a_vector_store(client, index):
    asked = {
        "query": QUERY,
        "max_num_results": 4,
        "filters": {
            "type": "and",
            "filters": [{"type": "eq", "key": "source", "value": "nih"}, {"type": "gte", "key": "year", "value": 2003}],
        },
        "ranking_options": {"score_threshold": 0.1},
    }
    page = SearchPage.model_validate(client.post("/v1/vector_stores/medical/search", json=asked).json())
    where = {"source": "nih", "year": {"$gte": 2003}}
    assert [one.file_id for one in page.data] == index.search(QUERY, k=4, where=where, floor=0.1).ids
    assert page.data[0].content[0].text == index.get(page.data[0].file_id).text


def test_the_client_of_openai_can_search(running, index):
    import openai

    with openai.OpenAI(base_url=f"{running.url}/v1", api_key="none needed") as made:
        found = made.vector_stores.search("medical", query=QUERY, max_num_results=3)
    assert [one.file_id for one in found] == index.search(QUERY, k=3).ids


def test_status(client, index):
    assert client.get("/healthz").json() == {"status": "ok"}
    ready = client.get("/readyz").json()
    assert (ready["documents"], ready["dim"], ready["name"]) == (len(index), index.dim, "medical")
    text = client.get("/metrics").text
    assert 'breadth_requests_total{route="/healthz",status="200"}' in text
    assert "# TYPE breadth_request_seconds histogram" in text
    for line in text.splitlines():
        assert line.startswith("#") or float(line.rpartition(" ")[2]) >= 0


def test_the_description_has_every_route_with_an_example(client):
    described = client.get("/openapi.json").json()
    assert {"/v1/select", "/v1/select/batch", "/v1/frontier", "/healthz", "/readyz", "/metrics"} < set(
        described["paths"]
    )
    for path, methods in described["paths"].items():
        if "post" in methods:
            name = methods["post"]["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            (first, *_) = described["components"]["schemas"][name]["examples"]
            answer = client.post(path.replace("{name}", "medical"), json=first)
            assert answer.status_code == 200, answer.text


def test_every_constraint_is_a_field(client):
    fields = client.get("/openapi.json").json()["components"]["schemas"]["SelectRequest"]["properties"]
    assert {option.keyword for kind in CONSTRAINTS.values() for option in kind.options} <= set(fields)
    assert "--" not in str(fields)
