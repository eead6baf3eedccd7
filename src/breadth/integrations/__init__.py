"""Adapters for other frameworks: a file or a folder each, which alone imports its framework. docs/frameworks.md shows
them.

The files that import no framework hold what the adapters share:

    options.py       what the user of an adapter can ask for
    candidates.py    choose from a list of candidates, and what is told about each chosen one
    whole.py         choose from a whole collection: an oracle, an index, or a store of a framework
    fields.py        the fields that a filter names
    vectors.py       embeddings as unit vectors
"""
