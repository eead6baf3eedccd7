"""What the user of an adapter can ask for, in every framework: the arguments of `breadth.select`, on documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from breadth.checks import check_choice, check_count, check_number
from breadth.errors import InputError
from breadth.filters.meaning import make_reader
from breadth.methods.registry import METHODS
from breadth.settings import compares_texts


class BreadthWarning(UserWarning):
    """A set was chosen, but not quite from what, or not quite by what, the caller may believe."""


class PoolWarning(BreadthWarning):
    """The candidates are too few: a set from more of them could be another one."""


class ScoreWarning(BreadthWarning):
    """The scores of the candidates are not on the scale of cosines, or look like distances."""


class GroupWarning(BreadthWarning):
    """No chosen document has the field of metadata that groups go by."""


@dataclass(frozen=True)
class Options:
    """How a set is chosen.

    theta        the weight of relevance in [0, 1]: 1, the default, is top-k without repeats. `lambda_mult` of LangChain
                 is the same weight.
    sharpness    the power of the cosine that counts as redundancy
    distinct     the cosine above which texts in other words can say the same
    floor        the least relevance of a chosen document. If no document has it, none is chosen
    on_topic     the same as a share of the relevance of the last document of top-k; 0 allows all
    keep_best    whether the most relevant document is always chosen
    group_by     a field of metadata: at most `per_group` documents (1 unless given) with the same value are chosen.
                 A document without the field is in no group
    per_group    see group_by
    prefer       of documents with the same words, the one with the largest value of this field is chosen: the
                 newest, say. Or a function of the metadata
    budget       what the chosen documents may cost together, in words
    count        a function of a text that counts something else, for example tokens
    method       one of `breadth.methods()`
    time_limit   seconds after which the best set so far is taken

    What is not given has the default of `breadth.select`.
    """

    theta: float | str | None = None
    sharpness: int | None = None
    distinct: float | None = None
    floor: float | None = None
    on_topic: float | None = None
    keep_best: bool | None = None
    group_by: str | None = None
    per_group: int | None = None
    prefer: str | Callable[[Mapping[str, Any]], Any] | None = None
    budget: float | None = None
    count: Callable[[str], float] | None = None
    method: str = "certified"
    time_limit: float | None = None

    def __post_init__(self) -> None:
        check_choice(self.method, "method", METHODS)
        if self.floor is not None:
            check_number(self.floor, "floor")
        if self.per_group is not None and self.group_by is None:
            raise InputError("per_group needs group_by: the field of metadata whose values are the groups")
        if self.per_group is not None:
            check_count(self.per_group, "per_group")
        if self.count is not None and self.budget is None:
            raise InputError("count needs budget: it says how a text is counted against the budget")

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all options."""
        return _NAMES

    @classmethod
    def read(cls, given: dict[str, Any]) -> Options:
        """Check the options that were given as keywords. `lambda_mult` is another name of `theta`."""
        named = dict(given)
        weight = named.pop("lambda_mult", None)
        unknown = [name for name in named if name not in _NAMES]
        if unknown:
            raise InputError(f"there is no option {unknown[0]!r}; there are {', '.join(_NAMES)}, lambda_mult")
        if weight is not None:
            if named.get("theta") is not None:
                raise InputError("pass theta or lambda_mult, not both: each is the weight of relevance")
            named["theta"] = check_number(weight, "lambda_mult", 0.0, 1.0)
        return cls(**named)

    def arguments(self, labels: Any, costs: Any, texts: Any, values: Any) -> dict[str, Any]:
        """The arguments of `breadth.select`: what belongs to rows is used if it is asked for."""
        told = {name: getattr(self, name) for name in _PASSED_ON}
        if compares_texts(told):
            told["texts"] = texts
        if self.prefer is not None:
            told["prefer"] = values
        if self.group_by is not None:
            told["groups"], told["per_group"] = labels, 1 if self.per_group is None else self.per_group
        if self.budget is not None:
            told["costs"], told["budget"] = costs, self.budget
        return told

    def value(self, metadata: Mapping[str, Any]) -> Any:
        """How much a document is preferred to others with the same words."""
        return None if self.prefer is None else make_reader(self.prefer)(metadata)

    def cost(self, text: str) -> float:
        """What a text costs."""
        return float(len(text.split()) if self.count is None else self.count(text))


_NAMES = tuple(field.name for field in fields(Options))
_PASSED_ON = ("theta", "sharpness", "distinct", "floor", "on_topic", "keep_best", "method", "time_limit")
