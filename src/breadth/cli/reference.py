"""The command line reference, written from the commands themselves: python -m breadth.cli.reference > docs/cli.md"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import typer

from breadth.cli.app import app

_OPENING = """\
# Command line

Written by `python -m breadth.cli.reference`. {help}

`--json` gives machine-readable output. The exit code is 0, 1 after an error (one line on the error stream), 2 after a
wrong call, and 3 with `--strict` if records were skipped. `breadth --install-completion` sets up completion in your
shell.
"""


def text() -> str:
    """Return the page."""
    root: Any = typer.main.get_command(app)
    lines = [_OPENING.format(help=root.help)]
    for name, command in _list_commands(root, ""):
        arguments = [p for p in command.params if p.param_type_name == "argument"]
        options = [p for p in command.params if p.param_type_name == "option"]
        usage = " ".join(["breadth", name, *(p.metavar or p.name.upper() for p in arguments), "[OPTIONS]"])
        lines += [f"## breadth {name}", "", command.help, "", f"    {usage}", ""]
        lines += [f"- `{p.metavar or p.name.upper()}`: {p.help}" for p in arguments if p.help]
        lines += [_describe_option(p) for p in options]
        lines += [""]
    return "\n".join(lines)


def _list_commands(group: Any, before: str) -> Iterator[tuple[str, Any]]:
    """Yield the full name of every command, and the command."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from _list_commands(command, f"{before}{name} ")
        else:
            yield f"{before}{name}", command


def _describe_option(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in option.opts)
    default = "" if option.default in (None, False) or option.is_flag else f" (default {option.default})"
    required = " (required)" if option.required else ""
    return f"- {names}: {option.help}{default}{required}"


if __name__ == "__main__":
    sys.stdout.write(text())
