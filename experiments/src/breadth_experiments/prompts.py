"""The prompt for a reader: the passages in the order they were retrieved, the question, and how to answer.

The wording is short and plain, so that small models follow it. It is the same for every method.
"""

from __future__ import annotations

from collections.abc import Sequence

from breadth.errors import InputError
from breadth_experiments.run import LIST, PARAGRAPH, Passage

Messages = list[dict[str, str]]
"""A chat in OpenAI's protocol: {"role", "content"} for each message."""

_SYSTEM = "You answer questions from the passages you are given and from nothing else."

_TASKS = {
    LIST: (
        "The question has several answers. Find all of them in the passages. "
        "Write one answer per line: only the name, no numbers, no explanations."
    ),
    PARAGRAPH: (
        "The question can be understood in more than one way. Write one short paragraph that gives the answer to "
        "every reading of it, with the names, dates and numbers that the passages state."
    ),
}


def messages(kind: str, question: str, passages: Sequence[Passage]) -> Messages:
    """The chat that asks a question: `kind` is "list" (one answer per line) or "paragraph" (all readings covered).

    Passages are numbered from 1 in the given order, each with its title and text.
    """
    if kind not in _TASKS:
        raise InputError(f"kind must be one of {', '.join(_TASKS)}, got {kind!r}")
    if not passages:
        raise InputError("passages must hold at least one passage, got none")
    shown = "\n\n".join(f"[{number}] {one.title}\n{one.text}" for number, one in enumerate(passages, start=1))
    # The question comes last: small models forget what stood before a few thousand words of passages.
    content = f"Passages:\n\n{shown}\n\nQuestion: {question}\n{_TASKS[kind]}"
    return [{"role": "system", "content": _SYSTEM}, {"role": "user", "content": content}]
