from __future__ import annotations

import builtins

import numpy as np
import pytest
from hypothesis import given

from breadth import InputError, MissingExtraError, metrics
from tests.strategies import instances


@given(instances())
def test_distances_are_those_of_all_pairs(case):
    n = len(case.E)
    pairs = [1 - case.E[i] @ case.E[j] for i in range(n) for j in range(n) if i != j]
    assert metrics.ilad(case.E) == pytest.approx(np.mean(pairs))
    assert metrics.min_distance(case.E) == pytest.approx(min(pairs), abs=1e-9)
    assert metrics.mean_relevance(case.E, case.q) == pytest.approx(case.c.mean())


def test_a_copy_is_at_distance_zero_and_one_row_has_no_distance():
    copies = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert metrics.min_distance(copies) == 0
    assert metrics.ilad(copies) == 0
    assert metrics.ilad(copies[:1]) == 0
    with pytest.raises(InputError, match="at least 2 rows"):
        metrics.min_distance(copies[:1])
    with pytest.raises(InputError, match="row 0 has length 2"):
        metrics.ilad(2 * copies)


def test_answers_are_found_as_whole_words_in_one_of_the_texts():
    texts = ["The film opened on June 28, 2003.", "Its CAST included Johnny"]
    answers = [["28 June 2003", "june 28, 2003"], ["July 9"], ["included johnny"]]
    assert metrics.answer_recall(texts, answers) == pytest.approx(2 / 3)
    assert metrics.answer_recall(texts, [["2003. its cast"]]) == 0.0  # words of two texts
    assert metrics.answer_recall(texts, [["John"], ["June 28"]]) == 0.5  # a part of a word is another word
    assert metrics.answer_recall([], [["x"]]) == 0.0
    assert metrics.answer_recall(texts, [["Johnny"], ["-", ""]]) == 0.5  # without a form left: wanted, held by none


def test_recall_reads_the_public_formats():
    texts = ["Heat and Sanctuary were drawn by him."]
    pairs = [{"question": "?", "short_answers": ["Heat", "Hito"]}, {"question": "?", "short_answers": ["Strain"]}]
    assert metrics.asqa_recall(texts, pairs) == 0.5
    answers = [{"answer_text": "Mai", "aliases": ["Sanctuary"]}, {"answer_text": "Strain", "aliases": []}]
    assert metrics.qampari_recall(texts, answers) == 0.5


@pytest.mark.parametrize(
    ("texts", "answers", "message"),
    [
        ("one string", [["a"]], r"texts must be a list of strings, got one string; pass \[text\]"),
        (["a"], [], "answers must be a non-empty list"),
        (["a", 3], [["a"]], "texts must be strings, got int at place 1"),
        (["a"], ["a"], "every answer is the list of its forms, got 'a'"),
        (["a"], [[]], r"every answer is the list of its forms, got \[\]"),
    ],
)
def test_wrong_recall_input(texts, answers, message):
    with pytest.raises(InputError, match=message):
        metrics.answer_recall(texts, answers)


def test_a_record_without_the_field_is_named():
    with pytest.raises(InputError, match=r"no field 'short_answers'; it has .'answers'."):
        metrics.asqa_recall(["a"], [{"answers": ["a"]}])


SUBTOPICS = {"film": ["p1", "p2"], "ride": ["p3"], "book": ["p9"]}


def test_subtopic_recall_counts_covered_subtopics():
    assert metrics.subtopic_recall(["p1", "p2", "p3"], SUBTOPICS, k=2) == pytest.approx(1 / 3)
    assert metrics.subtopic_recall(["p1", "p2", "p3"], SUBTOPICS, k=3) == pytest.approx(2 / 3)
    assert metrics.subtopic_recall(["p5"], SUBTOPICS, k=1) == 0


def test_alpha_ndcg_matches_its_definition():
    # Gains of p1, p2, p3: 1, (1-α), 1. An ideal order takes one passage of each subtopic first.
    alpha = 0.3
    discount = 1 / np.log2(np.arange(2, 5))
    got = np.array([1, 1 - alpha, 1]) @ discount
    ideal = np.array([1, 1, 1]) @ discount
    assert metrics.alpha_ndcg(["p1", "p2", "p3"], SUBTOPICS, k=3, alpha=alpha) == pytest.approx(got / ideal, abs=1e-4)
    assert metrics.alpha_ndcg(["p1", "p3", "p9"], SUBTOPICS, k=3) == pytest.approx(1)


def test_ranked_measures_check_their_input():
    with pytest.raises(InputError, match="holds an id twice"):
        metrics.subtopic_recall(["p1", "p1"], SUBTOPICS, k=1)
    with pytest.raises(InputError, match="at least one passage"):
        metrics.subtopic_recall(["p1"], {}, k=1)
    with pytest.raises(InputError, match="k must be at least 1"):
        metrics.subtopic_recall(["p1"], SUBTOPICS, k=0)


def test_a_missing_package_names_its_extra(monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **keywords):
        if name == "ir_measures":
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(MissingExtraError, match=r"pip install '\.\[measures\]'"):
        metrics.subtopic_recall(["p1"], SUBTOPICS, k=1)
