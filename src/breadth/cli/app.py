"""The command line: one file for each group of commands, all listed here."""

from __future__ import annotations

import sqlite3
import sys
from importlib.metadata import entry_points

import typer

from breadth.cli import show
from breadth.cli.agents import mcp
from breadth.cli.demo import demo
from breadth.cli.diagnosing import diagnose
from breadth.cli.doctor import doctor
from breadth.cli.indexing import index
from breadth.cli.searching import compare, frontier, search
from breadth.errors import BreadthError

app = typer.Typer(
    name="breadth",
    help="Choose the k passages that together serve a query best: relevant, without copies, with a proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _add_plugins() -> None:
    """Add the commands of other installed packages. A package that fails is reported and left out."""
    for plugin in entry_points(group="breadth.commands"):
        try:
            commands = plugin.load()
            if not isinstance(commands, typer.Typer):
                raise TypeError(f"{plugin.value} must be a typer.Typer, got {type(commands).__name__}")
            typer.main.get_command(commands)  # a command that typer cannot build would fail only when it is called
        except Exception as error:  # whatever a package raises, the commands of breadth must still work
            reason = " ".join(f"{type(error).__name__}: {error}".split())
            package = plugin.dist.name if plugin.dist else plugin.value
            show.err.print(
                f"warning: `breadth {plugin.name}` is not available, because {package} cannot be loaded ({reason}); "
                "install a version that fits, or uninstall it",
                soft_wrap=True,
            )
        else:
            app.add_typer(commands, name=plugin.name)


_add_plugins()
for command in (index, search, compare, frontier, diagnose, demo, doctor, mcp):
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
