"""Every engine that `breadth` can select from, by name, with its traits.

The list drives `breadth.open`, the command line, the table in docs/engines.md, the contract suite
(`tests/engines/test_contract.py`) and `python -m benchmarks engines`. To add an engine, write its file, list it here,
give `breadth.oracles` its function, and say in `tests/engines/stores/` how rows get into it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from inspect import signature
from typing import Any

from breadth.engines import chroma, faiss, lancedb, milvus, pgvector, qdrant, ray, usearch
from breadth.engines.address import Locate, one_place, place_and_part


@dataclass(frozen=True)
class Engine:
    """An engine, how it is opened, and what it can do.

    open          opens it: the function that `breadth.oracles` has under this name
    form          its address, for help and messages: `faiss:FILE`
    locate        turns what follows `NAME:` in an address (or the whole of it, if `scheme` is its own) into arguments
    extra         the extra that installs it
    description   what it is, in a few words
    exact         when a search misses nothing
    ids           what its ids can be
    rows          how rows come: with the ids in one request, or by id in a second one
    mean          whether it computes the mean row
    filters       whether it takes `where`
    audits        whether it can scan itself exactly (`audit=True`)
    limit         the most rows that one search returns, in words
    aopen         opens it with an asynchronous client, if it has one
    scheme        the beginning of an address, where that is not its name
    """

    name: str
    open: Callable[..., Any]
    form: str
    locate: Locate
    extra: str
    description: str
    exact: str
    ids: str
    rows: str
    mean: bool
    filters: bool
    audits: bool
    limit: str = "none"
    aopen: Callable[..., Any] | None = None
    scheme: str | None = None

    @property
    def settings(self) -> tuple[str, ...]:
        """The names of the arguments that `open` takes."""
        return tuple(signature(self.open).parameters)


ENGINES: dict[str, Engine] = {
    engine.name: engine
    for engine in (
        Engine(
            name="faiss",
            open=faiss.faiss,
            form="faiss:FILE",
            locate=one_place("index"),
            extra="faiss",
            description="an index in memory or in a file",
            exact="Flat and SQfp16; IVF,Flat if nprobe covers all lists",
            ids="whole numbers",
            rows="with the ids",
            mean=True,
            filters=True,
            audits=True,
        ),
        Engine(
            name="usearch",
            open=usearch.usearch,
            form="usearch:FILE",
            locate=one_place("index"),
            extra="usearch",
            description="an HNSW index in memory or in a file",
            exact="with exact=True or a filter, if numbers are float16 or wider",
            ids="whole numbers",
            rows="with the ids",
            mean=True,
            filters=True,
            audits=True,
        ),
        Engine(
            name="lancedb",
            open=lancedb.lancedb,
            form="lancedb:FOLDER/TABLE",
            locate=place_and_part("path", "table"),
            extra="lancedb",
            description="a table in a folder, or in object storage",
            exact="without an index on the vectors, or with exact=True",
            ids="any column of numbers or text, or row ids",
            rows="with the ids",
            mean=True,
            filters=True,
            audits=True,
        ),
        Engine(
            name="chroma",
            open=chroma.chroma,
            form="chroma:FOLDER/COLLECTION",
            locate=place_and_part("source", "collection"),
            extra="chroma",
            description="a folder of Chroma, or a server (`chroma:http://HOST:8000/COLLECTION`)",
            exact="never (HNSW)",
            ids="text",
            rows="with the ids",
            mean=True,
            filters=True,
            audits=True,
        ),
        Engine(
            name="pgvector",
            open=pgvector.pgvector,
            aopen=pgvector.apgvector,
            form="postgresql://USER@HOST/DATABASE?table=TABLE",
            scheme="postgresql",
            locate=one_place("url"),
            extra="pgvector",
            description="a table of PostgreSQL with the extension pgvector",
            exact="without an index, with exact=True, or if a filter leaves at most 10,000 rows",
            ids="any type: numbers, text, UUIDs",
            rows="with the ids",
            mean=True,
            filters=True,
            audits=True,
            limit="none; 1000 with HNSW before pgvector 0.8",
        ),
        Engine(
            name="milvus",
            open=milvus.milvus,
            form="milvus:URI/COLLECTION",
            locate=place_and_part("uri", "collection"),
            extra="milvus",
            description="a Milvus server, or a file of Milvus Lite",
            exact="FLAT; always in Milvus Lite",
            ids="whole numbers, text",
            rows="with the ids",
            mean=False,
            filters=True,
            audits=True,
            limit="16,384",
        ),
        Engine(
            name="qdrant",
            open=qdrant.qdrant,
            form="qdrant:URL/COLLECTION",
            locate=place_and_part("source", "collection"),
            extra="qdrant",
            description="a Qdrant server, or a folder of the client's local mode",
            exact="with exact=True; always in local mode",
            ids="whole numbers, UUIDs",
            rows="with the ids",
            mean=False,
            filters=True,
            audits=True,
        ),
        Engine(
            name="qdrant_edge",
            open=qdrant.qdrant_edge,
            form="qdrant_edge:FOLDER",
            locate=one_place("folder"),
            extra="qdrant-edge",
            description="a shard of Qdrant Edge in a folder",
            exact="with exact=True",
            ids="whole numbers, UUIDs",
            rows="with the ids",
            mean=False,
            filters=True,
            audits=True,
        ),
        Engine(
            name="ray",
            open=ray.ray,
            form="ray:FILE",
            locate=one_place("vectors"),
            extra="ray",
            description="a matrix over the workers of a Ray cluster",
            exact="always",
            ids="whole numbers",
            rows="with the ids",
            mean=True,
            filters=False,
            audits=False,
        ),
    )
}
"""The engines, by the name of the function in `breadth.oracles` that opens them."""

SCHEMES: dict[str, Engine] = {engine.scheme or engine.name: engine for engine in ENGINES.values()}
"""The engines by the beginning of their addresses."""
