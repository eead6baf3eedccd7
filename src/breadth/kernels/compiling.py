"""What goes around the compiler: a word to the user while it works, and a place for what it makes.

Numba keeps compiled code beside the source, or else in the user's cache folder. Where it can write to neither (a
read-only system, a user without a home), the code goes into a private temporary folder.
"""

from __future__ import annotations

import logging
import os
import pickle
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

from numba import config
from numba.core import event

_PACKAGE = "breadth.kernels"
_KERNELS = f"{_PACKAGE}.numba"
_log = logging.getLogger("breadth")


def import_kernels() -> ModuleType:
    """Import the compiled kernels, and compile them if that has not been done yet."""
    _forget_old_code()
    with _announce():
        try:
            return import_module(_KERNELS)
        except (OSError, EOFError, pickle.UnpicklingError, RuntimeError) as error:
            if isinstance(error, RuntimeError) and "cannot cache" not in str(error):
                raise
            folder = _make_folder()
            _log.warning(
                "numba cannot keep compiled code in its usual places (%s), so it is kept in %s; "
                "set NUMBA_CACHE_DIR to a folder that you can write to",
                " ".join(str(error).split()),
                folder,
            )
            with _keep_in(folder):
                return import_module(_KERNELS)


def _forget_old_code() -> None:
    """Remove the code that is kept beside the source if any file that goes into it is newer.

    Numba compares with the file of a function alone, but compiled functions call those of other files.
    """
    folder = Path(__file__).parent
    sources = [*folder.rglob("*.py"), *(folder.parent / f"{name}.py" for name in ("problem", "feasible"))]
    try:
        newest = max(source.stat().st_mtime for source in sources)
        kept = list(folder.rglob("*.nb[ic]"))
        if kept and min(file.stat().st_mtime for file in kept) < newest:
            for file in kept:
                file.unlink(missing_ok=True)
    except OSError:  # a read-only folder, or another process that does the same
        return


class _Notice(event.Listener):
    """Says once that the kernels are being compiled. Loading compiled code takes no time worth a word."""

    def __init__(self) -> None:
        self._said = False

    def on_start(self, what: Any) -> None:
        function = getattr(what.data.get("dispatcher"), "py_func", None)
        if not self._said and str(getattr(function, "__module__", "")).startswith(_PACKAGE):
            self._said = True
            _log.warning("compiling breadth's kernels, which takes one to two minutes; this happens once")

    def on_end(self, what: Any) -> None:
        pass


@contextmanager
def _announce() -> Iterator[None]:
    with event.install_listener("numba:compile", _Notice()):
        yield


@contextmanager
def _keep_in(folder: Path) -> Iterator[None]:
    """Let numba keep the code that is compiled inside in this folder."""
    settings: Any = config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder)
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def _make_folder() -> Path:
    """A folder that nobody else can write to: loading compiled code runs it."""
    owner = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir()) / f"breadth-kernels-{owner}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        others = hasattr(os, "getuid") and (found.st_uid != owner or stat.S_IMODE(found.st_mode) & 0o077)
        if stat.S_ISDIR(found.st_mode) and not others:
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix="breadth-kernels-"))
