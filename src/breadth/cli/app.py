"""The command line: one file for each group of commands, all listed here."""

from __future__ import annotations

import sqlite3
import sys
from importlib.metadata import entry_points

import typer

from breadth.cli import show
from breadth.cli.demo import demo
from breadth.cli.diagnosing import diagnose
from breadth.cli.doctor import doctor
from breadth.cli.indexing import index
from breadth.cli.searching import compare, frontier, search
from breadth.errors import BreadthError

app = typer.Typer(
    name="breadth",
    help="Diverse search: the k passages that are together relevant and different, with a proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for plugin in entry_points(group="breadth.commands"):
    app.add_typer(plugin.load(), name=plugin.name)
for command in (index, search, compare, frontier, diagnose, demo, doctor):
    app.command()(command)


def run() -> None:
    """Run the command line. An error of ours is one line on the error stream, and the exit code is 1."""
    try:
        app()
    except (BreadthError, OSError, sqlite3.Error, UnicodeError) as error:
        show.err.print(f"error: {error}", style="red", soft_wrap=True)
        sys.exit(1)
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C
            show.err.print("stopped; what was done is kept, and the same command goes on from there")
        raise
