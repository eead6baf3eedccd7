"""The command line. `main` is the entry point, and loads everything else when it is called."""

from __future__ import annotations

import sys

from breadth.errors import hint_install


def main() -> None:
    """Run the command line, or say how to install it if its extra is missing."""
    try:
        import rich
        import typer
    except ImportError as error:
        sys.exit(f"the command line needs {error.name}; {hint_install('text')}")
    from breadth.cli.app import run

    assert rich
    assert typer
    run()
