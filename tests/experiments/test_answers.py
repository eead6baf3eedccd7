"""What a reader wrote, against answers counted by hand."""

from __future__ import annotations

import pytest

from breadth.errors import InputError
from breadth_experiments.answers import list_entries, list_scores, paragraph_scores
from breadth_experiments.prompts import messages
from breadth_experiments.run import Passage


@pytest.mark.parametrize(
    ("answer", "entries"),
    [
        ("Heat\nSanctuary\nStrain", ["Heat", "Sanctuary", "Strain"]),
        ("1. Heat\n2) Sanctuary\n(3) Strain", ["Heat", "Sanctuary", "Strain"]),
        ("- Heat\n* Sanctuary\n• Strain", ["Heat", "Sanctuary", "Strain"]),
        ("[1] Heat\n[2] Sanctuary", ["Heat", "Sanctuary"]),
        ("70 Volt Parade\n2002 FA Cup Final", ["70 Volt Parade", "2002 FA Cup Final"]),
        ("(500) Days of Summer\n300: Rise of an Empire", ["(500) Days of Summer", "300: Rise of an Empire"]),
        ("Heat [1]\nSanctuary [2][3].\nStrain (Passage 4)", ["Heat", "Sanctuary", "Strain"]),
        ("Kaliakriya (ship, 1916)", ["Kaliakriya (ship, 1916)"]),
        ("Heat, Sanctuary, and Strain.", ["Heat", "Sanctuary", "Strain"]),
        ("Heat; Mai, the Psychic Girl; Strain", ["Heat", "Mai, the Psychic Girl", "Strain"]),
        ("Mai, the Psychic Girl\nHeat", ["Mai, the Psychic Girl", "Heat"]),
        ("1. Mai, the Psychic Girl", ["Mai, the Psychic Girl"]),
        ('"Mai, the Psychic Girl", "Heat"', ["Mai, the Psychic Girl", "Heat"]),
        ("July 8, 1997, and Nov. 13,1997", ["July 8, 1997", "Nov. 13,1997"]),
        ("1958, 1957", ["1958", "1957"]),
        ("1. Heat 2. Sanctuary 3. Strain", ["Heat", "Sanctuary", "Strain"]),
        ("Answer: Heat, Strain", ["Heat", "Strain"]),
        ("**Answers:**\n- **Heat**\n- **Strain**", ["Heat", "Strain"]),
        ("The answers are:\nHeat\nStrain", ["Heat", "Strain"]),
        ("The answer to the question is: Heat", ["Heat"]),
        ("Here are the manga by him:\n\nHeat\n\nStrain", ["Heat", "Strain"]),
        ("Heat\nheat.\nThe Heat\nStrain", ["Heat", "Strain"]),
        ("<think>Heat? No,\nStrain.</think>\nSanctuary", ["Sanctuary"]),
        ("<think>Heat? Strain? Let me", []),
        ("```\nHeat\nStrain\n```", ["Heat", "Strain"]),
        ("Tom and Jerry", ["Tom and Jerry"]),
        ("東京\n大阪", ["東京", "大阪"]),
        ("O Brother, Where Art Thou?\nHail, Caesar!", ["O Brother, Where Art Thou?", "Hail, Caesar!"]),
        ("", []),
        (" \n\n", []),
        ("- \n- ", []),
        ("1. Heat\n2.\n3. Strain", ["Heat", "Strain"]),
        ("I don't know.", []),
        ("None", []),
        ("N/A", []),
        ("The passages do not mention any manga.", []),
        ("I cannot answer this, there is no information in the passages.", []),
        ("Heat\nNone", ["Heat"]),
        (
            "I Don't Know How to Love Him\nNothing Compares 2 U",
            ["I Don't Know How to Love Him", "Nothing Compares 2 U"],
        ),
    ],
)
def test_the_entries_of_a_list_answer(answer, entries):
    assert list_entries(answer) == entries


WANTED = [
    ["Heat"],
    ["The Beach Bum", "Beach Bum, The"],
    ["Jōban Expressway", "Joban Expressway"],
    ["Mai, the Psychic Girl"],
]


@pytest.mark.parametrize(
    ("answer", "precision", "recall", "f1"),
    [
        ("Heat\nbeach bum\nJOBAN EXPRESSWAY\nMai the psychic girl", 1.0, 1.0, 1.0),
        ("Heat\nGummo", 1 / 2, 1 / 4, 1 / 3),
        ("Heat\nHeat.\nheat", 1.0, 1 / 4, 2 / 5),
        ("Jōban Expressway\nJoban Expressway", 1.0, 1 / 4, 2 / 5),  # two aliases: both right, one answer
        ("Heat wave", 0.0, 0.0, 0.0),
        ("I don't know", 0.0, 0.0, 0.0),
        ("", 0.0, 0.0, 0.0),
    ],
)
def test_scores_of_lists(answer, precision, recall, f1):
    assert list_scores(answer, WANTED) == pytest.approx({"precision": precision, "recall": recall, "f1": f1})


@pytest.mark.parametrize(
    ("answer", "wanted", "recall"),
    [
        ("It opened on October 15, 1997, and again on November 13, 1997.", [["October 15, 1997"], ["1998"]], 1 / 2),
        ("They had a party.", [["art"]], 0.0),
        ("It was art, they say.", [["art"]], 1.0),
        ("It cost $11,437 in 1969–70.", [["11437"], ["1969-70"], ["11"]], 2 / 3),
        ("The price was 69.5.", [["69"], ["69.5"]], 1 / 2),
        ("Sung by Zoë and César Chávez’s band.", [["Cesar Chavez", "César Chávez"], ["ZOË"], ["Zoe"]], 2 / 3),
        ("Seen in McDonald's.", [["McDonald’s", "McDonald's"], ["s"]], 1 / 2),
        ("The Beatles and the Who", [["Beatles"], ["Who", "The Who"]], 1.0),
        ("", [["Heat"]], 0.0),
        ("Heat", [["Heat"], ["", "-"]], 1 / 2),
        ("<think>Heat</think> Gummo", [["Heat"], ["Gummo"]], 1 / 2),
    ],
)
def test_scores_of_paragraphs(answer, wanted, recall):
    assert paragraph_scores(answer, wanted) == pytest.approx({"recall": recall})


@pytest.mark.parametrize("wanted", [[], "Heat", ["Heat"], [["Heat"], []], [[3]]])
@pytest.mark.parametrize("scores", [list_scores, paragraph_scores])
def test_wanted_answers_must_be_lists_of_forms(scores, wanted):
    with pytest.raises(InputError, match="wanted must be a non-empty list of lists"):
        scores("Heat", wanted)


def test_prompts_number_the_passages_in_their_order():
    passages = [Passage("b", "Second", "text of b"), Passage("a", "First", "text of a")]
    asked = messages("list", "Which?", passages)
    assert [one["role"] for one in asked] == ["system", "user"]
    shown = asked[1]["content"]
    assert "[1] Second\ntext of b\n\n[2] First\ntext of a\n\nQuestion: Which?\n" in shown
    assert "one answer per line" in shown
    assert "paragraph" in messages("paragraph", "Which?", passages)[1]["content"]
    with pytest.raises(InputError, match="kind must be one of list, paragraph, got 'poem'"):
        messages("poem", "Which?", passages)
    with pytest.raises(InputError, match="at least one passage"):
        messages("list", "Which?", [])
