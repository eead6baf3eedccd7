"""Which wanted answers a set of passages holds."""

from __future__ import annotations

from collections.abc import Sequence

from breadth.errors import InputError
from breadth.metrics import SearchableText, answer_forms
from breadth_experiments.run import Passage, Question


class Evidence:
    """Recall of sets of passages: the share of a question's wanted answers that at least one passage of the set holds.

    A passage holds an answer if the question lists it as relevant for that answer. For a question without such lists, a
    passage holds an answer if one of the answer's forms occurs in its title or text, as in
    `breadth.metrics.answer_recall`. A passage is searched once, when a set first has it, so a pool of millions costs
    nothing.
    """

    def __init__(self, questions: Sequence[Question], passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._texts: dict[int, SearchableText] = {}
        self._wanted = {q.id: answer_forms(q.answers, f"answers of question {q.id!r}") for q in questions if q.answers}
        row_of = {passage.id: row for row, passage in enumerate(passages)} if any(q.relevant for q in questions) else {}
        self._relevant: dict[str, list[set[int]]] = {}
        for question in questions:
            if not question.answers and not question.relevant:
                raise InputError(f"question {question.id!r} wants no answer, so its recall is not defined")
            if question.relevant:
                groups = [{row_of[i] for i in group if i in row_of} for group in question.relevant]
                self._relevant[question.id] = groups
        self._held: dict[tuple[str, int], frozenset[int]] = {}

    def recall(self, question: str, rows: Sequence[int]) -> float:
        """The share of the wanted answers that these rows hold together."""
        if question in self._relevant:
            groups = self._relevant[question]
            return sum(not group.isdisjoint(rows) for group in groups) / len(groups)
        held: set[int] = set()
        for row in rows:
            held |= self.answers_held(question, row)
        return len(held) / len(self._wanted[question])

    def answers_held(self, question: str, row: int) -> frozenset[int]:
        """The wanted answers (by number) that one passage holds."""
        if question in self._relevant:
            return frozenset(n for n, group in enumerate(self._relevant[question]) if row in group)
        key = (question, row)
        if key not in self._held:
            text = self._searchable(row)
            self._held[key] = frozenset(n for n, forms in enumerate(self._wanted[question]) if text.holds(forms))
        return self._held[key]

    def _searchable(self, row: int) -> SearchableText:
        if row not in self._texts:
            passage = self._passages[row]
            self._texts[row] = SearchableText.of(f"{passage.title}\n{passage.text}")
        return self._texts[row]
