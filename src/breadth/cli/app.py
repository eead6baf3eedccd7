"""The command line: one file for each group of commands, all listed here."""

from __future__ import annotations

import re
import sqlite3
import sys
from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Annotated

import typer

import breadth
from breadth.cli import console
from breadth.cli.agents import mcp
from breadth.cli.comparing import compare, frontier
from breadth.cli.demo import demo
from breadth.cli.diagnosing import calibrate, diagnose
from breadth.cli.doctor import doctor
from breadth.cli.indexing import index
from breadth.cli.managing import check, delete, export, info
from breadth.cli.searching import search
from breadth.cli.serving import serve
from breadth.errors import BreadthError

_KEPT = "; what was done is kept: run the same command to continue"

app = typer.Typer(
    name="breadth",
    help="Choose the k passages that together serve a query best: relevant, without copies, with a proof.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        console.print_line(f"breadth {breadth.__version__}")
        raise typer.Exit


@app.callback()
def _begin(
    version: Annotated[
        bool, typer.Option("--version", help="show the version", callback=_print_version, is_eager=True)
    ] = False,
) -> None:
    pass


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
            console.print_note(
                f"warning: `breadth {plugin.name}` is not available, because {package} cannot be loaded ({reason}); "
                "install a version that fits, or uninstall it"
            )
        else:
            app.add_typer(commands, name=plugin.name)


COMMANDS: dict[Callable[..., None], str] = {
    index: "make an index from files, or add to one",
    search: "the set that serves a query best",
    compare: "that set beside plain top-k",
    frontier: "what a query allows, θ by θ",
    diagnose: "does your collection need this?",
    calibrate: "does the encoder bring copies together?",
    info: "what an index holds",
    export: "passages as JSON lines",
    delete: "delete passages",
    check: "is an index whole?",
    demo: "try the commands on passages that come along",
    doctor: "what is installed, and does it work?",
    mcp: "serve an index to an agent (MCP)",
    serve: "serve an index or an engine over HTTP",
}
"""All commands, with what they do in a few words: more would be cut off in the help."""

_add_plugins()
for command, summary in COMMANDS.items():
    app.command(short_help=summary)(command)


def run() -> None:
    """Run the command line. An error of ours is one line on the error stream, and the exit code is 1."""
    try:
        app(prog_name="breadth")
    except BrokenPipeError:  # whoever reads our output, `head` for example, has seen enough
        sys.stderr.close()
        sys.exit(1)
    except (BreadthError, OSError, sqlite3.Error, UnicodeError) as error:
        console.print_error(_name_options(str(error)))
        sys.exit(1)
    except MemoryError:
        console.print_error("there is not enough memory")
        sys.exit(1)
    except SystemExit as end:
        if end.code == 130:  # Ctrl-C
            console.print_note("stopped" + (_KEPT if {"index", "experiment"} & set(sys.argv[1:2]) else ""))
        raise


def _name_options(message: str) -> str:
    """Call arguments of the library, `pool=`, as the command line does: `--pool`."""
    return re.sub(r"\b([a-z_]+)=(?![^\s,;.)])", lambda found: "--" + found[1].replace("_", "-"), message)
