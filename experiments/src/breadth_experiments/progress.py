"""How far a stage is: the callback that every stage takes, and a bar that shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.progress import Progress as Bar

Progress = Callable[[int, int], None]
"""Called with what is done and what there is to do."""


def report_nothing(done: int, total: int) -> None:
    """The `Progress` of a caller who does not want to know."""


@contextmanager
def progress_bar(what: str, quiet: bool = False) -> Iterator[Progress]:
    """Show a bar on the error stream if that is a terminal, and yield the callback that moves it."""
    console = Console(stderr=True, highlight=False, markup=False, emoji=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    hidden = quiet or not console.is_terminal
    with Bar(*columns, TimeRemainingColumn(), console=console, disable=hidden) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
