"""scikit-learn (extra `sklearn`): a small, varied subset of the rows of a data matrix, as an estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from breadth.api import select
from breadth.arrays import Array
from breadth.errors import InputError, MissingExtraError
from breadth.integrations.vectors import unit, unit_rows

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils.validation import check_is_fitted, validate_data
except ImportError:
    raise MissingExtraError("scikit-learn", "sklearn") from None


class BreadthSelector(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Choose a subset of rows that resemble each other as little as possible.

    n_select    how many rows
    query       a vector: rows are then chosen for their cosine with it as well; `theta` weighs the two
    theta       the weight of the cosine with `query` in [0, 1]; without a query only redundancy counts (θ = 0)
    sharpness   redundancy is the mean of the cosines of all pairs to this power: 1 or an even number
    distinct    no two chosen rows have a cosine above this; None allows all
    method      one of `breadth.methods()`

    After `fit`, `indices_` are the rows that were chosen, `subset_` are these rows of X, and `selection_` says how they
    were chosen. `fit_select(X)` returns the subset itself. `transform(X)` describes every row of X by its cosines with
    the subset: a transformer of scikit-learn must keep the number of rows. Rows are compared by their directions alone.
    """

    def __init__(
        self,
        n_select: int = 8,
        *,
        query: Any = None,
        theta: float | None = None,
        sharpness: int = 2,
        distinct: float | None = None,
        method: str = "certified",
    ) -> None:
        self.n_select = n_select
        self.query = query
        self.theta = theta
        self.sharpness = sharpness
        self.distinct = distinct
        self.method = method

    def fit(self, X: Any, y: Any = None) -> BreadthSelector:
        """Choose rows of X."""
        X = validate_data(self, X, dtype=[np.float64, np.float32])
        if self.n_select > len(X):
            raise InputError(f"n_select={self.n_select} is more than n_samples={len(X)}; choose fewer rows")
        rows = unit_rows(X)
        given: dict[str, Any] = {"scores": np.zeros(len(rows)), "theta": 0.0}
        if self.query is not None:
            vector = unit(self.query, "query")
            if len(vector) != X.shape[1]:
                raise InputError(f"query has {len(vector)} entries, but X has {X.shape[1]} features")
            given = {"query": np.pad(vector, (0, rows.shape[1] - len(vector))), "theta": self.theta}
        elif self.theta not in (None, 0, 0.0):
            raise InputError(f"theta={self.theta} needs query: without one, only redundancy counts")
        options: dict[str, Any] = {"sharpness": self.sharpness, "distinct": self.distinct, "method": self.method}
        self.selection_ = select(rows, k=self.n_select, **given, **options)
        self.indices_ = self.selection_.ids
        self.subset_ = X[self.indices_]
        self._n_features_out = len(self.indices_)
        return self

    def transform(self, X: Any) -> Array:
        """The cosine of every row of X with every row of the subset: (rows of X, rows of the subset)."""
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        cosines = _divide(X) @ _divide(self.subset_).T
        return np.asarray(cosines, dtype=X.dtype)

    def fit_select(self, X: Any, y: Any = None) -> Array:
        """Choose rows of X, and return them."""
        return np.asarray(self.fit(X).subset_)


def _divide(X: Array) -> Array:
    lengths = np.linalg.norm(X, axis=1, keepdims=True)
    return np.asarray(X / np.where(lengths > 0.0, lengths, 1.0))
