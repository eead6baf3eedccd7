"""What holds for every pair of texts."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth import InputError, metrics
from breadth.text import CONTAINED, DIFFERS, SAME, compare
from breadth.text.align import align, list_changes
from breadth.text.compare import list_missing
from breadth.text.tokens import read_tokens

WORDS = (
    "the",
    "a",
    "Berlin",
    "Munich",
    "18.0",
    "20.0",
    "not",
    "never",
    "runs",
    "fast",
    "--force",
    "foo_bar",
    "3",
    "km",
)
SENTENCES = st.lists(st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join), min_size=1, max_size=5)
TEXTS = SENTENCES.map(lambda some: ". ".join(some) + ".")


@given(TEXTS, TEXTS, st.sampled_from([None, 0.5, 0.99]))
def test_a_comparison_is_the_same_in_both_orders(left, right, cosine):
    one, other = compare(left, right, cosine), compare(right, left, cosine)
    assert one.relation == other.relation
    assert (one.left_says_all, one.right_says_all) == (other.right_says_all, other.left_says_all)
    assert (one.relation == DIFFERS) == (not one.left_says_all and not one.right_says_all)


@given(TEXTS, TEXTS, st.sampled_from([None, 0.99]))
def test_who_says_all_has_every_fact(left, right, cosine):
    if compare(left, right, cosine).left_says_all:
        assert list_missing(read_tokens(right), read_tokens(left)) == []
        assert metrics.lost([right], [left]) == []


@given(st.text(max_size=200))
def test_any_text_can_be_compared_with_itself(text):
    found = compare(text, text)
    assert found.relation == (SAME if read_tokens(text).keys else DIFFERS)
    assert found.changes == found.differences == ()


@given(st.text(max_size=120), st.text(max_size=120))
def test_spans_are_those_of_the_texts(left, right):
    found = compare(left, right)
    for one in (*found.changes, *found.differences):
        assert left[slice(*one.left_span)] == one.left
        assert right[slice(*one.right_span)] == one.right
        assert one.left or one.right


@given(TEXTS, SENTENCES, SENTENCES)
def test_a_text_is_contained_in_itself_with_sentences_around_it(text, before, after):
    whole = ". ".join(before) + ". " + text + " " + ". ".join(after) + "."
    found = compare(whole, text)
    assert found.relation in (CONTAINED, SAME)
    assert found.left_says_all


@given(TEXTS, st.integers(0, 200), st.sampled_from(["1999", "Oslo", "without", "--dry-run", "x_y"]))
def test_a_new_fact_is_never_said_by_the_old_text(text, place, fact):
    words = text.split()
    longer = " ".join([*words[: place % (len(words) + 1)], fact, *words[place % (len(words) + 1) :]])
    found = compare(text, longer, 0.99)
    assert not found.left_says_all
    assert any(fact in one.right for one in found.differences)


@given(st.lists(st.sampled_from("abcd"), max_size=14), st.lists(st.sampled_from("abcd"), max_size=14))
def test_alignment_is_a_longest_common_subsequence(left, right):
    pairs = align(left, right)
    assert all(left[one] == right[other] for one, other in pairs)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(pairs))
    table = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for i, one in enumerate(left):
        for j, other in enumerate(right):
            table[i + 1][j + 1] = table[i][j] + 1 if one == other else max(table[i][j + 1], table[i + 1][j])
    assert len(pairs) == table[-1][-1]
    rebuilt = [token for change in list_changes(pairs, len(left), len(right)) for token in left[slice(*change.left)]]
    assert len(rebuilt) == len(left) - len(pairs)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("a " * 50_000, "a " * 49_999 + "b"),
        ("ab " * 4_000, "ba " * 4_000),
        ("<" * 100_000, "[" * 100_000),
        ("1," * 60_000, "1." * 60_000),
        ("-" * 100_000 + "x", "a.b" * 40_000),
        ("x y z " * 20_000, "z y x " * 20_000),
        ("word " * 4_000, "word " * 3_999),
        ("_." * 60_000, "a@" * 60_000),
        ("a" * 200_000 + "@", "a-" * 60_000),
        ("1 000 " * 20_000, "Mar 3 " * 20_000),
    ],
    ids=lambda text: text[:6],
)
def test_time_is_bounded(left, right):
    """Not a timed test: without a bound, these take minutes."""
    started = time.perf_counter()
    found = compare(left, right, 0.99)
    assert isinstance(found.differences, tuple)
    assert time.perf_counter() - started < 5


def test_differences_say_what_changed():
    found = compare("You need Node.js 18.0 or above.", "You need Node.js 20.0 or above.", 0.999)
    assert [str(one) for one in found.differences] == ["18.0 → 20.0"]
    assert repr(found) == "Comparison('differs', differences=[18.0 → 20.0])"
    assert found.differences[0].left_span == (17, 21)
    added = compare("The drug is safe.", "The drug is not safe.", 0.99)
    assert [one.to_dict() for one in added.differences] == [{"here": "", "there": "not"}]


def test_without_a_cosine_other_words_are_a_difference():
    one = "On Monday the company said that its factory in Ohio would be closed."
    other = "The company announced on Monday that it would close its factory in Ohio."
    assert compare(one, other).relation == compare(one, other, 0.5).relation == DIFFERS
    assert compare(one, other, 0.9).relation == "says the same"
    assert compare(one, other, 0.9, paraphrase=0.95).relation == DIFFERS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"cosine": 3}, r"cosine must be in \[-1.001, 1.001\], got 3"),
        ({"cosine": "x"}, "cosine must be a number in"),
        ({"paraphrase": 7}, r"paraphrase must be in \[-1, 1\], got 7"),
        ({"paraphrase": "x"}, "paraphrase must be a number"),
    ],
)
def test_cosines_are_checked(arguments, message):
    with pytest.raises(InputError, match=message):
        compare("a", "b", **arguments)


@pytest.mark.parametrize(("left", "right", "name"), [(1, "a", "left"), ("a", None, "right")])
def test_only_texts_can_be_compared(left, right, name):
    with pytest.raises(InputError, match=f"{name} must be a text"):
        compare(left, right)


def test_lost_facts_are_those_that_no_single_passage_has():
    top = ["Node 18.0 is needed.", "Node 20.0 is needed."]
    assert metrics.lost(top, top) == []
    assert metrics.lost(top, top[:1]) == [metrics.Lost(1, ("20.0",))]
    assert metrics.lost(["Take 5 mg on Monday."], ["Take 5 mg.", "Come on Monday."]) == [metrics.Lost(0, ("Monday",))]
    assert metrics.lost(["A 1"], []) == [metrics.Lost(0, ("1",))]
    for wrong in ("a text", [1]):
        with pytest.raises(InputError, match="top must be a list of texts"):
            metrics.lost(wrong, [])
