"""Which passages of a set another one says all of."""

from __future__ import annotations

import numpy as np
import pytest

from breadth import InputError, metrics

TEXTS = ["Node 18 is needed.", "Node 20 is needed.", "NODE 18 IS NEEDED", "Node 18 is needed. It is free.", "Else."]


def test_of_copies_the_first_counts_and_the_longer_text_counts_for_the_shorter():
    assert metrics.repeats(TEXTS).tolist() == [True, False, True, False, False]
    assert metrics.repeats(TEXTS[:3]).tolist() == [False, False, True]
    assert metrics.repeats([]).tolist() == []


def test_only_passages_with_close_vectors_are_compared():
    rows = np.eye(5)
    assert not metrics.repeats(TEXTS, rows).any()
    assert metrics.repeats(TEXTS, np.tile(rows[0], (5, 1))).tolist() == [True, False, True, False, False]


def test_other_words_need_close_vectors():
    texts = [
        "On Monday it said that its factory in Ohio would be closed.",
        "It said on Monday that its Ohio factory closes.",
    ]
    near = np.array([[1.0, 0.0], [0.9, np.sqrt(0.19)]])
    assert not metrics.repeats(texts).any()
    assert metrics.repeats(texts, near).sum() == metrics.repeats(texts, near, paraphrase=0.89).sum()
    assert not metrics.repeats(texts, near, paraphrase=0.95).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a text",), "texts must be a list of texts"),
        ((TEXTS, np.eye(4)), "vectors must have a row for each of the 5 texts, got 4"),
        ((TEXTS, 2 * np.eye(5)), "vectors"),
    ],
)
def test_wrong_input_is_an_error(arguments, message):
    with pytest.raises(InputError, match=message):
        metrics.repeats(*arguments)
