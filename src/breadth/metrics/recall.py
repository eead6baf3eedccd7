"""How many of the wanted answers a set of passages holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from breadth.errors import InputError
from breadth.metrics.matching import Answers, SearchableText, answer_forms


def answer_recall(texts: Iterable[str], answers: Answers) -> float:
    """The share of `answers` that at least one text of the set holds.

        recall = #{answers with a form that occurs in a text} / #{answers}

    `answers` has one entry for each answer, itself the list of its forms: the `short_answers` of a question's
    `qa_pairs` (ASQA), or an answer with its aliases (QAMPARI). A text holds an answer if one of the forms occurs in it
    as whole words after both are normalised (`normalise`). Each text is searched on its own. If passages have titles
    that may hold an answer, pass f"{title}\\n{text}", as the experiments do.
    """
    wanted = answer_forms(answers)
    searchable = [SearchableText.of(text) for text in _check_texts(texts)]
    return sum(any(text.holds(forms) for text in searchable) for forms in wanted) / len(wanted)


def asqa_recall(texts: Iterable[str], qa_pairs: Sequence[Mapping[str, Any]]) -> float:
    """`answer_recall` from the `qa_pairs` of an ASQA question: one answer for each pair."""
    if not qa_pairs:
        raise InputError("qa_pairs must hold at least one pair")
    return answer_recall(texts, [_field(pair, "short_answers") for pair in qa_pairs])


def qampari_recall(texts: Iterable[str], answer_list: Sequence[Mapping[str, Any]]) -> float:
    """`answer_recall` from the `answer_list` of a QAMPARI question: each answer's text and its aliases."""
    if not answer_list:
        raise InputError("answer_list must hold at least one answer")
    forms = [[_field(answer, "answer_text"), *_field(answer, "aliases")] for answer in answer_list]
    return answer_recall(texts, forms)


def _field(record: Mapping[str, Any], name: str) -> Any:
    try:
        return record[name]
    except KeyError:
        raise InputError(f"a record has no field {name!r}; it has {sorted(record)}") from None


def _check_texts(texts: Iterable[str]) -> list[str]:
    if isinstance(texts, str):
        raise InputError("texts must be a list of strings, got one string; pass [text]")
    checked = list(texts)
    for place, text in enumerate(checked):
        if not isinstance(text, str):
            raise InputError(f"texts must be strings, got {type(text).__name__} at place {place}")
    return checked
