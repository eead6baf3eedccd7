"""What is particular to each encoder; `test_contract.py` has what all of them promise."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from breadth.encoders import BuiltinEncoder, OpenAIEncoder, encoder, openai, unit_rows
from breadth.errors import BreadthError, EncoderError, InputError
from tests.encoders import standins
from tests.encoders.standins import Endpoint

TEXTS = ["What causes asthma?", "Asthma is a disease of the airways.", "The capital of France is Paris."]


def test_the_vectors_of_the_builtin_encoder_mean_something():
    made = encoder("builtin")
    rows = made.encode(TEXTS)
    assert rows.shape == (3, 256)
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


def test_an_endpoint_is_asked_in_batches_and_again_when_it_fails(monkeypatch):
    monkeypatch.setattr(openai, "WAIT", 0.01)
    monkeypatch.setattr(openai, "TEXTS_PER_REQUEST", 2)
    with standins.serve_embeddings() as url:
        Endpoint.failures = [503, 429]
        made = encoder(f"openai:tiny@{url}")
        rows = made.encode(["a", "bbb", "cc"])
        wanted = np.array([[1, 1], [3, 1], [2, 1]])
        np.testing.assert_allclose(rows, wanted / np.linalg.norm(wanted, axis=1)[:, None], atol=1e-6)
        assert (made.name, made.dim) == (f"openai:tiny@{url}", 2)
        Endpoint.failures = [401]
        with pytest.raises(EncoderError, match="refused"):
            made.encode(["a"])
        made._client.close()


def test_a_dead_endpoint_is_a_clear_error(monkeypatch):
    monkeypatch.setattr(openai, "WAIT", 0.01)
    made = OpenAIEncoder("tiny", "http://127.0.0.1:9/v1")
    with pytest.raises(EncoderError, match=r"http://127\.0\.0\.1:9.* failed 5 times"):
        made.encode(["a"])
    made._client.close()


def test_an_encoder_made_from_its_name_asks_the_same_host(monkeypatch):
    """Documents must not go to another host because the environment, or the default, names one."""
    with standins.serve_embeddings() as url, standins.serve_embeddings() as elsewhere:
        made = encoder(f"openai:tiny@{url}/")
        monkeypatch.setenv("OPENAI_BASE_URL", elsewhere)
        again = encoder(made.name)
        from_environment = encoder("openai:tiny")
        Endpoint.asked.clear()
        again.encode(["a"])
        assert Endpoint.asked == [int(url.split(":")[2].split("/")[0])]
        assert (again.name, again.url) == (made.name, url)
        assert from_environment.name == f"openai:tiny@{elsewhere}"
        monkeypatch.delenv("OPENAI_BASE_URL")
        plain = encoder("openai:@cf/baai/bge")
        assert plain.name == "openai:@cf/baai/bge@https://api.openai.com/v1"
        for one in (made, again, from_environment, plain):
            one._client.close()


def test_a_password_is_sent_but_neither_stored_nor_printed(monkeypatch):
    monkeypatch.setattr(openai, "WAIT", 0.01)
    secret = "http://me:hunter2@127.0.0.1:9/v1"
    made = encoder(f"openai:tiny@{secret}")
    assert made.name == "openai:tiny@http://127.0.0.1:9/v1"
    assert "hunter2" in str(made._client.base_url)
    with pytest.raises(EncoderError) as caught:
        made.encode(["a"])
    assert "hunter2" not in str(caught.value)
    monkeypatch.setenv("OPENAI_BASE_URL", secret)  # the password for an address that has none
    again = encoder(made.name)
    assert "hunter2" in str(again._client.base_url)
    assert "hunter2" not in again.name
    for one in (made, again):
        one._client.close()


@pytest.mark.parametrize(
    "address",
    [
        "m@http://me:hunter2@[bad/v1",
        "m@http://me:hunter2@host:port/v1",
        "m@http://me:hunter2@host/v1?key=hunter2",
        "m@https://",
        "m@me:hunter2@localhost:8000",
        "m@http://ho st/v1",
    ],
)
def test_a_wrong_address_is_refused_without_its_password(address):
    with pytest.raises(InputError, match=r"address|url must end before") as caught:
        encoder(f"openai:{address}")
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("text/html", b"<html>Welcome</html>"),
        ("application/json", b"<html>Welcome</html>"),
        ("application/json", b"null"),
        ("application/json", b"[]"),
        ("application/json", b'{"data": null}'),
        ("application/json", b'{"data": [{"index": 0}]}'),
        ("application/json", b'{"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [1.0]}]}'),
        ("application/json", b'{"data": [{"index": 1, "embedding": [1.0]}]}'),
        ("application/json", b'{"data": [{"index": 0, "embedding": ["a", "b"]}]}'),
        ("application/json", b'{"data": [{"index": 0, "embedding": "no numbers"}]}'),
        ("application/json", b'{"data": [{"index": 0, "embedding": [[1.0]]}]}'),
        ("application/json", b'{"data": [{"index": 0, "embedding": [NaN]}]}'),
    ],
)
def test_an_endpoint_that_answers_something_else_is_a_clear_error(monkeypatch, kind, content):
    with standins.serve_embeddings() as url:
        made = encoder(f"openai:tiny@{url}")
        Endpoint.answers[:] = [(kind, content)]
        with pytest.raises(BreadthError, match=r"http://127\.0\.0\.1"):
            made.encode(["a"])
        made._client.close()


def test_embeddings_of_different_lengths_are_refused():
    with standins.serve_embeddings() as url:
        made = encoder(f"openai:tiny@{url}")
        data = b'{"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [1.0, 2.0]}]}'
        Endpoint.answers[:] = [("application/json", data)]
        with pytest.raises(InputError, match="its rows have different lengths"):
            made.encode(["a", "b"])
        made._client.close()


def test_rows_become_unit_rows_whatever_their_size():
    rows = unit_rows([[3e30, 4e30], [3e-30, 4e-30], [0.0, 0.0]], 3, "e")
    np.testing.assert_allclose(rows, [[0.6, 0.8], [0.6, 0.8], [0.0, 0.0]], atol=1e-6)
    for wrong, message in (
        ([[1 + 1j, 0]], "must return numbers, got complex128"),
        ([["0.6", "0.8"]], "must return numbers, got <U3"),
        (np.ma.masked_array([[1.0, 0.0]]), "is a masked array"),
        ([[True, False]], "must return numbers, got bool"),
        ([[np.inf, 0.0]], "NaN or infinity"),
    ):
        with pytest.raises(InputError, match=message):
            unit_rows(wrong, 1, "e")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_model_is_a_clear_error(tmp_path, name):
    standins.write_onnx_model(tmp_path)
    (tmp_path / name).write_bytes(b"damaged")
    with pytest.raises(EncoderError, match=name):
        encoder(f"onnx:{tmp_path}")


def test_a_folder_may_have_any_name(tmp_path):
    folder = tmp_path / "c#model"
    folder.mkdir()
    standins.write_onnx_model(folder)
    made = encoder(f"onnx:{folder}")
    assert encoder(made.name).name == made.name


@pytest.mark.parametrize("description", ["", "word2vec", "openai:", "onnx", "model2vec", "opnai:m@http://me:hunter2@h"])
def test_unknown_descriptions_are_refused(description):
    with pytest.raises(InputError, match="encoder must be one of builtin, sentence-transformers:MODEL") as caught:
        encoder(description)
    assert "hunter2" not in str(caught.value)


def test_a_model_that_is_not_there_is_a_clear_error(tmp_path):
    with pytest.raises(EncoderError, match="model2vec cannot load"):
        encoder(f"model2vec:{tmp_path / 'nothing'}")


def test_a_transformer_in_onnx(tmp_path):
    """A model with an embedding for each token: what comes out is the mean over the tokens, of unit length."""
    standins.write_onnx_model(tmp_path)
    made = encoder(f"onnx:{tmp_path}")
    rows = made.encode(["asthma is", "fever cough is"])
    means = np.stack([standins.TABLE[[1, 2]].mean(axis=0), standins.TABLE[[3, 4, 2]].mean(axis=0)])
    np.testing.assert_allclose(rows, means / np.linalg.norm(means, axis=1, keepdims=True), atol=1e-5)
    assert made.dim == 4
    assert not made.encode([""]).any()
    assert encoder(made.name).name == made.name
    (tmp_path / "model.onnx").unlink()
    with pytest.raises(InputError, match=r"has no model\.onnx"):
        encoder(f"onnx:{tmp_path}")


def test_sentence_transformers_are_asked_with_their_own_prompts(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", standins.sentence_transformers)
    asked = standins.SentenceTransformer.asked
    asked.clear()
    made = encoder("sentence-transformers:some/model")
    row = standins.TABLE[3] / np.linalg.norm(standins.TABLE[3])
    np.testing.assert_allclose(made.encode(["fever"], "query"), [row], atol=1e-6)
    made.encode(["fever"])
    assert asked == ["query", None]
    assert (made.name, made.dim) == ("sentence-transformers:some/model", 4)
    with pytest.raises(EncoderError, match="cannot load 'nothing'"):
        encoder("sentence-transformers:nothing")
