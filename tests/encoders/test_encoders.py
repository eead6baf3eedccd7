"""Text becomes unit rows, whatever makes them."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest

from breadth.encoders import BuiltinEncoder, Encoder, OpenAIEncoder, encoder, models
from breadth.errors import EncoderError, InputError

TEXTS = ["What causes asthma?", "Asthma is a disease of the airways.", "The capital of France is Paris."]


def test_the_builtin_encoder_gives_unit_rows_that_mean_something():
    made = encoder("builtin")
    rows = made.encode(TEXTS)
    assert isinstance(made, Encoder)
    assert rows.shape == (3, made.dim)
    assert rows.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-6)
    assert rows[0] @ rows[1] > rows[0] @ rows[2] + 0.2
    np.testing.assert_array_equal(made.encode(TEXTS[1:2])[0], rows[1])
    np.testing.assert_array_equal(made.encode(TEXTS, "query"), rows)


def test_texts_without_known_words_are_rows_of_zeros():
    rows = BuiltinEncoder().encode(["", "asthma", "  \n"])
    assert rows.any(axis=1).tolist() == [False, True, False]


def test_long_texts_and_many_texts():
    made = BuiltinEncoder()
    long = "asthma " * 5000
    assert made.encode([long])[0] @ made.encode(["asthma"])[0] == pytest.approx(1.0, abs=1e-5)
    assert made.encode(["word"] * 2500).shape == (2500, 256)


def test_quantising_loses_next_to_nothing():
    folder = Path(__file__).parents[3] / "shared" / "models" / "potion-base-8M"
    if not folder.is_dir():
        pytest.skip(f"the original model is not at {folder}; the comparison needs it")
    original = encoder(f"model2vec:{folder}").encode(TEXTS)
    assert np.all(np.sum(original * BuiltinEncoder().encode(TEXTS), axis=1) > 0.999)


class Endpoint(BaseHTTPRequestHandler):
    """Embeddings as OpenAI's API gives them; it fails as often as `failures` says."""

    failures: ClassVar[list[int]] = []

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.failures:
            self.send_response(self.failures.pop())
            self.end_headers()
            return
        data = [{"index": i, "object": "embedding", "embedding": [len(t), 1.0]} for i, t in enumerate(asked["input"])]
        body = json.dumps({"object": "list", "model": asked["model"], "data": data[::-1], "usage": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def endpoint():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_an_endpoint_is_asked_in_batches_and_again_when_it_fails(endpoint, monkeypatch):
    monkeypatch.setattr(models, "_WAIT", 0.01)
    monkeypatch.setattr(models, "_REQUEST", 2)
    Endpoint.failures = [503, 429]
    made = encoder(f"openai:tiny@{endpoint}")
    rows = made.encode(["a", "bbb", "cc"])
    np.testing.assert_allclose(
        rows, [[1, 1], [3, 1], [2, 1]] / np.linalg.norm([[1, 1], [3, 1], [2, 1]], axis=1)[:, None], atol=1e-6
    )
    assert (made.name, made.dim) == ("openai:tiny", 2)
    Endpoint.failures = [401]
    with pytest.raises(EncoderError, match="refused"):
        made.encode(["a"])
    made._client.close()


def test_a_dead_endpoint_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(models, "_WAIT", 0.01)
    made = OpenAIEncoder("tiny", "http://127.0.0.1:9/v1")
    with pytest.raises(EncoderError, match=r"http://127\.0\.0\.1:9.* failed 5 times"):
        made.encode(["a"])
    made._client.close()


@pytest.mark.parametrize("description", ["", "word2vec", "openai:", "onnx", "model2vec"])
def test_unknown_descriptions_are_refused(description):
    with pytest.raises(InputError, match="encoder must be one of builtin, sentence-transformers:MODEL"):
        encoder(description)


def test_a_model_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(EncoderError, match="model2vec cannot load"):
        encoder(f"model2vec:{tmp_path / 'nothing'}")
