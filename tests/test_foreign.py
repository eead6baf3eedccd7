"""Arrays of other packages are taken as they are meant; what could be meant in two ways is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest

import breadth
from breadth import InputError
from breadth.foreign import to_array
from tests.synthetic import isotropic

pandas = pytest.importorskip("pandas", reason="pandas is not installed (the extra `pandas`)")
polars = pytest.importorskip("polars", reason="polars is not installed (the extra `polars`)")
torch = pytest.importorskip("torch", reason="torch is not installed (the extra `torch`)")

NAMES = [f"d{i}" for i in range(8)]


@pytest.fixture
def E(rng):
    return isotropic(rng, 30, 8)


def with_gradient(E):
    return torch.tensor(E, requires_grad=True) * 1.0


KINDS = {
    "pandas frame": lambda E: pandas.DataFrame(E, columns=NAMES),
    "pandas frame with room for missing values": lambda E: pandas.DataFrame(E, columns=NAMES).convert_dtypes(),
    "pandas column of lists": lambda E: pandas.Series(E.tolist()),
    "pandas column of arrays": lambda E: pandas.Series(list(E)),
    "polars frame": lambda E: polars.DataFrame({name: E[:, i] for i, name in enumerate(NAMES)}),
    "polars column of lists": lambda E: polars.Series(E.tolist(), dtype=polars.List(polars.Float32)),
    "polars column of arrays": lambda E: polars.Series(E.tolist(), dtype=polars.Array(polars.Float32, 8)),
    "tensor": torch.tensor,
    "tensor with a gradient": with_gradient,
    "list of tensors with a gradient": lambda E: list(with_gradient(E)),
    "list of arrays": list,
}


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_of_other_packages_give_the_same_set(E, kind):
    value = KINDS[kind](E)
    np.testing.assert_allclose(to_array(value, "vectors"), E, rtol=1e-6)
    wanted = breadth.select(E, E[0], k=5)
    assert list(breadth.select(value, E[0], k=5)) == list(wanted)


@pytest.mark.parametrize("kind", ["bfloat16", "float16", "float64", "float8_e4m3fn"])
def test_tensors_of_every_float_type_lose_nothing(E, kind):
    tensor = torch.tensor(E).to(getattr(torch, kind))
    np.testing.assert_array_equal(to_array(tensor, "vectors"), tensor.to(torch.float64).numpy())


def test_queries_and_scores_of_other_packages(E):
    wanted = breadth.select(E, E[0], k=5)
    for query in (torch.tensor(E[0], requires_grad=True), pandas.Series(E[0]), polars.Series(E[0])):
        assert list(breadth.select(E, query, k=5)) == list(wanted)
    rough = torch.tensor(E[0]).to(torch.bfloat16)
    assert breadth.select(E, rough.float() / rough.float().norm(), k=5).ids[0] == wanted.ids[0]
    relevance = E @ E[0]
    scored = breadth.select(E, scores=relevance, k=5)
    for scores in (torch.tensor(relevance), pandas.Series(relevance), polars.Series(relevance), relevance.tolist()):
        assert list(breadth.select(E, scores=scores, k=5)) == list(scored)
    many = breadth.select_many(E, torch.tensor(E[:3], requires_grad=True), k=5)
    assert list(many[0]) == list(wanted)


REFUSED = {
    "a column that is no vector": (
        lambda E: pandas.DataFrame(E, columns=NAMES).assign(id=range(30)),
        "vectors: the column 'id' of the data frame holds int64, not floats",
    ),
    "a polars column that is no vector": (
        lambda E: polars.DataFrame({"text": ["a"] * 30, "v": E.tolist()}),
        "vectors: the column 'text' of the data frame holds String, not floats",
    ),
    "a missing number": (
        lambda E: pandas.DataFrame(np.where(np.arange(30)[:, None] == 4, np.nan, E)).convert_dtypes(),
        "vectors: row 4 holds NaN",
    ),
    "a missing list": (lambda E: pandas.Series([*E.tolist(), None]), "vectors: row 30 is None, not a list of numbers"),
    "lists of different lengths": (lambda E: pandas.Series([[1.0, 0.0], [1.0]]), "vectors: row 1 has 1 numbers, row 0"),
    "words": (lambda E: [["1.0", "0.0"]], "vectors must be float32, float64 or float16, got <U3"),
    "one word": (lambda E: "vectors", "vectors must be a 2-D array"),
    "truth values": (lambda E: E > 0, "vectors must be float32, float64 or float16, got bool"),
    "complex numbers": (lambda E: torch.tensor(E).to(torch.complex64), "vectors must be float32.* got complex64"),
    "masked": (lambda E: np.ma.masked_invalid(E), "vectors is a masked array"),
    "a sparse tensor": (lambda E: torch.tensor(E).to_sparse(), "vectors must be an array of numbers"),
    "nothing": (lambda E: None, "vectors must be a 2-D array"),
    "a set": (lambda E: {1.0, 2.0}, "vectors must be a 2-D array"),
    "numbers too large": (lambda E: [[10**400, 1]], "vectors must be float32"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_not_clear_is_refused(E, kind):
    make, message = REFUSED[kind]
    with pytest.raises(InputError, match=message):
        breadth.select(make(E), E[0], k=1)


def test_queries_of_different_lengths_are_refused(E):
    with pytest.raises(InputError, match="queries must be an array of numbers; its rows have different lengths"):
        breadth.select_many(E, [[1.0, 0.0], [1.0]], k=3)
    with pytest.raises(InputError, match=re.escape("scores must have two dimensions, one row for each query")):
        breadth.select_many(E, scores=np.ones(30), k=3)
