"""Conditions on metadata as data: what `where=` takes, what it means, and the form that people type in a shell.

A filter is a dict, in the dialect of Chroma and LangChain:

    {"source": "nih"}                                    the field source is 'nih'
    {"year": {"$gte": 2020, "$lt": 2024}}                a range; all operators of a field must hold
    {"tags": {"$contains": "asthma"}, "draft": {"$exists": False}}    all fields must hold
    {"$or": [{"lang": "en"}, {"$not": {"lang": {"$in": ["de", "fr"]}}}]}

`read_filter` turns it into a `Condition`, `matches` says what a condition means, and `parse_filter` reads the text form
`lang = 'en' or not lang in ('de', 'fr')`. An engine translates the condition into its own language, in its own file;
`matches` is what its translation must agree with.
"""

from breadth.filters.conditions import And, Compare, Condition, Contains, Exists, In, Not, Or
from breadth.filters.meaning import look_up, matches
from breadth.filters.reading import OPERATORS, read_filter
from breadth.filters.text import parse_filter
from breadth.filters.values import Scalar, plain_metadata, plain_scalar

__all__ = [
    "OPERATORS",
    "And",
    "Compare",
    "Condition",
    "Contains",
    "Exists",
    "In",
    "Not",
    "Or",
    "Scalar",
    "look_up",
    "matches",
    "parse_filter",
    "plain_metadata",
    "plain_scalar",
    "read_filter",
]
