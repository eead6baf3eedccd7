"""A text holds an answer if a form of it occurs there: normalised, as whole words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth import InputError, metrics


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("The  Beach\tBum.", "beach bum"),
        ("Mai, the Psychic Girl", "mai psychic girl"),
        ("Julien Donkey-Boy", "julien donkey boy"),
        ("1969–70 Inter-Cities Fairs Cup", "1969 70 inter cities fairs cup"),
        ("European Cup Winners’ Cup", "european cup winners cup"),
        ("E.T.", "et"),
        ("11,437", "11437"),
        ("1,234,567", "1234567"),
        ("March 26,1982", "march 26 1982"),
        ("$4.525 billion", "4.525 billion"),
        ("69.5.", "69.5"),
        ("AC/DC", "ac dc"),
        ("Jōban Expressway", "jōban expressway"),
        ("Jo\u0304ban", "jōban"),  # a letter and its accent, written apart
        ("Ｗｉｄｅ", "wide"),
        ("STRASSE Straße", "strasse strasse"),
        ("東京", "東京"),
        ("Simon & Garfunkel", "simon garfunkel"),
        ("A", "a"),
        ("The The", "the the"),
        ("non\u00a0breaking\u200bspace", "non breaking space"),
        ("", ""),
        ("-- !", ""),
    ],
)
def test_normalisation(text, form):
    assert metrics.normalise(text) == form
    assert metrics.normalise(form) == form


@given(st.text("aTheé 1934.,'’s-–&/$Ａß東"))
def test_normalising_twice_changes_nothing(text):
    once = metrics.normalise(text)
    assert metrics.normalise(once) == once
    assert once == " ".join(once.split())


@pytest.mark.parametrize(
    ("text", "form", "held"),
    [
        ("They had a party.", "art", False),
        ("It was art, they say.", "ART", True),
        ("It opened on October 15, 1997.", "October 15, 1997", True),
        ("It cost $11,437.", "11437", True),
        ("It cost $11,437.", "11", False),
        ("The price was 69.5.", "69", False),
        ("Paul Simon's songs", "Paul Simon", True),
        ("Paul Simon’s songs", "Simon's", True),
        ("Paul Simon's", "s", False),
        ("Beatles, the Who", "The Who", True),
        ("Heat", "--", False),
        ("", "Heat", False),
        ("one two", "two one", False),  # the text with and without its genitives is not one text
    ],
)
def test_whole_words_are_found(text, form, held):
    (forms,) = metrics.answer_forms([[form]])
    assert metrics.SearchableText.of(text).holds(forms) == held
    assert metrics.answer_recall([text], [[form]]) == float(held)


def test_forms_are_normalised_once_and_empty_ones_are_dropped():
    assert metrics.answer_forms([["The Strain", "strain", "-"], ["!"]]) == [frozenset({"strain"}), frozenset()]


@pytest.mark.parametrize("answers", [[], "Heat", ["Heat"], [[]], [["Heat"], []], [[None]]])
def test_wrong_answers_are_named(answers):
    with pytest.raises(InputError, match=r"^these must be a non-empty list of lists of strings.* got "):
        metrics.answer_forms(answers, "these")
