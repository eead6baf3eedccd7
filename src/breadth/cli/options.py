"""Arguments and options that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any

import typer

from breadth import encoders
from breadth.cli.console import print_note
from breadth.constraints.protocol import Option
from breadth.constraints.registry import CONSTRAINTS
from breadth.errors import InputError
from breadth.filters import parse_filter
from breadth.index import Index
from breadth.settings import DEFAULT

Filter = dict[str, Any]

IndexPath = Annotated[Path, typer.Argument(help="an index made by `breadth index`", metavar="INDEX")]
Query = Annotated[str, typer.Argument(help="what to search for", metavar="QUERY")]
K = Annotated[int, typer.Option("-k", "--k", help="how many passages")]
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
Cover = Annotated[
    float | None,
    typer.Option("--cover", help="the fewest passages, at most k, that stand for this share of the relevant material"),
]
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


def warn_of_unknown_fields(opened: Index, where: Filter | None) -> None:
    """Say on the error stream which fields of a condition no passage has: perhaps they are misspelt."""
    fields = opened.fields
    known = {name.partition(".")[0] for name in fields} | set(fields)
    unknown = [name for name in _list_fields(where) if name not in known and name.partition(".")[0] not in known]
    for name in dict.fromkeys(unknown):
        there = f"the fields are {', '.join(fields)}" if fields else "no passage has metadata"
        print_note(f"note: no passage has the field {name!r}; {there}")


def _list_fields(where: Any) -> list[str]:
    """The fields that a filter asks for."""
    if isinstance(where, dict):
        inside = [_list_fields(value) for name, value in where.items() if name.startswith("$")]
        return [name for name in where if not name.startswith("$")] + [name for some in inside for name in some]
    return [name for one in where for name in _list_fields(one)] if isinstance(where, list) else []


def read_theta(text: str | None) -> float | str | None:
    """The number that --theta holds, or 'auto'."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise InputError(f"--theta must be a number in [0, 1] or auto, got {text!r}") from None


def takes_constraints(command: Callable[..., None], rows_alone: bool = False) -> Callable[..., None]:
    """Give a command the options of all constraints. What was passed reaches it as a dictionary, `allowed`.

    `rows_alone`: only those that need no documents.
    """
    options = [
        option
        for kind in CONSTRAINTS.values()
        for option in kind.options
        if not rows_alone or (option.keyword in kind.arguments and option.type in (float, bool))
    ]

    @wraps(command)
    def run(*arguments: Any, **given: Any) -> None:
        asked = {option.keyword: given.pop(option.keyword, None) for option in options}
        allowed = {name: value for name, value in asked.items() if value not in (None, [])}
        command(*arguments, **given, allowed=allowed)

    own = inspect.signature(command, eval_str=True)
    added = [
        inspect.Parameter(option.keyword, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=_describe(option))
        for option in options
    ]
    parameters = [*(parameter for name, parameter in own.parameters.items() if name != "allowed"), *added]
    run.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return run


def _describe(option: Option) -> Any:
    """The option as typer wants it, with the default's value in its help."""
    name = option.keyword.replace("_", "-")
    flags = (f"--{name}/--no-{name}",) if option.type is bool else option.flags or (f"--{name}",)
    value = getattr(DEFAULT, option.keyword, None)
    shown = f" [{value}]" if value is not None and not isinstance(value, bool) else ""
    return Annotated[option.type | None, typer.Option(*flags, help=option.help + shown)]
