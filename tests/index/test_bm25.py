"""BM25: what shares words comes first, pools are merged without repeats."""

from __future__ import annotations

import numpy as np
import pytest

import breadth
from breadth.errors import InputError
from breadth.index import BM25
from tests.synthetic import isotropic

TEXTS = [
    "asthma is treated",
    "the treatment of asthma and cough",
    "kidney stones",
    "stones of the kidney and bladder",
    "migraine",
]


def test_texts_that_share_words_come_first():
    index = BM25(TEXTS)
    assert set(index.top("treating asthma", 10).tolist()) == {0, 1}
    assert index.top("kidney", 1).tolist() == [2]
    assert index.top("unheard of", 3).tolist() == []
    assert np.count_nonzero(index.scores("migraine")) == 1


def test_pools_hold_every_text_once():
    index = BM25(TEXTS)
    assert index.pool(["asthma", "kidney", "asthma cough"], 2).tolist() == [0, 1, 2, 3]
    assert index.pool(["kidney"], 1).tolist() == [2]


def test_its_scores_can_be_the_relevance_of_a_selection(rng):
    found = breadth.select(isotropic(rng, 5, 8), scores=BM25(TEXTS).scores("kidney stones"), k=2, theta=0.9)
    assert set(found.ids) == {2, 3}


def test_no_texts_is_an_error():
    with pytest.raises(InputError, match="at least one text"):
        BM25([])
