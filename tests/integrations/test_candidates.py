"""Choosing among candidates: what every adapter relies on."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import breadth
from breadth.errors import InputError
from breadth.integrations.candidates import KEY, RELEVANCE, Candidate, choose
from breadth.integrations.options import GroupWarning, Options, PoolWarning, ScoreWarning
from tests.integrations import corpus


def make(vectors, scores=None, **metadata):
    scores = [None] * len(vectors) if scores is None else scores
    facts = [{name: values[i] for name, values in metadata.items()} for i in range(len(vectors))]
    pairs = zip(vectors, scores, facts, strict=True)
    return [Candidate(f"d{i}", f"text {i}", fact, row, score) for i, (row, score, fact) in enumerate(pairs)]


def ids(chosen):
    return [pick.candidate.id for pick in chosen.picks]


@pytest.fixture
def rows():
    return np.random.default_rng(3).normal(size=(40, 16)) + 1.0


@given(seed=st.integers(0, 200), k=st.integers(1, 12), n=st.integers(1, 30))
def test_the_set_is_that_of_select(seed, k, n):
    """An adapter adds nothing to the choice: it is `breadth.select` on the directions of the vectors."""
    rng = np.random.default_rng(seed)
    rows, query = rng.normal(size=(n, 8)) + 0.5, rng.normal(size=8) + 0.5
    chosen = choose(make(rows), query, k, Options())
    unit = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    direct = breadth.select(unit, query / np.linalg.norm(query), k=min(k, n))
    assert [int(name[1:]) for name in ids(chosen)] == direct.ids.tolist()
    assert chosen.asked == k
    assert chosen.searched == n
    assert 0.0 < chosen.coverage <= 1.0


def test_what_is_told_is_plain_and_complete(rows):
    chosen = choose(make(rows), rows[0], 5, Options())
    for rank, pick in enumerate(chosen.picks):
        told = chosen.metadata(rank)[KEY]
        assert told["score"] == pick.score
        assert told["rank"] == rank + 1
        assert told["gap"] >= 0.0
        assert told["objective"] == pytest.approx(
            told["theta"] * told["relevance"] - (1 - told["theta"]) * told["redundancy"]
        )
        assert all(isinstance(value, (str, int, float, bool, list, type(None))) for value in told.values())


def test_length_does_not_matter(rows):
    scaled = rows * np.random.default_rng(0).uniform(0.1, 9.0, size=(len(rows), 1))
    assert ids(choose(make(rows), rows[0], 6, Options())) == ids(choose(make(scaled), 5.0 * rows[0], 6, Options()))


def test_a_repeated_document_counts_once_with_its_best_score(rows):
    twice = [Candidate("a", "same", {}, rows[0], 0.2), Candidate("a", "same", {}, None, 0.9)]
    chosen = choose([*twice, Candidate("a", "other", {}, rows[1], 0.5)], None, 5, Options(distinct=1.0), "scores")
    assert sorted((pick.candidate.text, pick.score) for pick in chosen.picks) == [("other", 0.5), ("same", 0.9)]


def test_missing_embeddings_are_refused_and_named(rows):
    some = [*make(rows[:3]), Candidate("lost", "text", {}, None)]
    with pytest.raises(InputError, match="1 of 4 candidates have no embedding, 'lost'"):
        choose(some, rows[0], 2, Options())


def test_a_vector_of_zeros_has_cosine_zero_with_all(rows):
    some = make(np.vstack((rows[:3], np.zeros((2, 16)))))
    chosen = choose(some, rows[0], 5, Options(on_topic=0.0))
    assert set(ids(chosen)) >= {"d3", "d4"}
    assert {pick.score for pick in chosen.picks if pick.candidate.id in ("d3", "d4")} == {0.0}


def test_wrong_vectors_are_refused(rows):
    with pytest.raises(InputError, match="same length"):
        choose(make([[1.0, 2.0], [1.0]]), [1.0, 0.0], 1, Options())
    with pytest.raises(InputError, match="'d1' holds NaN"):
        choose(make([[1.0, 2.0], [np.nan, 1.0]]), [1.0, 0.0], 1, Options())
    with pytest.raises(InputError, match="2 dimensions and the candidates 16"):
        choose(make(rows), [1.0, 0.0], 1, Options())
    with pytest.raises(InputError, match="all zeros"):
        choose(make(rows), np.zeros(16), 1, Options())


def test_fewer_candidates_than_k_are_all_returned(rows):
    chosen = choose(make(rows[:3]), rows[0], 10, Options())
    assert len(chosen.picks) == 3
    assert chosen.tell(0)["asked"] == 10


def test_nothing_to_choose_from(rows):
    assert choose([], rows[0], 3, Options()).picks == ()
    assert choose(make(rows), rows[0], 3, Options(floor=1.5)).picks == ()


def test_a_full_pool_that_gives_too_small_a_set_warns(rows):
    copies = [replace(one, text=str(place // 5)) for place, one in enumerate(make(np.repeat(rows[:2], 5, axis=0)))]
    with pytest.warns(PoolWarning, match="10 candidates gives a set of 2, not 4"):
        choose(copies, rows[0] + rows[1], 4, Options(), limit=10)
    choose(copies, rows[0] + rows[1], 4, Options(), limit=11)  # there are no more: nothing to warn about


def test_scores_beyond_cosines_are_scaled_with_a_warning(rows):
    logits = np.linspace(9.0, -6.0, len(rows))
    with pytest.warns(ScoreWarning, match="from -6 to 9"):
        chosen = choose(make(rows, logits), rows[0], 4, Options(), "auto")
    assert chosen.picks[0].candidate.id == "d0"
    assert chosen.picks[0].score == 1.0


@pytest.mark.parametrize("relevance", [name for name in RELEVANCE if name not in ("auto", "query")])
def test_a_scale_that_is_named_does_not_warn_and_keeps_the_best(rows, relevance):
    logits = np.linspace(-6.0, 9.0, len(rows))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        chosen = choose(make(rows, logits), None, 4, Options(), relevance)
    assert chosen.picks[0].candidate.id == "d39"


def test_scores_on_the_scale_of_cosines_are_used_as_they_are(rows):
    scores = np.linspace(0.9, 0.1, len(rows))
    chosen = choose(make(rows, scores), rows[0], 3, Options(), "auto")
    assert chosen.picks[0].score == pytest.approx(0.9)


def test_scores_that_rise_look_like_distances(rows):
    distances = np.linspace(0.1, 0.9, 4)
    with pytest.warns(ScoreWarning, match="as distances do"):
        chosen = choose(make(rows[:4], distances), rows[0], 2, Options(), "auto")
    assert chosen.picks[0].candidate.id == "d3"
    for relevance, best in (("query", "d0"), ("scores", "d3")):  # whoever says what they are is not warned
        assert choose(make(rows[:4], distances), rows[0], 2, Options(), relevance).picks[0].candidate.id == best
    choose(make(rows[:3], distances[:3]), rows[0], 2, Options(), "auto")  # three can be an accident
    choose(make(rows[:4], [0.5] * 4), rows[0], 2, Options(), "auto")


def test_without_scores_and_query_there_is_no_relevance(rows):
    with pytest.raises(InputError, match="pass the query"):
        choose(make(rows), None, 3, Options(), "auto")
    with pytest.raises(InputError, match="'d0' has the score None"):
        choose(make(rows), None, 3, Options(), "scores")


def test_groups_and_budget(rows):
    some = make(rows, source=["a", "b"] * 20)
    assert len(choose(some, rows[0], 6, Options(group_by="source", per_group=2)).picks) == 4
    chosen = choose(some, rows[0], 6, Options(budget=7, count=len))  # every text has six or seven letters
    assert len(chosen.picks) == 1


def test_groups_by_a_field_that_no_document_has_are_told(rows):
    some = make(rows, source=["a", "b"] * 20)
    with pytest.warns(GroupWarning, match="none of the 4 chosen documents has this field"):
        choose(some, rows[0], 4, Options(group_by="sauce"))


def test_options_are_checked_where_they_are_given():
    for wrong, message in (
        ({"per_group": 2}, "per_group needs group_by"),
        ({"group_by": "source", "per_group": 0}, "per_group must be at least 1"),
        ({"count": len}, "count needs budget"),
        ({"method": "best"}, "method"),
        ({"lambda_mult": 0.5, "theta": 0.5}, "not both"),
        ({"lambda_mult": 1.5}, "lambda_mult"),
        ({"diversity": 0.5}, "no option 'diversity'"),
    ):
        with pytest.raises(InputError, match=message):
            Options.read(wrong)
    assert Options.read({"lambda_mult": 0.25}).theta == 0.25


def test_near_copies_are_told_with_their_sources():
    made = [
        Candidate(p.id, p.text, corpus.metadata(p), row)
        for p, row in zip(corpus.passages(), corpus.vectors(), strict=True)
    ]
    chosen = choose(made, corpus.query(), 5, Options())
    told = chosen.tell(0)["copies"]
    assert {one["metadata"]["source"] for one in told} >= {corpus.FLOOD}
    assert {one["relation"] for one in told} == {"same"}
