"""Random metadata and random filters on them: few names and values, so that they often meet."""

from __future__ import annotations

from hypothesis import strategies as st

FIELDS = ["source", "Source", "year", "tags", "a", "a.b", "a.b.c", "odd name\x00\"'`"]
_TEXTS = st.sampled_from(["", "nih", "NIH", "asthma", "2020", "é", "z\x00", "' or 1=1 --", "\U0001f600", "%"])
_NUMBERS = st.sampled_from([0, 1, -1, 2020, 2020.5, 0.1, -0.0, 1.0, 2**53 + 1, 2**53, 2**63, 2**70, -(2**70), 1e300])


def scalars():
    """A text, number, truth value or null."""
    return st.one_of(_TEXTS, _NUMBERS, st.booleans(), st.none())


def metadata():
    """The metadata of a document."""
    values = st.recursive(
        scalars(),
        lambda inner: (
            st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["b", "c", "b.c"]), inner, max_size=2)
        ),
        max_leaves=4,
    )
    return st.dictionaries(st.sampled_from(FIELDS), values, max_size=4)


def _operators():
    return st.one_of(
        st.tuples(st.sampled_from(["$eq", "$ne", "$contains"]), scalars()),
        st.tuples(st.sampled_from(["$gt", "$gte", "$lt", "$lte"]), _TEXTS | _NUMBERS),
        st.tuples(st.sampled_from(["$in", "$nin"]), st.lists(scalars(), max_size=3)),
        st.tuples(st.just("$exists"), st.booleans()),
    )


def filters():
    """A filter of some comparisons."""
    condition = st.lists(_operators(), min_size=1, max_size=2).map(dict)
    leaf = st.dictionaries(st.sampled_from(FIELDS), scalars() | condition, min_size=1, max_size=2)
    return st.recursive(
        leaf,
        lambda inner: st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$and": parts}),
            st.lists(inner, min_size=1, max_size=3).map(lambda parts: {"$or": parts}),
            inner.map(lambda part: {"$not": part}),
        ),
        max_leaves=5,
    )
