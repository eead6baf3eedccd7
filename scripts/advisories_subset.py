"""Make src/breadth/cli/data/advisories.jsonl.gz, passages of `breadth demo`, from the PyPA advisory database.

    python scripts/advisories_subset.py PASSAGES.jsonl

PASSAGES.jsonl has lines with `id`, `text`, `package`, `year` and `fixed`. All passages about Ansible, Django and Pillow
are taken, and of those about TensorFlow the first 40 texts, with every advisory that repeats them for another build.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

TARGET = Path(__file__).parent.parent / "src" / "breadth" / "cli" / "data" / "advisories.jsonl.gz"
PACKAGES = ("ansible", "django", "pillow")
TEXTS = 40
FIELDS = ("id", "text", "package", "year", "fixed")


def main() -> None:
    lines = [json.loads(line) for line in Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()]
    built = [line for line in lines if line["package"].startswith("tensorflow")]
    texts = set(list(dict.fromkeys(line["text"] for line in built))[:TEXTS])
    kept = [line for line in lines if line["package"] in PACKAGES]
    kept += [line for line in built if line["text"] in texts]
    packed = "".join(json.dumps({name: line[name] for name in FIELDS}, ensure_ascii=False) + "\n" for line in kept)
    TARGET.write_bytes(gzip.compress(packed.encode("utf-8"), mtime=0))
    sys.stdout.write(f"{len(kept)} passages, {len({line['text'] for line in kept})} different texts\n")


if __name__ == "__main__":
    main()
