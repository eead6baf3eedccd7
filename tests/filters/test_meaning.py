"""What a filter means: its reading, its algebra, and what is refused."""

from __future__ import annotations

import datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from breadth.errors import InputError
from breadth.filters import And, Compare, Condition, In, Not, Or, matches, plain_metadata, read_filter
from tests.filters.strategies import filters, metadata, scalars

NIH = {
    "source": "nih",
    "year": 2021,
    "score": 0.5,
    "draft": False,
    "note": None,
    "tags": ["asthma", "child", 7],
    "author": {"name": "Ada", "born": 1815, "x": {"y": "deep"}},
    "a.b": "flat",
    "a": {"b": "nested", "c": 1},
    "Tenant": "other",
    "day": "2021-03-04",
}

HOLD = [
    {},
    {"source": "nih"},
    {"source": "nih", "year": 2021},
    {"year": 2021.0},
    {"year": np.int64(2021)},
    {"score": np.float32(0.5)},
    {"year": {"$gte": 2020, "$lt": 2022}},
    {"year": {"$gt": 2020.5}},
    {"draft": False},
    {"note": None},
    {"note": {"$exists": True}},
    {"nothing": {"$exists": False}},
    {"nothing": {"$ne": 1}},
    {"year": {"$ne": "2021"}},
    {"source": {"$in": ["cdc", "nih"]}},
    {"source": {"$nin": []}},
    {"nothing": {"$nin": [1]}},
    {"tags": {"$contains": "asthma"}},
    {"tags": {"$contains": 7.0}},
    {"author.name": "Ada"},
    {"author.x.y": {"$gte": "dee"}},
    {"a.b": "flat"},
    {"a.c": 1},
    {"day": {"$gte": datetime.date(2021, 3, 4), "$lt": datetime.datetime(2021, 3, 4, 1)}},
    {"$or": [{"source": "cdc"}, {"year": 2021}]},
    {"$and": [{"source": "nih"}, {"$not": {"year": 2020}}]},
    {"$not": {"tags": {"$contains": "adult"}}, "Tenant": "other"},
]
FAIL = [
    {"source": "NIH"},
    {"Source": "nih"},
    {"tenant": "other"},
    {"year": "2021"},
    {"year": True},
    {"draft": 0},
    {"note": {"$exists": False}},
    {"nothing": None},
    {"year": {"$gt": "2"}},
    {"source": {"$lt": 5}},
    {"tags": "asthma"},
    {"source": {"$contains": "nih"}},
    {"tags": {"$contains": "7"}},
    {"tags": {"$contains": "asth"}},
    {"source": {"$in": []}},
    {"author": "Ada"},
    {"author.Name": "Ada"},
    {"a.b": "nested"},
    {"tags.0": "asthma"},
    {"$or": [{"source": "cdc"}, {"year": 2020}]},
    {"$not": {}},
]


@pytest.mark.parametrize("data", HOLD, ids=str)
def test_filters_that_hold(data):
    assert matches(read_filter(data), NIH)
    assert not matches(read_filter({"$not": data}), NIH)


@pytest.mark.parametrize("data", FAIL, ids=str)
def test_filters_that_do_not_hold(data):
    assert not matches(read_filter(data), NIH)
    assert matches(read_filter({"$not": data}), NIH)


@given(filters(), filters(), metadata())
def test_the_algebra_of_conditions(one, other, record):
    first, second = matches(read_filter(one), record), matches(read_filter(other), record)
    assert matches(read_filter({"$and": [one, other]}), record) == (first and second)
    assert matches(read_filter({"$or": [one, other]}), record) == (first or second)
    assert matches(read_filter({"$not": one}), record) == (not first)


@given(st.sampled_from(["source", "year"]), scalars(), metadata())
def test_opposite_operators_are_complements(field, value, record):
    def holds(operator, wanted):
        return matches(read_filter({field: {operator: wanted}}), record)

    assert holds("$eq", value) != holds("$ne", value)
    assert holds("$in", [value]) == holds("$eq", value)
    assert holds("$in", [value]) != holds("$nin", [value])
    assert holds("$exists", True) != holds("$exists", False)
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        assert holds("$gte", value) == (holds("$gt", value) or holds("$eq", value))
        assert holds("$lte", value) == (holds("$lt", value) or holds("$eq", value))
        assert not (holds("$lt", value) and holds("$gt", value))


@given(filters())
def test_conditions_are_values(data):
    assert read_filter(data) == read_filter(data)
    assert hash(read_filter(data)) == hash(read_filter(data))


def test_the_tree_that_is_read():
    read = read_filter({"year": {"$gte": 2020, "$ne": 2023}, "$or": [{"lang": "en"}, {"lang": {"$in": ("de", "fr")}}]})
    assert read == And(
        (
            And((Compare("year", "gte", 2020), Not(Compare("year", "eq", 2023)))),
            Or((Compare("lang", "eq", "en"), In("lang", ("de", "fr")))),
        )
    )
    assert isinstance(read, Condition)


def _nest(levels):
    data = {"a": 1}
    for _ in range(levels):
        data = {"$not": data}
    return data


WRONG = {
    "text": ("source = 'nih'", r"where must be a dict .* got the text .*; write \{'source': 'nih'\}"),
    "other text": ("source LIKE 'n%'", "where must be a dict such as"),
    "a list": ([{"a": 1}], "where must be a dict .* got list"),
    "nothing": (None, "where must be a dict"),
    "a number as a field": ({1: 2}, "the name of a field must be text, got 1"),
    "unknown operator": ({"a": {"$regex": "x"}}, r"'a' has no operator '\$regex': \$eq, \$ne"),
    "a nested dict": ({"author": {"name": "Ada"}}, "a nested field is written 'author.name'"),
    "unknown connective": ({"$nor": []}, r"'\$nor' is neither a field nor one of"),
    "empty and": ({"$and": []}, r"\$and takes a list of conditions, got \[\]"),
    "or of a dict": ({"$or": {"a": 1}}, r"\$or takes a list"),
    "not of a list": ({"$not": [{"a": 1}]}, "must be a dict"),
    "a list as a value": ({"a": [1, 2]}, r"'a' is compared with a list; use \{'\$in'"),
    "an array as a value": ({"a": np.arange(3)}, "is compared with a list"),
    "in of a text": ({"a": {"$in": "abc"}}, r"\$in and \$nin of 'a' take a list of values, got 'abc'"),
    "exists of a text": ({"a": {"$exists": "yes"}}, "takes True or False"),
    "above null": ({"a": {"$gt": None}}, "compared with None, which nothing is above or below"),
    "above true": ({"a": {"$lt": True}}, "compared with True"),
    "not a number": ({"a": float("nan")}, "must be a finite number, got nan"),
    "infinite": ({"a": {"$lt": float("inf")}}, "must be a finite number"),
    "an object": ({"a": object()}, "must be text, a number, true, false, null or a date, got object"),
    "bytes": ({"a": b"x"}, "got bytes"),
    "a very large number": ({"a": {"$lt": 10**5000}}, "whole number of more than 300 digits"),
    "a surrogate": ({"a": "\ud800"}, "lone surrogate"),
    "a surrogate in a name": ({"\ud800": 1}, "lone surrogate"),
    "an empty condition": ({"a": {}}, "is an empty dict"),
    "nested deep": (_nest(17), "nested more than 16 deep"),
    "many comparisons": ({"$or": [{"a": i} for i in range(257)]}, "more than 256 comparisons; use"),
    "many values": ({"a": {"$in": list(range(10_001))}}, "names more than 10000 values"),
}


@pytest.mark.parametrize("name", sorted(WRONG))
def test_what_is_wrong_is_said(name):
    data, message = WRONG[name]
    with pytest.raises(InputError, match=message):
        read_filter(data)


def test_a_filter_that_holds_itself_is_refused():
    data: dict = {}
    data["$not"] = data
    with pytest.raises(InputError, match="nested more than"):
        read_filter(data)


def test_metadata_become_plain():
    given = {
        "n": np.int32(3),
        "f": np.float32(0.5),
        "t": np.bool_(True),
        "day": datetime.date(2020, 1, 2),
        "at": datetime.datetime(2020, 1, 2, 3, 4, tzinfo=datetime.timezone.utc),
        "when": np.datetime64("2020-01-02"),
        "tags": ("a", np.int64(1)),
        "array": np.arange(3),
        "nested": {"x": [{"y": None}]},
    }
    plain = plain_metadata(given, "metadata")
    assert plain == {
        "n": 3,
        "f": 0.5,
        "t": True,
        "day": "2020-01-02",
        "at": "2020-01-02T03:04:00+00:00",
        "when": "2020-01-02",
        "tags": ["a", 1],
        "array": [0, 1, 2],
        "nested": {"x": [{"y": None}]},
    }
    assert type(plain["n"]) is int
    assert type(plain["t"]) is bool


@pytest.mark.parametrize(
    "value", [{1, 2}, 10**301, object(), float("nan"), b"x", "\udcff", {1: 2}, [[float("inf")]], 1j]
)
def test_metadata_that_cannot_be_kept_are_refused(value):
    with pytest.raises(InputError, match="metadata"):
        plain_metadata({"a": value}, "metadata")
