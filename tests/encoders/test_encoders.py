"""Text becomes unit rows, whatever makes them."""

from __future__ import annotations

import json
import sys
import threading
import types
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import numpy as np
import onnx
import pytest
import tokenizers

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


def test_a_transformer_in_onnx(tmp_path):
    """A model with an embedding for each token: what comes out is the mean over the tokens, of unit length."""
    table = np.random.default_rng(0).standard_normal((6, 4)).astype(np.float32)
    node = onnx.helper.make_node("Gather", ["table", "input_ids"], ["states"])
    ids = onnx.helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["b", "t"])
    states = onnx.helper.make_tensor_value_info("states", onnx.TensorProto.FLOAT, ["b", "t", 4])
    graph = onnx.helper.make_graph([node], "tiny", [ids], [states], [onnx.numpy_helper.from_array(table, "table")])
    made = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(made, tmp_path / "model.onnx")
    words = {"[UNK]": 0, "asthma": 1, "is": 2, "fever": 3, "cough": 4, "[PAD]": 5}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    encoder_ = encoder(f"onnx:{tmp_path}")
    rows = encoder_.encode(["asthma is", "fever cough is"])
    means = np.stack([table[[1, 2]].mean(axis=0), table[[3, 4, 2]].mean(axis=0)])
    np.testing.assert_allclose(rows, means / np.linalg.norm(means, axis=1, keepdims=True), atol=1e-5)
    assert encoder_.dim == 4
    assert encoder(encoder_.name).name == encoder_.name
    (tmp_path / "model.onnx").unlink()
    with pytest.raises(InputError, match=r"has no model\.onnx"):
        encoder(f"onnx:{tmp_path}")


def test_sentence_transformers_are_asked_with_their_own_prompts(monkeypatch):
    asked = []

    class Model:
        prompts = {"query": "Question: ", "document": ""}  # noqa: RUF012

        def __init__(self, name, device=None):
            if name == "nothing":
                raise OSError("no such model")

        def get_sentence_embedding_dimension(self):
            return 2

        def encode(self, texts, prompt_name, show_progress_bar, convert_to_numpy):
            asked.append(prompt_name)
            return np.array([[3.0, 4.0]] * len(texts))

    monkeypatch.setitem(sys.modules, "sentence_transformers", types.SimpleNamespace(SentenceTransformer=Model))
    made = encoder("sentence-transformers:some/model")
    np.testing.assert_allclose(made.encode(["a"], "query"), [[0.6, 0.8]], atol=1e-6)
    made.encode(["a"])
    assert asked == ["query", None]
    assert (made.name, made.dim) == ("sentence-transformers:some/model", 2)
    with pytest.raises(EncoderError, match="cannot load 'nothing'"):
        encoder("sentence-transformers:nothing")
