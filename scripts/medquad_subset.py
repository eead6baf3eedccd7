"""Make src/breadth/cli/data/medquad.jsonl.gz, the passages of `breadth demo`, from MedQuAD.

    python scripts/medquad_subset.py QA_PAIRS.jsonl

The file keeps diseases that at least two sites write about, and the first 100 words of each answer: 3,000 passages.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

TARGET = Path(__file__).parent.parent / "src" / "breadth" / "cli" / "data" / "medquad.jsonl.gz"
PASSAGES, WORDS = 3000, 100


def main(path: Path) -> None:
    with path.open(encoding="utf-8") as lines:
        records = [record for record in map(json.loads, lines) if record["answer"].strip()]
    by_focus = defaultdict(list)
    for record in records:
        by_focus[record["focus"].strip().lower()].append(record)
    several = [group for group in by_focus.values() if len({r["source"] for r in group}) >= 2]
    several.sort(key=lambda group: (-len({r["source"] for r in group}), group[0]["focus"]))
    kept = [record for group in several for record in group][:PASSAGES]
    seen: Counter[str] = Counter()
    with TARGET.open("wb") as file, gzip.GzipFile("", "wb", 9, file, 0) as out:
        for record in sorted(kept, key=lambda r: r["pid"]):
            text = " ".join(record["answer"].split()[:WORDS])
            site = record["source"].split("_", 1)[1].removesuffix("_QA")
            seen[record["pid"]] += 1  # some stand twice, for other diseases
            identity = record["pid"] + "b" * (seen[record["pid"]] - 1)
            fields = {"id": identity, "text": text, "source": site, "focus": record["focus"]}
            fields |= {"type": record["qtype"], "question": record["question"], "url": record["url"]}
            out.write((json.dumps(fields, ensure_ascii=False) + "\n").encode())


if __name__ == "__main__":
    main(Path(sys.argv[1]))
