"""scikit-learn: its estimator checks, and what the estimator promises."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import breadth
from breadth.errors import InputError
from breadth.integrations.sklearn import BreadthSelector
from tests.integrations import corpus


@parametrize_with_checks([BreadthSelector()])
def test_estimator_checks(estimator, check):
    check(estimator)


def test_the_subset_is_that_of_select():
    X = corpus.vectors() * 3.0
    made = BreadthSelector(6).fit(X)
    unit = (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32)
    direct = breadth.select(unit, scores=np.zeros(len(X)), k=6, theta=0.0, sharpness=2)
    assert made.indices_.tolist() == direct.ids.tolist()
    assert np.array_equal(made.fit_select(X), X[made.indices_])
    assert made.selection_.redundancy < breadth.select(unit, unit[0], k=6, theta=1.0, sharpness=2).redundancy


def test_with_a_query_the_subset_is_relevant_too():
    near = BreadthSelector(6, query=corpus.query(), theta=1.0).fit(corpus.vectors())
    assert set(near.indices_) == set(np.argsort(-(corpus.vectors() @ corpus.query()))[:6])
    with pytest.raises(InputError, match="needs query"):
        BreadthSelector(6, theta=0.5).fit(corpus.vectors())
    with pytest.raises(InputError, match="256 features"):
        BreadthSelector(6, query=[1.0, 0.0]).fit(corpus.vectors())


def test_in_a_pipeline():
    y = np.array([p.source == corpus.FLOOD for p in corpus.passages()])
    model = make_pipeline(BreadthSelector(12), LogisticRegression()).fit(corpus.vectors(), y)
    assert model.score(corpus.vectors(), y) > 0.9
    assert model[0].get_feature_names_out()[0] == "breadthselector0"


def test_too_many_rows_are_refused():
    with pytest.raises(InputError, match="n_select=9 is more than n_samples=3"):
        BreadthSelector(9).fit(np.eye(3))


def test_distinct_holds():
    X = np.repeat(np.eye(5), 4, axis=0) + 1e-3
    made = BreadthSelector(8, distinct=0.9).fit(X)
    assert len(made.indices_) == 5
