"""The OpenAPI description is true, and says what this service allows."""

from __future__ import annotations

import httpx
import numpy as np

from benchmarks.load.schema import ask_by_schema
from breadth.oracles import ArrayOracle
from breadth.service.collections.engine import ServedEngine
from breadth.service.limits import Limits
from breadth.service.settings import Settings
from tests.service.running import serving

KNOWN = {"name": "medical", "identity": "asthma/treatment"}


def test_schemathesis_finds_no_answer_that_the_description_does_not_allow(running, tmp_path, record_property):
    figures = ask_by_schema(running.url, 15, tmp_path, KNOWN, 240)
    record_property("schemathesis", figures)
    assert figures["output"] == ""
    assert figures["cases"] == figures["passed"] > 400
    assert not [status for status in figures["statuses"] if status >= "500"], figures["statuses"]
    assert figures["statuses"]["200"] > 50


def test_the_description_tells_the_limits_and_the_length_of_vectors():
    made = [ServedEngine(ArrayOracle(np.eye(dim)), None) for dim in (7, 5)]
    with serving(Settings("none", port=0, limits=Limits(k=20, batch=3)), lambda: made.pop()) as running:
        seen = []
        for _ in range(2):
            schemas = httpx.get(f"{running.url}/openapi.json").json()["components"]["schemas"]
            fields = schemas["BatchRequest"]["properties"]
            assert fields["k"]["maximum"] == schemas["SearchRequest"]["properties"]["max_num_results"]["maximum"] == 20
            assert fields["queries"]["maxItems"] == 3
            vector = next(form for form in fields["queries"]["items"]["anyOf"] if form["type"] == "array")
            seen.append((vector["minItems"], vector["maxItems"]))
            if made:
                running.service.reload()
        assert seen == [(5, 5), (7, 7)]
