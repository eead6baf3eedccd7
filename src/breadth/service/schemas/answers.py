"""What clients get back."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, Field

from breadth.index import Document, Hit, Results
from breadth.selection import Selection
from breadth.text import compare


class DocumentAnswer(BaseModel):
    """A document."""

    id: str
    text: str
    metadata: dict[str, Any]
    parent: str | None = None

    @classmethod
    def of(cls, document: Document) -> DocumentAnswer:
        """Describe a document."""
        return cls(id=document.id, text=document.text, metadata=dict(document.metadata), parent=document.parent)


class CollectionAnswer(BaseModel):
    """What is served, and a few queries to begin with."""

    name: str
    documents: int
    examples: list[str]


class CopyAnswer(BaseModel):
    """A passage that was left out because a chosen one says all of it."""

    id: str
    cosine: float
    relation: str = Field(description="`same`, `contained`, `says the same`; `close vectors` where there is no text")
    text: str | None = None


class DifferenceAnswer(BaseModel):
    """What a chosen passage says, and what another one says instead."""

    here: str
    there: str


class VariantAnswer(BaseModel):
    """A passage in nearly the words of a chosen one that says something else."""

    id: str
    cosine: float
    chosen: bool
    differences: list[DifferenceAnswer]
    text: str | None = None


class HitAnswer(BaseModel):
    """A chosen passage, with its relevance, the copies that it stands for, and the variants that differ from it."""

    id: str
    score: float
    copies: list[CopyAnswer]
    variants: list[VariantAnswer]
    text: str | None = None
    metadata: dict[str, Any] | None = None
    parent: str | None = None

    @classmethod
    def of(cls, hit: Hit, text: bool, near_text: bool = False) -> HitAnswer:
        """Describe a hit, with its text and metadata, and the texts of what is near, if they are wanted."""
        copies = [CopyAnswer(**one.to_dict(), text=one.text if near_text else None) for one in hit.copies]
        variants = [VariantAnswer(**one.to_dict(), text=one.text if near_text else None) for one in hit.variants]
        if not text:
            return cls(id=hit.id, score=hit.score, copies=copies, variants=variants)
        return cls(
            id=hit.id,
            score=hit.score,
            copies=copies,
            variants=variants,
            text=hit.text,
            metadata=dict(hit.metadata),
            parent=hit.document.parent,
        )


class ChangeAnswer(DifferenceAnswer):
    """The same, and where it stands in the texts: the first character, and the one after the last."""

    here_span: tuple[int, int]
    there_span: tuple[int, int]


class CompareAnswer(BaseModel):
    """Two passages beside each other."""

    left: DocumentAnswer
    right: DocumentAnswer
    relation: str = Field(description="`same`, `contained` or `differs`, by the words alone")
    changes: list[ChangeAnswer] = Field(description="every place where the words differ")

    @classmethod
    def of(cls, left: Document, right: Document) -> CompareAnswer:
        """Compare two documents."""
        found = compare(left.text, right.text)
        changes = [
            ChangeAnswer(**one.to_dict(), here_span=one.left_span, there_span=one.right_span)
            for one in found.changes or found.differences
        ]
        left_answer, right_answer = DocumentAnswer.of(left), DocumentAnswer.of(right)
        return cls(left=left_answer, right=right_answer, relation=found.relation, changes=changes)


class CertificateAnswer(BaseModel):
    """What is proved about the set: no allowed set of its size has an objective above `bound`."""

    bound: float | None
    gap: float | None
    exact: bool
    swap_optimal: bool
    optimal: bool


class SetAnswer(BaseModel):
    """What a set is worth, and how it was found."""

    method: str
    theta: float
    sharpness: int
    relevance: float
    redundancy: float
    diversity: float
    objective: float
    certificate: CertificateAnswer | None
    proof: str = Field(description="the certificate in words")

    @staticmethod
    def describe(selection: Selection) -> dict[str, Any]:
        """The fields of a set."""
        data = selection.to_dict()
        return {name: data[name] for name in SetAnswer.model_fields if name != "proof"} | {
            "proof": selection.describe_proof() if len(selection) else "The set is empty."
        }


class SelectAnswer(SetAnswer):
    """The set that was chosen for a query."""

    hits: list[HitAnswer]
    asked: int = Field(description="how many passages were asked for")
    searched: int = Field(description="how many passages there were to choose from")
    given_up: list[str] = Field(description="passages of plain top-k that are neither hits nor copies of hits")
    stats: dict[str, Any]

    @classmethod
    def of(cls, found: Results, text: bool, near_text: bool = False) -> SelectAnswer:
        """Describe results."""
        return cls(
            hits=[HitAnswer.of(hit, text, near_text) for hit in found],
            asked=found.asked,
            searched=found.searched,
            given_up=list(found.given_up),
            stats=found.selection.to_dict()["stats"],
            **SetAnswer.describe(found.selection),
        )


class BatchAnswer(BaseModel):
    """The sets that were chosen, in the order of the queries."""

    results: list[SelectAnswer]


class PointAnswer(SetAnswer):
    """The set for one θ."""

    ids: list[str]
    scores: list[float]


class FrontierAnswer(BaseModel):
    """The curve of relevance against redundancy, in the order of θ."""

    points: list[PointAnswer]
    knee: float | None = Field(description="the θ at the knee of the curve; null if there is nothing to choose from")
    top_relevance: float | None = Field(description="the mean relevance of plain top-k")


class StatusAnswer(BaseModel):
    """Whether the service is well."""

    status: str


class ReadyAnswer(StatusAnswer):
    """Whether the service can answer, and what it serves."""

    name: str
    documents: int
    dim: int
    version: str


class ErrorDetail(BaseModel):
    """What was wrong, and what to do."""

    type: str
    message: str


class ErrorAnswer(BaseModel):
    """The answer to a request that cannot be fulfilled."""

    error: ErrorDetail
