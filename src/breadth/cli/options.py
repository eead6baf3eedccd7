"""Arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from breadth import encoders
from breadth.errors import InputError
from breadth.filters import parse_filter
from breadth.index import Index
from breadth.settings import DEFAULT

Filter = dict[str, Any]

IndexPath = Annotated[Path, typer.Argument(help="an index made by `breadth index`", metavar="INDEX")]
Query = Annotated[str, typer.Argument(help="what to search for")]
K = Annotated[int, typer.Option("-k", help="how many passages")]
Theta = Annotated[
    str | None,
    typer.Option(
        "--theta",
        help="weight of relevance in [0, 1]; 1 is plain top-k; auto is the knee of the curve that `breadth frontier` "
        f"shows [{DEFAULT.theta:g}]",
    ),
]
Sharpness = Annotated[
    int | None,
    typer.Option(
        "--sharpness",
        help=f"power of the cosine that counts as redundant; 1 is the paper's mean cosine [{DEFAULT.sharpness}]",
    ),
]
Distinct = Annotated[
    float | None,
    typer.Option("--distinct", help=f"no two passages with a cosine above this; 1 allows copies [{DEFAULT.distinct}]"),
]
OnTopic = Annotated[
    float | None,
    typer.Option(
        "--on-topic",
        help=f"least relevance, as a share of that of the last passage of top-k; 0 allows all [{DEFAULT.on_topic}]",
    ),
]
Cover = Annotated[
    float | None,
    typer.Option("--cover", help="the fewest passages, at most k, that stand for this share of the relevant material"),
]
KeepBest = Annotated[
    bool | None, typer.Option("--keep-best/--no-keep-best", help="whether the most relevant passage is always chosen")
]
GroupBy = Annotated[str | None, typer.Option("--group-by", help="metadata field, the source for example")]
PerGroup = Annotated[int | None, typer.Option("--per-group", help="passages of one group, with --group-by [1]")]
Pin = Annotated[list[str] | None, typer.Option("--pin", help="id of a passage that must be chosen (repeatable)")]
Exclude = Annotated[list[str] | None, typer.Option("--exclude", help="id of a passage to leave out (repeatable)")]
Floor = Annotated[float | None, typer.Option("--floor", "--min-score", help="least relevance of a passage")]
Budget = Annotated[float | None, typer.Option("--budget", help="words that the passages may have together, at most k")]
Keep = Annotated[float | None, typer.Option("--keep", help="instead of --theta: share of top-k's relevance to keep")]
Where = Annotated[
    str | None,
    typer.Option(
        "--where",
        help="condition on metadata: \"source = 'x' and (year >= 2010 or tags contains 'lung') and not exists draft\"",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="machine-readable output")]
EncoderOption = Annotated[str | None, typer.Option("--encoder", help=encoders.SPELLINGS)]


def open_index(path: Path, encoder: str | None) -> Index:
    """Open an index with the encoder that --encoder describes, or with the one that the index records."""
    return Index.open(path, None if encoder is None else encoders.encoder(encoder))


def read_where(text: str | None) -> Filter | None:
    """The filter that --where describes."""
    if text is None:
        return None
    try:
        return parse_filter(text)
    except InputError as error:
        raise InputError(f"--where: {error}") from None


def read_theta(text: str | None) -> float | str | None:
    """The number that --theta holds, or 'auto'."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--theta must be a number in [0, 1] or auto, got {text!r}") from None


def gather(
    sharpness: int | None = None,
    distinct: float | None = None,
    keep_best: bool | None = None,
    group_by: str | None = None,
    per_group: int | None = None,
    pin: list[str] | None = None,
    exclude: list[str] | None = None,
    floor: float | None = None,
    budget: float | None = None,
    on_topic: float | None = None,
    cover: float | None = None,
) -> dict[str, Any]:
    """The options that say which sets are allowed, as `Index.search` takes them; those not given are left out."""
    if per_group is not None and group_by is None:
        raise InputError("--per-group needs --group-by: the metadata field whose values are the groups")
    given = {
        "sharpness": sharpness,
        "distinct": distinct,
        "keep_best": keep_best,
        "group_by": group_by,
        "per_group": per_group,
        "pinned": pin or None,
        "excluded": exclude or None,
        "floor": floor,
        "budget": budget,
        "on_topic": on_topic,
        "cover": cover,
    }
    return {name: value for name, value in given.items() if value is not None}
