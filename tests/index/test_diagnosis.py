"""A diagnosis finds the copies that are there, and suggests a θ only if there are some."""

from __future__ import annotations

import numpy as np
import pytest

from breadth.errors import InputError
from breadth.index import Document, Index, diagnose
from breadth.index.diagnosis import THETAS
from tests.synthetic import isotropic


class Lookup:
    """An encoder that knows the vector of each text."""

    name = "lookup"

    def __init__(self, vectors):
        self._vectors = vectors
        self.dim = len(next(iter(vectors.values())))

    def encode(self, texts, kind="document"):
        return np.array([self._vectors.get(t, np.zeros(self.dim)) for t in texts], dtype=np.float32)


@pytest.fixture
def build(tmp_path, rng):
    """Make an index of 120 different directions with so many copies of each."""

    def make(copies):
        rows = isotropic(rng, 120, 24)
        vectors = {f"direction {i} copy {j}": rows[i] for i in range(120) for j in range(copies)}
        index = Index.create(tmp_path / f"{copies}.index", Lookup(vectors))
        index.add([Document(text, text) for text in vectors])
        return index

    return make


def test_copies_are_found_and_a_theta_is_suggested(build):
    with build(copies=3) as index:
        found = diagnose(index, k=6, sample=20)
    assert (found.queries, found.k, found.documents) == (20, 6, 360)
    assert [point.theta for point in found.curve] == list(THETAS)
    assert found.top_k.redundant == pytest.approx(4 / 6)  # two directions, three copies of each
    assert found.top_k.affected == 1
    assert found.suggested_theta is not None
    chosen = next(point for point in found.curve if point.theta == found.suggested_theta)
    assert chosen.redundant <= found.top_k.redundant / 2
    assert found.keep == pytest.approx(chosen.relevance / found.top_k.relevance)
    larger = [p for p in found.curve[:-1] if p.theta > chosen.theta]
    assert all(point.redundant > found.top_k.redundant / 2 for point in larger)
    assert "67% of what top-6 returns" in found.verdict()
    assert f"θ = {chosen.theta:g}" in found.verdict()


def test_without_copies_there_is_nothing_to_suggest(build):
    with build(copies=1) as index:
        found = diagnose(index, k=5, sample=20)
    assert found.top_k.redundant == 0
    assert (found.suggested_theta, found.keep) == (None, None)
    assert "You hardly need diversity: 0.0% of what top-5 returns" in found.verdict()


def test_the_sample_is_drawn_with_the_seed_and_progress_is_reported(build):
    seen = []
    with build(copies=2) as index:
        first = diagnose(index, k=4, sample=8, progress=lambda done, total: seen.append((done, total)))
        assert diagnose(index, k=4, sample=8) == first
        assert diagnose(index, k=4, sample=8, seed=1) != first
        own = diagnose(index, ["direction 7 copy 0", " ", "unheard of"], k=4)
    assert seen == [(done, 8) for done in range(1, 9)]
    assert own.queries == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": ["", " "]}, "queries holds no text"),
        ({"queries": "asthma"}, "queries must be a list of texts, got one text"),
        ({"queries": ["unheard of"]}, "the encoder knows no word"),
        ({"k": 1000}, "k must be at most"),
        ({"near_copy": 1.5}, r"near_copy must be in \[-1, 1\], got 1.5"),
    ],
)
def test_wrong_arguments(build, arguments, message):
    with build(copies=1) as index, pytest.raises(InputError, match=message):
        diagnose(index, **{"k": 5, **arguments})
