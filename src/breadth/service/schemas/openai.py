"""The search of a vector store as clients of OpenAI send it, and its answer."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from breadth.index import Hit, Results

_FORM = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
Value = str | bool | int | float


def _refuse_number(value: Any) -> Any:
    """Refuse 0, which Python takes for False."""
    if value is not None and value is not False:
        raise ValueError("must be false")
    return value


Never = Annotated[Literal[False], BeforeValidator(_refuse_number)]


class Comparison(BaseModel):
    """A condition on one attribute."""

    model_config = _FORM
    type: Literal["eq", "ne", "gt", "gte", "lt", "lte", "in", "nin"]
    key: str
    value: Value | list[Value]

    def translate(self) -> dict[str, Any]:
        """The same as a filter of breadth."""
        return {self.key: {f"${self.type}": self.value}}


class Compound(BaseModel):
    """Several conditions."""

    model_config = _FORM
    type: Literal["and", "or"]
    filters: list[Annotated[Comparison | Compound, Field(discriminator="type")]] = Field(min_length=1)

    def translate(self) -> dict[str, Any]:
        """The same as a filter of breadth."""
        return {f"${self.type}": [part.translate() for part in self.filters]}


class RankingOptions(BaseModel):
    """How results are ranked."""

    model_config = _FORM
    ranker: Literal["auto", "none"] = "auto"
    score_threshold: float | None = None


class SearchRequest(BaseModel):
    """A search of a vector store."""

    model_config = ConfigDict(
        **{**_FORM, "json_schema_extra": {"examples": [{"query": "How is asthma treated?", "max_num_results": 6}]}}
    )
    query: str = Field(description="one text")
    max_num_results: int = Field(default=10, ge=1)
    filters: Annotated[Comparison | Compound, Field(discriminator="type")] | None = None
    ranking_options: RankingOptions | None = None
    rewrite_query: Never | None = Field(default=None, description="queries are never rewritten")

    def read_arguments(self, seconds: float) -> dict[str, Any]:
        """The arguments of `Index.search`."""
        arguments: dict[str, Any] = {"k": self.max_num_results, "time_limit": seconds}
        if self.filters is not None:
            arguments["where"] = self.filters.translate()
        if self.ranking_options is not None and self.ranking_options.score_threshold is not None:
            arguments["floor"] = self.ranking_options.score_threshold
        return arguments


class Content(BaseModel):
    """A part of a passage."""

    type: Literal["text"] = "text"
    text: str


class SearchResult(BaseModel):
    """A chosen passage. `file_id` is its id, `filename` the document that it is a piece of."""

    file_id: str
    filename: str
    score: float
    attributes: dict[str, Any]
    content: list[Content]

    @classmethod
    def of(cls, hit: Hit) -> SearchResult:
        """Describe a hit."""
        return cls(
            file_id=hit.id,
            filename=hit.document.root,
            score=hit.score,
            attributes={**hit.metadata, **_tell_near(hit)},
            content=[Content(text=hit.text)],
        )


def _tell_near(hit: Hit) -> dict[str, str]:
    """The copies and the variants of a passage, as texts: attributes can be nothing else."""
    copies = "; ".join(f"{copy.id} ({copy.relation})" for copy in hit.copies)
    variants = "; ".join(f"{one.id} ({', '.join(map(str, one.differences[:3]))})" for one in hit.variants)
    told = {"breadth.copies": copies, "breadth.differs": variants}
    return {name: text for name, text in told.items() if text}


class SearchPage(BaseModel):
    """The passages that were chosen."""

    object: Literal["vector_store.search_results.page"] = "vector_store.search_results.page"
    search_query: list[str]
    data: list[SearchResult]
    has_more: bool = False
    next_page: str | None = None

    @classmethod
    def of(cls, query: str, found: Results) -> SearchPage:
        """Describe results."""
        return cls(search_query=[query], data=[SearchResult.of(hit) for hit in found])
