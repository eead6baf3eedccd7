"""Put uPlot, the plotting library of the page, into the package: `make vendor`, which needs npm.

To take another version, change VERSION and INTEGRITY (`npm view uplot@VERSION dist.integrity`). The files, their
licence and their checksums go to src/breadth/service/page/vendor; a test compares them.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

VERSION = "1.6.32"
INTEGRITY = "sha512-KIMVnG68zvu5XXUbC4LQEPnhwOxBuLyW1AHtpm6IKTXImkbLgkMy+jabjLgSLMasNuGGzQm/ep3tOkyTxpiQIw=="
FILES = {
    "package/dist/uPlot.iife.min.js": "uPlot.iife.min.js",
    "package/dist/uPlot.min.css": "uPlot.min.css",
    "package/LICENSE": "uPlot.LICENSE",
}
FOLDER = Path(__file__).parent.parent / "src" / "breadth" / "service" / "page" / "vendor"


def main() -> None:
    """Fetch the package, check it, and write its files."""
    with tempfile.TemporaryDirectory() as folder:
        command = ["npm", "pack", "--silent", f"uplot@{VERSION}"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
        (archive,) = Path(folder).glob("*.tgz")
        seen = "sha512-" + base64.b64encode(hashlib.sha512(archive.read_bytes()).digest()).decode()
        if seen != INTEGRITY:
            sys.exit(f"uplot {VERSION} has the checksum {seen}, but {INTEGRITY} is expected")
        with tarfile.open(archive) as opened:
            contents = {name: _read(opened, member) for member, name in FILES.items()}
    FOLDER.mkdir(exist_ok=True)
    for name, content in contents.items():
        (FOLDER / name).write_bytes(content)
    sums = {name: hashlib.sha256(content).hexdigest() for name, content in contents.items()}
    facts = {"name": "uplot", "version": VERSION, "licence": "MIT", "integrity": INTEGRITY, "sha256": sums}
    (FOLDER / "uplot.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")


def _read(archive: tarfile.TarFile, member: str) -> bytes:
    opened = archive.extractfile(member)
    if opened is None:
        sys.exit(f"uplot {VERSION} has no file {member}")
    return opened.read()


if __name__ == "__main__":
    main()
