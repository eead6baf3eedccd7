"""What a release consists of, built as `make dist` does."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from email.message import Message
from email.parser import Parser
from pathlib import Path

ROOT = Path(__file__).parents[2]
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "*.egg-info", "build", "dist")


@dataclass(frozen=True)
class Built:
    """What `python -m build` made: the source distribution, and the wheel from that."""

    wheel: Path
    sdist: Path

    def names(self) -> set[str]:
        with zipfile.ZipFile(self.wheel) as archive:
            return set(archive.namelist())

    def metadata(self) -> Message:
        (path,) = (name for name in self.names() if name.endswith(".dist-info/METADATA"))
        with zipfile.ZipFile(self.wheel) as archive:
            return Parser().parsestr(archive.read(path).decode("utf-8"))


def build(source: Path, out: Path) -> Built:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", out, source]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    return Built(wheel, sdist)


def copy_tree(folder: Path) -> Path:
    """A copy of the repository: building leaves files behind."""
    return Path(shutil.copytree(ROOT, folder, ignore=LEFT_OUT))
