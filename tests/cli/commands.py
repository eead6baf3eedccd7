"""Running commands in this process: a new process for each would take most of the time of the tests."""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

from breadth import cli


@dataclass(frozen=True)
class Done:
    """What a command printed, and its exit code."""

    stdout: str
    stderr: str
    returncode: int


def breadth(*arguments, code=0):
    """Run a command as the entry point does, and check its exit code."""
    streams = [io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2)]
    before, sys.argv = sys.argv, ["breadth", *map(str, arguments)]
    try:
        with redirect_stdout(streams[0]), redirect_stderr(streams[1]):
            cli.main()
        ended = 0
    except SystemExit as end:
        ended = end.code or 0
    finally:
        sys.argv = before
    printed = [stream.buffer.getvalue().decode() for stream in streams]
    assert ended == code, printed[1]
    return Done(*printed, ended)
