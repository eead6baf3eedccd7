"""The text form becomes the same data, and nothing that is not a filter gets through."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth.errors import InputError
from breadth.filters import matches, parse_filter, read_filter
from tests.filters.strategies import filters, metadata

READ = {
    "source = 'nih'": {"source": "nih"},
    'source == "nih"': {"source": "nih"},
    "year>=2020": {"year": {"$gte": 2020}},
    "year = -1.5e3": {"year": -1500.0},
    "x != 'it''s'": {"x": {"$ne": "it's"}},
    "x <> 1": {"x": {"$ne": 1}},
    "a < 1 and b <= 2 and c > 3": {"$and": [{"a": {"$lt": 1}}, {"b": {"$lte": 2}}, {"c": {"$gt": 3}}]},
    "a = 1 or b = 2 and c = 3": {"$or": [{"a": 1}, {"$and": [{"b": 2}, {"c": 3}]}]},
    "(a = 1 or b = 2) and c = 3": {"$and": [{"$or": [{"a": 1}, {"b": 2}]}, {"c": 3}]},
    "not a = 1 and b = 2": {"$and": [{"$not": {"a": 1}}, {"b": 2}]},
    "not (a = 1 and b = 2)": {"$not": {"$and": [{"a": 1}, {"b": 2}]}},
    "a in (1, 'x', null)": {"a": {"$in": [1, "x", None]}},
    "a not in (1)": {"a": {"$nin": [1]}},
    "tags contains 'asthma'": {"tags": {"$contains": "asthma"}},
    "tags not contains 'asthma'": {"$not": {"tags": {"$contains": "asthma"}}},
    "exists draft": {"draft": {"$exists": True}},
    "NOT EXISTS draft": {"$not": {"draft": {"$exists": True}}},
    "done = TRUE and open = false and x = Null": {"$and": [{"done": True}, {"open": False}, {"x": None}]},
    '"my field" = 1 and `odd "one"` = 2': {"$and": [{"my field": 1}, {'odd "one"': 2}]},
    "author.name = 'Ada'": {"author.name": "Ada"},
    "dc:title = 'x' and a-b = 1 and naïve = 2": {"$and": [{"dc:title": "x"}, {"a-b": 1}, {"naïve": 2}]},
    "  ( ( a=1 ) )  ": {"a": 1},
    "source = 'nih' and (year >= 2020 or tags contains 'asthma') and not exists draft": {
        "$and": [
            {"source": "nih"},
            {"$or": [{"year": {"$gte": 2020}}, {"tags": {"$contains": "asthma"}}]},
            {"$not": {"draft": {"$exists": True}}},
        ]
    },
}


@pytest.mark.parametrize("text", READ)
def test_texts_become_data(text):
    assert parse_filter(text) == READ[text]
    read_filter(parse_filter(text))


WRONG = {
    "": "at its end: expected the name of a field",
    "source": "at its end: expected one of = == != ",
    "source = nih": r"expected a value; a text stands in quotes: 'nih'",
    "source = 'nih": "an opening quote has no end",
    "source = 'nih' year = 1": "expected and, or, or the end",
    "'source' = 1": "expected the name of a field, in double quotes",
    "and = 1": "expected the name of a field",
    "(a = 1": r"at its end: expected \)",
    "a = 1)": "expected and, or, or the end",
    "a in ()": "expected a value",
    "a in 1": r"expected \(",
    "a like 'x%'": "expected one of",
    "a = 1 or 1 = 1": "expected the name of a field",
    "a = 1; drop table documents": "this is not read",
    "a = 1 -- comment": "this is not read",
    "a = (select 1)": "expected a value",
    "a = 1 union select 2": "expected and, or, or the end",
    "length(a) = 1": "expected one of",
    "a = randomblob(9)": "expected a value",
    "a between 1 and 2": "expected one of",
    "a = 1.2.3": "this is not read",
    '"$and" = 1': "cannot begin with",
    "(" * 40 + "a = 1" + ")" * 40: "nested more than 16 deep",
    "not " * 5000 + "a = 1": "nested more than 16 deep",
    "a = " + "9" * 5000: "number of 5000 digits",
    "a" * 200_000: "a filter may have 100,000 characters, got 200,000",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:40])
def test_what_is_wrong_is_said(text):
    with pytest.raises(InputError, match=WRONG[text]):
        parse_filter(text)


@given(st.text(alphabet="ab'\"`()=<>!,.$ \n019andornotiexsc-+e\x00;", max_size=60) | st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    with suppress(InputError):
        assert matches(read_filter(parse_filter(text)), {"a": 1}) in (True, False)


def _write_value(value):
    if value is None or isinstance(value, bool):
        return str(value).lower().replace("none", "null")
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else repr(value)


def _write(data):
    """A filter as text, written by the rules of the reference."""
    parts = []
    for key, value in data.items():
        if key in ("$and", "$or"):
            parts.append("(" + f" {key[1:]} ".join(f"({_write(part)})" for part in value) + ")")
        elif key == "$not":
            parts.append(f"not ({_write(value)})")
        else:
            parts += [
                _write_one(key, op, one) for op, one in (value if isinstance(value, dict) else {"$eq": value}).items()
            ]
    return " and ".join(parts)


def _write_one(key, operator, value):
    field = '"' + key.replace('"', '""') + '"'
    if operator == "$exists":
        return f"exists {field}" if value else f"not exists {field}"
    if operator in ("$in", "$nin"):
        listed = ", ".join(map(_write_value, value)) or "'no such value'"
        return f"{field} {'not ' if operator == '$nin' else ''}in ({listed})"
    sign = {"$eq": "=", "$ne": "!=", "$gt": ">", "$gte": ">=", "$lt": "<", "$lte": "<=", "$contains": "contains"}
    return f"{field} {sign[operator]} {_write_value(value)}"


@given(filters(), metadata())
def test_written_filters_mean_the_same(data, record):
    parsed = parse_filter(_write(data))
    assert matches(read_filter(parsed), record) == matches(read_filter(data), record)
