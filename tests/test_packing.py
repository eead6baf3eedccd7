"""`breadth.pack`: never above the budget, in the order that was asked for, with provenance."""

from __future__ import annotations

import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import breadth
from breadth.errors import InputError
from breadth.packing import ORDERS, Passage

WORDS = st.lists(st.text(alphabet="ab ", min_size=1, max_size=30), min_size=0, max_size=8)


def merging(text: str) -> int:
    """A tokenizer whose tokens run across the borders of passages: the counts of parts do not add up."""
    return len(text.replace("\n\n[", "")) // 3 + 1


@given(texts=WORDS, budget=st.integers(1, 60), order=st.sampled_from(sorted(ORDERS)), data=st.data())
def test_the_budget_holds_for_the_whole_text(texts, budget, order, data):
    passages = [Passage(text, str(i), data.draw(st.floats(-1, 1))) for i, text in enumerate(texts)]
    for tokenizer in (str.split, len, merging):
        packed = breadth.pack(passages, budget, tokenizer, order=order)
        size = tokenizer(packed.text)
        assert packed.tokens <= budget
        if packed.passages:
            assert packed.tokens == (size if isinstance(size, int) else len(size))
        kept, left = ([one.id for one in part] for part in (packed.passages, packed.left_out))
        assert sorted(kept + left) == [str(i) for i in range(len(texts))]
        assert [one.number for one in packed] == list(range(1, len(packed) + 1))


@given(texts=WORDS, budget=st.integers(1, 60))
def test_what_is_left_out_does_not_fit(texts, budget):
    """Greedy: a passage is left out only if it does not fit beside the more relevant ones that were taken."""
    packed = breadth.pack([Passage(text, str(i), -float(i)) for i, text in enumerate(texts)], budget, len)
    for one in packed.left_out:
        before = [other for other in packed.passages if (other.score or 0.0) > (one.score or 0.0)]
        assert breadth.pack([*before, one], budget, len).left_out


def test_orders():
    passages = [Passage(str(rank), str(rank), -float(rank)) for rank in (3, 1, 5, 2, 4)]
    found = {order: [one.id for one in breadth.pack(passages, 100, len, order=order)] for order in ORDERS}
    assert found["relevance"] == ["1", "2", "3", "4", "5"]
    assert found["ends"] == ["1", "3", "5", "4", "2"]
    assert found["given"] == ["3", "1", "5", "2", "4"]


def test_a_selection_with_texts():
    vectors = np.eye(4, dtype=np.float32)
    query = np.array([0.8, 0.6, 0.0, 0.0], dtype=np.float32)
    chosen = breadth.select(np.vstack((vectors, vectors[:1])), query, k=2)
    texts = ["zero", "one", "two", "three", "Zero!"]
    packed = breadth.pack(chosen, 100, str.split, texts=texts)
    assert packed.text == "[1] zero\n\n[2] one"
    assert packed.sources() == {1: ["0"], 2: ["1"]}  # close vectors are no reason to cite a passage
    by_text = breadth.select(np.vstack((vectors, vectors[:1])), query, k=2, texts=texts)
    assert breadth.pack(by_text, 100, str.split, texts=texts).sources() == {1: ["0", "4"], 2: ["1"]}
    with pytest.raises(InputError, match="pass texts="):
        breadth.pack(chosen, 100, len)
    with pytest.raises(InputError, match="no entry for 1"):
        breadth.pack(chosen, 100, len, texts={0: "zero"})


def test_results_of_an_index(tmp_path):
    with breadth.Index.create(tmp_path / "index") as index:
        texts = ["Asthma is treated with inhalers.", "Asthma is treated with inhalers!", "Cars need oil and fuel."]
        index.add(breadth.Document(str(i), text, {"source": f"s{i}"}) for i, text in enumerate(texts))
        packed = breadth.pack(index.search("asthma treated", 2, on_topic=0.0), 50, str.split)
    assert sorted(packed.sources()[1]) == ["0", "1"]
    assert packed.passages[0].copies[0]["metadata"]["source"] in ("s0", "s1")
    assert str(packed) == packed.text


def test_tokenizers_of_other_packages():
    tokenizers = (
        SimpleNamespace(encode=lambda text: text.split()),  # tiktoken
        SimpleNamespace(encode=lambda text: SimpleNamespace(ids=text.split())),  # tokenizers
        lambda text: np.int64(len(text.split())),
    )
    assert {breadth.pack(["a b", "c"], 3, one).tokens for one in tokenizers} == {3}
    for wrong in (None, lambda text: 1.5):
        with pytest.raises(InputError, match="tokenizer must"):
            breadth.pack(["a"], 3, wrong)


def test_form_and_separator():
    packed = breadth.pack(
        [{"text": "one", "id": "a", "metadata": {"page": 3}}, {"text": "two", "id": "b"}],
        100,
        len,
        form=lambda one: f"<p id={one.id} page={one.metadata.get('page')}>{one.text}</p>",
        separator="",
    )
    assert packed.text == "<p id=a page=3>one</p><p id=b page=None>two</p>"


def test_what_is_refused():
    for found, message in (("a text", "list of passages"), ([3], "cannot read"), ([{"id": "x"}], "must have a text")):
        with pytest.raises(InputError, match=message):
            breadth.pack(found, 10, len)
    with pytest.raises(InputError, match="order"):
        breadth.pack([], 10, len, order="middle")
    with pytest.raises(InputError, match="budget"):
        breadth.pack([], 0, len)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("gpt-4",), "tokenizer must be a function of a text, or have encode, got the text 'gpt-4'"),
        ((len, "relevance", None, 3), "form must be a function of a passage, got 3"),
        ((len, "relevance", None, lambda passage: None), "form must return a text for every passage"),
    ],
)
def test_tokenizers_and_forms_are_checked(arguments, message):
    names = ("tokenizer", "order", "texts", "form")
    with pytest.raises(InputError, match=re.escape(message)):
        breadth.pack(["one", "two"], 10, **dict(zip(names, arguments, strict=False)))
