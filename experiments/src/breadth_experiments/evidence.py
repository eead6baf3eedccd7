"""Which wanted answers a set of passages holds."""

from __future__ import annotations

from collections.abc import Sequence

from breadth.errors import InputError
from breadth_experiments.answers import holds, normalised, searchable
from breadth_experiments.run import Passage, Question


class Evidence:
    """Recall of sets of passages: the share of a question's wanted answers that at least one passage of the set holds.

    A passage holds an answer if it is listed as relevant for it or, where no such list exists, if one of the answer's
    forms stands in its title or text (as `answers.holds` looks for it: normalised, whole words). Passages are looked at
    when a set first has them, so that a pool of millions costs nothing.
    """

    def __init__(self, questions: Sequence[Question], passages: Sequence[Passage]) -> None:
        self._passages = passages
        self._texts: dict[int, str] = {}
        self._wanted = {q.id: [[normalised(form) for form in forms] for forms in q.answers] for q in questions}
        place = {passage.id: row for row, passage in enumerate(passages)} if any(q.relevant for q in questions) else {}
        self._relevant: dict[str, list[set[int]]] = {}
        for question in questions:
            if not question.answers and not question.relevant:
                raise InputError(f"question {question.id!r} wants no answer, so its recall is not defined")
            if question.relevant:
                groups = [{place[i] for i in group if i in place} for group in question.relevant]
                self._relevant[question.id] = groups
        self._held: dict[tuple[str, int], frozenset[int]] = {}

    def recall(self, question: str, rows: Sequence[int]) -> float:
        """The share of the wanted answers that these rows hold together."""
        if question in self._relevant:
            groups = self._relevant[question]
            return sum(not group.isdisjoint(rows) for group in groups) / len(groups)
        found: set[int] = set()
        for row in rows:
            found |= self.held(question, row)
        return len(found) / len(self._wanted[question])

    def held(self, question: str, row: int) -> frozenset[int]:
        """The wanted answers (by number) that one passage holds."""
        if question in self._relevant:
            return frozenset(n for n, group in enumerate(self._relevant[question]) if row in group)
        key = (question, row)
        if key not in self._held:
            if row not in self._texts:
                passage = self._passages[row]
                self._texts[row] = searchable(f"{passage.title}\n{passage.text}")
            text = self._texts[row]
            wanted = self._wanted[question]
            self._held[key] = frozenset(n for n, forms in enumerate(wanted) if any(holds(text, f) for f in forms))
        return self._held[key]
