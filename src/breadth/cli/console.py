"""The two streams of a command. Whatever is printed goes through here, and here it is escaped.

Texts, ids and queries come from outside. A control character in them could clear the screen, or fill the clipboard.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from breadth.display import escape_controls

_WIDE = 100_000
"""The width of what is no terminal: nothing is wrapped there, so that other programs can read lines."""


def _make_console(stderr: bool) -> Console:
    stream = sys.stderr if stderr else sys.stdout
    width = None if stream.isatty() or "COLUMNS" in os.environ else _WIDE
    return Console(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


out = _make_console(stderr=False)
err = _make_console(stderr=True)


def is_wide() -> bool:
    """Whether tables may take all the width there is: in a terminal, but not in a file."""
    return out.width < _WIDE


def print_line(text: str = "", style: str | None = None) -> None:
    """Print lines on the standard output. In a terminal they are wrapped between words."""
    out.print(escape_lines(text), style=style, soft_wrap=not out.is_terminal)


def print_table(title: str, table: Table) -> None:
    """Print a table under its title. Its cells were escaped when it was made."""
    print_line(title, style="italic")
    out.print(table)


def print_error(text: str) -> None:
    """Print an error in red on the error stream."""
    err.print(escape_lines(f"error: {text}"), style="red", soft_wrap=not err.is_terminal)


def print_note(text: str) -> None:
    """Print something on the error stream that is not part of the answer."""
    err.print(escape_lines(text), soft_wrap=not err.is_terminal)


def print_json(data: Any) -> None:
    """Print one JSON document on the standard output, always in UTF-8. Half characters are written as JSON escapes."""
    write_bytes(json.dumps(data, ensure_ascii=False, indent=1))


def write_bytes(text: str) -> None:
    """Write a line in UTF-8 as it is: for other programs, not for people."""
    sys.stdout.flush()
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:  # a stream that takes text only, of a notebook for example
        sys.stdout.write(text.encode("utf-8", "backslashreplace").decode() + "\n")
    else:
        stream.write(text.encode("utf-8", "backslashreplace") + b"\n")
        stream.flush()


def escape_lines(text: str) -> str:
    """Escape a text that may have several lines."""
    return "\n".join(escape_controls(line) for line in text.split("\n"))


def rate_progress(quiet: bool) -> Progress:
    """Make a progress bar that shows the field `rate` of its task, on terminals only."""
    return _progress(TextColumn("{task.fields[rate]}"), quiet)


def count_progress(quiet: bool) -> Progress:
    """Make a progress bar that shows how many are done, on terminals only."""
    return _progress(MofNCompleteColumn(), quiet)


def _progress(column: ProgressColumn, quiet: bool) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), column, TimeRemainingColumn())
    return Progress(*columns, console=err, disable=quiet or not err.is_terminal)
