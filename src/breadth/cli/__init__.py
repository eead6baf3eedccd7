"""The command line. `main` is the entry point; everything else is loaded when it is called."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; without its extra, say how to get it."""
    try:
        import rich
        import typer
    except ImportError as error:
        sys.exit(f"the command line needs {error.name}: pip install 'breadth[text]'")
    from breadth.cli.app import run

    assert rich
    assert typer
    run()
