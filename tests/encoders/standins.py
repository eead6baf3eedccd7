"""Small models and an endpoint that stand in for downloads: they know four words, each with a vector of its own."""

from __future__ import annotations

import json
import threading
import types
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import numpy as np
import onnx
import tokenizers
from model2vec import StaticModel

WORDS = {"[UNK]": 0, "asthma": 1, "is": 2, "fever": 3, "cough": 4, "[PAD]": 5}
TABLE = np.random.default_rng(0).standard_normal((len(WORDS), 4)).astype(np.float32)


def word_tokenizer() -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(WORDS, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    return tokenizer


def write_onnx_model(folder: Path) -> None:
    """A transformer with an embedding for each token and no layers."""
    node = onnx.helper.make_node("Gather", ["table", "input_ids"], ["states"])
    ids = onnx.helper.make_tensor_value_info("input_ids", onnx.TensorProto.INT64, ["b", "t"])
    states = onnx.helper.make_tensor_value_info("states", onnx.TensorProto.FLOAT, ["b", "t", 4])
    graph = onnx.helper.make_graph([node], "tiny", [ids], [states], [onnx.numpy_helper.from_array(TABLE, "table")])
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "model.onnx")
    word_tokenizer().save(str(folder / "tokenizer.json"))


def write_static_model(folder: Path) -> None:
    """A model in the format of model2vec."""
    StaticModel(TABLE, word_tokenizer()).save_pretrained(folder)


class SentenceTransformer:
    """What sentence-transformers has, as far as the encoder uses it; `asked` records the prompts."""

    prompts: ClassVar[dict[str, str]] = {"query": "Question: ", "document": ""}
    asked: ClassVar[list[str | None]] = []

    def __init__(self, name, device=None):
        if name == "nothing":
            raise OSError("no such model")

    def get_sentence_embedding_dimension(self):
        return 4

    def encode(self, texts, prompt_name, show_progress_bar, convert_to_numpy):
        self.asked.append(prompt_name)
        rows = [sum((TABLE[WORDS.get(w, 0)] for w in text.split()), np.zeros(4)) for text in texts]
        return np.array(rows) if rows else np.empty(0)  # the shape that sentence-transformers gives


sentence_transformers = types.SimpleNamespace(SentenceTransformer=SentenceTransformer)


class Endpoint(BaseHTTPRequestHandler):
    """Embeddings as OpenAI's API gives them, in reverse order; it fails as often as `failures` says.

    `answers` are given instead, one after the other: each is the type of the content, and the content. `asked` records
    the ports that were asked.
    """

    failures: ClassVar[list[int]] = []
    answers: ClassVar[list[tuple[str, bytes]]] = []
    asked: ClassVar[list[int]] = []

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append(self.server.server_port)
        if self.failures:
            self.send_response(self.failures.pop())
            self.end_headers()
            return
        if self.answers:
            kind, content = self.answers.pop()
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(content)
            return
        data = [{"index": i, "object": "embedding", "embedding": [len(t), 1.0]} for i, t in enumerate(asked["input"])]
        body = json.dumps({"object": "list", "model": asked["model"], "data": data[::-1], "usage": {}}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextmanager
def serve_embeddings() -> Iterator[str]:
    """Run an endpoint and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Endpoint)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
