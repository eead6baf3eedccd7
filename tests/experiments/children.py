"""Child processes of tests: interruptible whatever the tests' own process ignores, and gone when a test ends."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

_RUN_BREADTH = (
    "import runpy, signal; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "runpy.run_module('breadth', run_name='__main__', alter_sys=True)"
)
"""`python -m breadth` as started from a terminal. A background job of a shell, and its children, ignore Ctrl-C."""


@contextmanager
def running(command: list[str], **options: Any) -> Iterator[subprocess.Popen[str]]:
    """A process in a session of its own. At the end of the block it and its children are killed."""
    process = subprocess.Popen(command, text=True, start_new_session=True, **options)
    try:
        yield process
    finally:
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError):  # all of them have ended
                os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
        process.communicate()


def breadth_command(*arguments: object) -> list[str]:
    """A `breadth` command that Ctrl-C interrupts."""
    return [sys.executable, "-c", _RUN_BREADTH, *map(str, arguments)]
