"""How many of the wanted answers a set of passages holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from breadth.errors import InputError


def answer_recall(texts: Iterable[str], answers: Sequence[Sequence[str]]) -> float:
    """The share of `answers` of which at least one form occurs in the texts of the set.

    `answers` has one entry for each answer, itself the list of its forms: the `short_answers` of a question's
    `qa_pairs` (ASQA), or an answer with its aliases (QAMPARI). Texts are joined and lower-cased, forms lower-cased,
    and a form counts wherever it occurs as a substring.
    """
    joined = _checked_text(texts)
    if isinstance(answers, str) or not answers:
        raise InputError(f"answers must be a non-empty list of lists of strings, got {answers!r}")
    return sum(_occurs(forms, joined) for forms in answers) / len(answers)


def asqa_recall(texts: Iterable[str], qa_pairs: Sequence[dict[str, Any]]) -> float:
    """`answer_recall` from the `qa_pairs` of an ASQA question: one answer for each pair."""
    if not qa_pairs:
        raise InputError("qa_pairs must hold at least one pair")
    return answer_recall(texts, [_field(pair, "short_answers") for pair in qa_pairs])


def qampari_recall(texts: Iterable[str], answer_list: Sequence[dict[str, Any]]) -> float:
    """`answer_recall` from the `answer_list` of a QAMPARI question: the answer's text and its aliases."""
    if not answer_list:
        raise InputError("answer_list must hold at least one answer")
    forms = [[_field(answer, "answer_text"), *_field(answer, "aliases")] for answer in answer_list]
    return answer_recall(texts, forms)


def _field(record: dict[str, Any], name: str) -> Any:
    try:
        return record[name]
    except KeyError:
        raise InputError(f"a record has no field {name!r}; it has {sorted(record)}") from None


def _checked_text(texts: Iterable[str]) -> str:
    if isinstance(texts, str):
        raise InputError("texts must be a list of strings, got one string; pass [text]")
    try:
        return " ".join(texts).lower()
    except TypeError as error:
        raise InputError(f"texts must be strings: {error}") from None


def _occurs(forms: Sequence[str], text: str) -> bool:
    if isinstance(forms, str) or not forms:
        raise InputError(f"every answer must be a non-empty list of its forms, got {forms!r}")
    return any(form.lower() in text for form in forms if form)
