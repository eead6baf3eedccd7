"""MCP (extra `mcp`): tools with which an agent searches an index. They only read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from breadth.errors import BreadthError, InputError, MissingExtraError
from breadth.index import Index
from breadth.integrations.candidates import Chosen
from breadth.integrations.options import Options
from breadth.integrations.whole import choose_from, choose_from_index, read_payloads
from breadth.searcher import Searcher

try:
    from mcp.server.mcpserver import MCPServer
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp_types import ToolAnnotations
    from pydantic import BaseModel, Field
except ImportError:
    raise MissingExtraError("mcp", "mcp") from None

_POOL = 1000
_MOST = 100
"""How many passages an agent can ask for."""
_SIZES = (5, 10, 20)
_MOST_SIZES = 20
"""How many sizes an agent can ask about at a time."""
Where = dict[str, Any] | None


class Hit(BaseModel):
    """A passage: its relevance, and where it comes from.

    copies     passages that were left out because this one says all of them: they can be cited as well
    variants   passages in nearly the same words that say something else: see `differences` before you rely on one
    """

    id: str
    text: str
    score: float
    metadata: dict[str, Any]
    copies: list[dict[str, Any]]
    variants: list[dict[str, Any]]


class Passage(BaseModel):
    """A passage."""

    id: str
    text: str
    metadata: dict[str, Any]


class Found(BaseModel):
    """A set of passages.

    coverage   the share of the relevant material that they stand for
    gap        how much better another set could be at most, on the scale of cosines; None if that is not known
    searched   how many passages there were to choose from
    given_up   ids of passages among the most relevant ones that are neither here nor copies of these
    """

    passages: list[Hit]
    coverage: float
    gap: float | None
    asked: int
    searched: int
    given_up: list[str]


class Compared(BaseModel):
    """The chosen set beside plain top-k: which ids went out, and which came in."""

    chosen: Found
    top_k: Found
    went_out: list[str]
    came_in: list[str]


class Covered(BaseModel):
    """The share of the relevant material that k passages stand for: chosen ones, and the top k."""

    k: int
    coverage: float
    top_k_coverage: float


class Coverage(BaseModel):
    """Coverage for several sizes."""

    sizes: list[Covered] = Field(default_factory=list)


def make_server(source: Any, encoder: Any = None, name: str = "breadth") -> MCPServer[Any]:
    """Make a server with the tools `search`, `compare` and `coverage`.

    source    a `breadth.Index`, or an oracle of breadth that holds texts (`breadth.open(…)`)
    encoder   what turns queries into vectors, for an oracle; an index has its own
    """
    ask = _make_asking(source, encoder)
    server: MCPServer[Any] = MCPServer(name, instructions=_INSTRUCTIONS)
    reads = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)

    @server.tool(annotations=reads, structured_output=True)
    def search(
        query: str, k: int = 10, where: Where = None, group_by: str | None = None, per_group: int | None = None
    ) -> Found:
        """Find the k passages that together answer a query best: relevant, without repeats.

        where: a filter on metadata, such as {"source": "nih", "year": {"$gte": 2020}}.
        group_by, per_group: at most so many passages with the same value of a metadata field.
        """
        return _report(ask(query, k, where, group_by=group_by, per_group=per_group))

    @server.tool(annotations=reads, structured_output=True)
    def compare(query: str, k: int = 10, where: Where = None) -> Compared:
        """Compare the chosen passages with the k most relevant ones, repeats included."""
        chosen, plain = _report(ask(query, k, where)), _report(ask(query, k, where, method="topk"))
        ours, theirs = ([one.id for one in found.passages] for found in (chosen, plain))
        out, new = [one for one in theirs if one not in ours], [one for one in ours if one not in theirs]
        return Compared(chosen=chosen, top_k=plain, went_out=out, came_in=new)

    @server.tool(annotations=reads, structured_output=True)
    def coverage(query: str, sizes: list[int] | None = None, where: Where = None) -> Coverage:
        """Say how much of the relevant material k passages stand for, for several k: how many are worth reading?

        sizes: the values of k; 5, 10 and 20 unless given.
        """
        wanted = list(_SIZES if sizes is None else sizes)
        if not 1 <= len(wanted) <= _MOST_SIZES:
            raise ToolError(f"sizes must have 1 to {_MOST_SIZES} entries, got {len(wanted)}")
        shares = [[ask(query, k, where, **plain).coverage for plain in ({}, {"method": "topk"})] for k in wanted]
        pairs = zip(wanted, shares, strict=True)
        return Coverage(sizes=[Covered(k=k, coverage=own, top_k_coverage=top) for k, (own, top) in pairs])

    @server.tool(annotations=reads, structured_output=True)
    def read(id: str) -> Passage:
        """Read a passage by its id: a copy or a variant of one that search has returned, say."""
        return _read_passage(source, id)

    return server


_INSTRUCTIONS = (
    "Search a collection of passages. search returns passages that do not repeat each other. Each lists copies, which "
    "say the same and can be cited as well, and variants, which say something else in nearly the same words: tell the "
    "reader about differences. read returns a passage by its id. coverage tells whether more passages are worth it."
)


def _make_asking(source: Any, encoder: Any) -> Callable[..., Chosen]:
    """How the tools ask: errors of ours reach the agent as the result of the tool, in words that say what to do."""
    if not isinstance(source, Index) and encoder is None:
        raise InputError("a collection of another engine needs an encoder: pass --encoder, or encoder=")
    if not isinstance(source, Index):
        read_payloads(source)  # an engine without texts is of no use to an agent

    def ask(query: str, k: int, where: Where, **options: Any) -> Chosen:
        try:
            if not query.strip():
                raise InputError("query must be a text of at least one word, got an empty one")
            if k > _MOST:
                raise InputError(f"k must be at most {_MOST}, got {k}")
            asked = Options.read(options)
            if isinstance(source, Index):
                return choose_from_index(source, query, k, asked, where, _POOL)
            oracle = source if where is None else source.filtered(where)
            vector = encoder.encode([query], "query")[0]
            return choose_from(oracle, vector, k, asked, read_payloads(oracle), pool=_POOL)
        except BreadthError as error:
            raise ToolError(str(error)) from error

    return ask


def _report(chosen: Chosen) -> Found:
    proof = None if chosen.selection is None else chosen.selection.certificate
    hits = [
        Hit(
            id=pick.candidate.id or "",
            text=pick.candidate.text,
            score=pick.score,
            metadata=dict(pick.candidate.metadata),
            copies=[{**copy.to_dict(), "id": one.id or ""} for one, copy in pick.copies],
            variants=pick.list_variants(),
        )
        for pick in chosen.picks
    ]
    gap = None if proof is None else proof.gap
    return Found(
        passages=hits, coverage=chosen.coverage, gap=gap, asked=chosen.asked, searched=chosen.searched,
        given_up=list(chosen.given_up),
    )  # fmt: skip


def _read_passage(source: Any, identity: str) -> Passage:
    try:
        found = source.get(identity) if isinstance(source, Index) else Searcher(source, None).get(identity)
    except BreadthError as error:
        raise ToolError(str(error)) from error
    if found is None:
        raise ToolError(f"there is no passage {identity!r}")
    return Passage(id=found.id, text=found.text, metadata=dict(found.metadata))
