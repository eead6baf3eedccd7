"""A diagnosis finds the copies, off-topic passages and dropped best hits there are, and says only what it knows."""

from __future__ import annotations

import numpy as np
import pytest

from breadth.errors import InputError
from breadth.index import Document, Index, Question, diagnose
from breadth.index.profiles import Passages, Profile, Trial, examine, judge
from breadth.index.verdict import suggest, word_verdict
from breadth.problem import Problem
from breadth.selection import conclude
from tests.synthetic import isotropic, unit


class Lookup:
    """An encoder that knows the vector of each text."""

    name = "lookup"

    def __init__(self, vectors):
        self._vectors = vectors
        self.dim = len(next(iter(vectors.values())))

    def encode(self, texts, kind="document"):
        return np.array([self._vectors.get(t, np.zeros(self.dim)) for t in texts], dtype=np.float32)


def make_index(folder, vectors, queries=()):
    """Make an index of the texts that are no queries; the id of a document is its text."""
    index = Index.create(folder, Lookup(vectors))
    index.add([Document(text, text) for text in vectors if text not in queries])
    return index


@pytest.fixture
def build(tmp_path, rng):
    """Make an index of 120 different directions with so many copies of each, which differ in full stops."""

    def make(copies):
        rows = isotropic(rng, 120, 24)
        vectors = {f"direction {i}{'.' * j}": rows[i] for i in range(120) for j in range(copies)}
        return make_index(tmp_path / f"{copies}.index", vectors)

    return make


@pytest.fixture
def repetitive(tmp_path, rng):
    """Make an index of 30 topics: three copies of the fact nearest to the topic, and two other facts.

    The queries are "topic 0", "topic 1", …; the facts of topic 3 are "fact 3a", "fact 3b" and "fact 3c".
    """
    topics = np.eye(64)[:30]
    vectors = {}
    for t, topic in enumerate(topics):
        vectors[f"topic {t}"] = topic
        for fact, weight, copies in (("a", 0.9, 3), ("b", 0.8, 1), ("c", 0.7, 1)):
            other = np.zeros(64)
            other[30:] = unit(rng.standard_normal(34))
            row = weight * topic + np.sqrt(1 - weight**2) * other
            vectors |= {f"fact {t}{fact}{'.' * copy}": row for copy in range(copies)}
    return make_index(tmp_path / "repetitive.index", vectors, [f"topic {t}" for t in range(30)])


def by_name(found):
    return {profile.name: profile for profile in found.profiles}


def test_planted_copies_are_found_and_the_default_removes_them(build):
    with build(copies=3) as index:
        found = diagnose(index, k=6, sample=20)
    assert (found.queries, found.skipped, found.k, found.documents) == (20, 0, 6, 360)
    assert (found.sampled, found.judged) == (True, False)
    assert found.top_k.redundant == pytest.approx(4 / 6)  # two directions, three copies of each
    assert (found.top_k.affected, found.top_k.kept) == (1, 1)
    profiles = by_name(found)
    assert list(profiles) == ["top-k", "default", "different texts", "filter 0.95", "MMR", "paper"]
    for name in ("default", "filter 0.95"):
        assert (profiles[name].redundant, profiles[name].best_dropped, profiles[name].size) == (0, 0, 6)
        assert profiles[name].kept < 1
    assert found.suggested is profiles["default"]
    assert profiles["different texts"].redundant == found.top_k.redundant  # a full stop makes a text another one
    assert [profiles[name].lost for name in ("top-k", "default", "different texts")] == [0, 0, 0]
    assert "67% of its passages say nothing that another one does not say" in found.verdict()
    assert "100% of the queries lose a place" in found.verdict()
    kept = profiles["default"].kept
    assert f"The default leaves no repeats and keeps {kept:.1%} of the relevance" in found.verdict()


def test_examples_show_a_passage_with_its_copies(build):
    with build(copies=3) as index:
        found = diagnose(index, ["direction 7", "direction 8.", "direction 7.."], k=3)
    shown = {repeat.query: {document.id for document in repeat.documents} for repeat in found.repeats}
    assert shown == {  # the second query for direction 7 has nothing new to show
        f"direction {i}{'.' * j}": {f"direction {i}{'.' * copy}" for copy in range(3)} for i, j in ((7, 0), (8, 1))
    }


def test_without_copies_it_makes_no_difference(build):
    with build(copies=1) as index:
        found = diagnose(index, k=5, sample=20)
    assert found.top_k.redundant == 0
    assert (found.suggested, found.repeats) == (None, ())
    assert found.verdict() == (
        "It makes no difference here: top-5 hardly repeats itself (0.0% of its passages, in 0% of the queries)."
    )


def test_a_planted_off_topic_passage_is_counted_where_it_is_chosen(tmp_path):
    """The paper's objective prefers a passage with relevance 0.3 to a third one with 0.9 that resembles the others."""
    vectors = {f"near {i}": 0.9 * np.eye(9)[0] + 0.3 * np.eye(9)[1] + np.sqrt(0.1) * np.eye(9)[2 + i] for i in range(5)}
    vectors["stray"] = 0.3 * np.eye(9)[0] - 0.9 * np.eye(9)[1] + np.sqrt(0.1) * np.eye(9)[7]
    with make_index(tmp_path / "a.index", vectors | {"query": np.eye(9)[0]}, ["query"]) as index:
        found = diagnose(index, ["query"], k=3)
        chosen = {hit.id for hit in index.search("query", 3, 0.7, sharpness=1)}
    assert "stray" in chosen
    profiles = by_name(found)
    assert profiles["paper"].off_topic == pytest.approx(1 / 3)
    assert profiles["paper"].strayed == 1
    assert profiles["paper"].kept == pytest.approx((0.9 + 0.9 + 0.3) / 2.7, abs=1e-4)
    for name in ("top-k", "default", "filter 0.95"):
        assert (profiles[name].off_topic, profiles[name].strayed) == (0, 0)


def select_rows(rows, ids):
    """A selection of these rows for the first axis as the query."""
    return conclude(Problem(np.eye(rows.shape[1])[0], len(ids), 0.7), np.array(ids), rows[ids], "by hand")


def rows_with_relevance(*relevance):
    """Rows with these products with the first axis, and otherwise along axes of their own."""
    tail = np.diag(np.sqrt(1.0 - np.square(relevance)))
    return np.column_stack((relevance, tail))


def look_at(rows, ids, top, names="abcdefgh"):
    chosen = select_rows(rows, ids)
    texts = [[f"This is {names[row].upper()}1." for row in one.ids] for one in (chosen, top)]
    return examine(chosen, Passages(rows[chosen.ids], texts[0]), top, Passages(rows[top.ids], texts[1]))


def test_sets_are_examined_against_top_k():
    rows = rows_with_relevance(0.9, 0.8, 0.6, 0.31, 0.29)
    rows = np.vstack((rows, rows[1]))
    top = select_rows(rows, [0, 1, 2])

    def count(ids):
        found = look_at(rows, ids, top, names="abcdeb")
        return found.repeats, found.lost, found.off_topic, found.best_dropped

    assert count([0, 1, 2]) == (0, 0, 0, False)
    assert count([0, 3, 4]) == (0, 2, 1, False)  # half of 0.6 is 0.3
    assert count([1, 5, 4]) == (1, 2, 1, True)
    twin = np.vstack((rows, rows[0]))
    assert not look_at(twin, [6, 1], top).best_dropped  # an exact copy of the best hit is as good


def test_top_k_is_never_off_topic_even_with_negative_relevance():
    rows = rows_with_relevance(0.2, -0.1, -0.2)
    top = select_rows(rows, [0, 1, 2])
    assert look_at(rows, top.ids, top).off_topic == 0


def test_in_a_collection_with_little_but_copies_the_default_chooses_fewer(tmp_path):
    """Without the copies, only passages about something else are left. A filter takes them; the default does not."""
    vectors = {f"copy{'.' * i}": np.eye(12)[0] for i in range(10)}
    vectors |= {f"other {i}": np.array([0.1, *np.sqrt(0.99) * np.eye(11)[i]]) for i in range(10)}
    with make_index(tmp_path / "a.index", vectors) as index:
        found = diagnose(index, ["copy", "copy."], k=4)
    assert found.top_k.redundant == pytest.approx(3 / 4)
    assert by_name(found)["filter 0.95"].off_topic == pytest.approx(3 / 4)
    assert by_name(found)["default"].off_topic == by_name(found)["default"].redundant == 0
    assert found.suggested is not None
    assert found.suggested.name == "default"


def ask_for_answers(topics):
    return [Question.from_answers(f"topic {t}", [f"fact {t}a", ["unheard", f"FACT {t}b"]]) for t in topics]


def ask_for_aspects(topics):
    first = [[f"fact {t}a{'.' * copy}" for copy in range(3)] for t in topics]
    second = [[f"fact {t}b"] for t in topics]
    return [
        Question.from_aspects(f"topic {t}", {"one": a, "two": b}) for t, a, b in zip(topics, first, second, strict=True)
    ]


@pytest.mark.parametrize("ask", [ask_for_answers, ask_for_aspects])
def test_answers_that_copies_crowd_out(repetitive, ask):
    """Top-3 is three copies of one fact, so it finds one of two answers; without copies both are found."""
    with repetitive as index:
        found = diagnose(index, answers=ask(range(30)), k=3)
    assert (found.queries, found.judged, found.sampled) == (30, True, False)
    profiles = by_name(found)
    assert profiles["top-k"].judgement.recall.mean == pytest.approx(0.5)
    judgement = profiles["default"].judgement
    assert [judgement.recall.mean, judgement.recall.low, judgement.recall.high] == pytest.approx([1, 1, 1])
    assert [judgement.over_top_k.mean, judgement.over_top_k.low] == pytest.approx([0.5, 0.5])
    assert (judgement.behind_best.mean, judgement.behind_best.high) == (0, 0)
    assert profiles["top-k"].judgement.behind_best.mean == pytest.approx(-0.5)
    assert found.suggested is profiles["default"]
    assert (
        "The default has the largest recall on your 30 questions: 100.0%, top-k 50.0% (+50.0 points" in found.verdict()
    )
    assert "Not shown to be worse: filter 0.95" in found.verdict()


def test_answers_where_it_makes_no_difference(build):
    with build(copies=1) as index:
        relevant = [f"direction {i}" for i in range(40)]
        found = diagnose(index, answers=[Question.from_relevant(text, [text]) for text in relevant], k=5)
    assert all(profile.judgement.recall.mean == 1 for profile in found.profiles)
    assert found.suggested is None
    assert found.verdict().startswith(
        "It makes no difference here: on your 40 questions, the recall of every setting is within 2 points of top-k's "
        "100.0%."
    )


def test_relevant_ids_count_each_for_itself(repetitive):
    wanted = ["fact 4a", "fact 4a.", "fact 4b", "fact 4b"]
    with repetitive as index:
        found = diagnose(index, answers=[Question.from_relevant("topic 4", wanted)], k=3)
    assert found.top_k.judgement.recall.mean == pytest.approx(2 / 3)  # all versions of a, without b
    assert "too few to compare the settings by recall (1)" in found.verdict()


def profiles_of(recall, copies=0.0):
    """Profiles of top-k, the default and others with this recall (settings, questions) and share of copies."""
    names = {"top-k": {"method": "topk"}, "default": {}, "filter": {"distinct": 0.95}, "paper": {"sharpness": 1}}
    shares = [copies, 0.0, 0.0, copies]
    return [
        Profile(Trial(name, options), share, float(share > 0), 0.0, 0.0, 0.0, 0.0, 0.5, 0.9, 10.0, judgement)
        for (name, options), share, judgement in zip(names.items(), shares, judge(np.array(recall), 0), strict=True)
    ]


def noisy(rng, *means, questions=60, noise=0.05):
    base = rng.uniform(0.2, 0.6, questions)
    return [base + mean + noise * rng.standard_normal(questions) for mean in means]


@pytest.mark.parametrize(
    ("means", "noise", "copies", "suggested", "words"),
    [
        ((0, 0.2, 0.1, 0), 0.05, 0.0, "default", ["The default has the largest recall"]),
        ((0, 0.1, 0.2, -0.1), 0.05, 0.0, "filter", ["The setting filter (distinct=0.95) has the largest recall"]),
        ((0, 0.1, 0.2, -0.1), 0.05, 0.0, "filter", ["The default is behind it (-", "Below top-k: paper (-"]),
        ((0, 0.0, 0.0, 0.0), 0.001, 0.0, None, ["It makes no difference here", "hardly repeats itself"]),
        ((0, 0.0, 0.0, 0.0), 0.001, 0.3, "default", ["It makes no difference here", "The default leaves no rep"]),
        ((0, -0.3, -0.2, -0.2), 0.05, 0.3, None, ["No setting has a larger recall than top-k", "or lower recall"]),
        ((0, -0.3, 0.0, -0.2), 0.05, 0.3, "filter", ["Below top-k: default (-"]),
    ],
)
def test_verdicts(means, noise, copies, suggested, words):
    profiles = profiles_of(noisy(np.random.default_rng(0), *means, noise=noise), copies)
    chosen = suggest(profiles, 60)
    assert (chosen and chosen.name) == suggested
    verdict = word_verdict(profiles, 10, 60)
    for phrase in words:
        assert phrase in verdict


def test_what_is_not_certain_is_not_said():
    rng = np.random.default_rng(3)
    profiles = profiles_of(noisy(rng, 0, 0.02, 0, 0, questions=20, noise=0.2))
    verdict = word_verdict(profiles, 10, 20)
    assert "do not show that any setting is better than top-k" in verdict
    assert "It makes no difference" not in verdict  # the intervals are wide
    large = profiles_of([[0.0] * 3, [1.0] * 3, [0.0] * 3, [0.0] * 3])
    assert suggest(large, 3) is None
    assert "too few to compare" in word_verdict(large, 10, 3)


def test_intervals_hold_for_all_settings_together():
    """Of settings that differ by chance alone, hardly ever does any one seem better or worse than top-k."""
    rng = np.random.default_rng(0)
    alarms = 0
    for _ in range(200):
        found = judge(rng.normal(size=(6, 80)), 0)
        alarms += any(one.over_top_k.low > 0 or one.over_top_k.high < 0 for one in found[1:])
    assert alarms / 200 <= 0.10  # without the correction it is above 0.2


def test_the_sample_is_drawn_with_the_seed_and_progress_is_reported(build):
    seen = []
    with build(copies=2) as index:
        first = diagnose(index, k=4, sample=8, progress=lambda done, total: seen.append((done, total)))
        assert diagnose(index, k=4, sample=8) == first
        assert diagnose(index, k=4, sample=8, seed=1) != first
        own = diagnose(index, ["direction 7", " ", "unheard of"], k=4)
    settings = len(first.profiles)
    assert seen == [(8 * done, 8 * settings) for done in range(1, settings + 1)]
    assert (own.queries, own.skipped, own.sampled) == (1, 1, False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"queries": ["", " "]}, "queries holds no text"),
        ({"queries": "asthma"}, "queries must be a list of texts, got one text"),
        ({"queries": ["unheard of"]}, "the encoder knows no word"),
        ({"k": 1000}, "k must be at most"),
        ({"sample": 0}, "sample must be at least 1, got 0"),
        ({"answers": []}, "answers holds no question"),
        ({"answers": ["asthma"]}, "answers must hold `breadth.index.Question`s, got str"),
        ({"answers": [Question.from_relevant("x", ["y"])]}, "'x' names the document 'y', which the index does not"),
        ({"answers": [Question.from_answers("x", ["y"])], "queries": ["x"]}, "pass queries or answers, not both"),
    ],
)
def test_wrong_arguments(build, arguments, message):
    with build(copies=1) as index, pytest.raises(InputError, match=message):
        diagnose(index, **{"k": 5, **arguments})
