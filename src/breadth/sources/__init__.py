"""Documents from files: JSON, CSV, Parquet, or a folder of texts. What cannot be read is reported, not dropped.

A new format is a file with one function, `read_…(source)`, and one line in `registry.FORMATS`. The function yields the
records of `source.path`. It calls `source.skip` for a record that it cannot read, `source.stop` where it cannot go on,
and keeps `source.read_bytes` up to date, which the progress bar shows.

Nobody knows what a file holds before it is read, so everything is bounded: `files.MOST_BYTES` for one record.
"""

from breadth.sources.pieces import cut_into_pieces, parse_chunk
from breadth.sources.registry import FORMATS, describe_formats, open_source
from breadth.sources.source import ID_FIELDS, TEXT_FIELDS, Record, Skipped, Source

__all__ = [
    "FORMATS",
    "ID_FIELDS",
    "TEXT_FIELDS",
    "Record",
    "Skipped",
    "Source",
    "cut_into_pieces",
    "describe_formats",
    "open_source",
    "parse_chunk",
]
