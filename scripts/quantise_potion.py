"""Make the files of the built-in encoder from potion-base-8M.

    python scripts/quantise_potion.py FOLDER

FOLDER holds the model as its authors publish it (model.safetensors, tokenizer.json). The script needs
`pip install safetensors`. It turns each row of the table into int8 codes and a scale, and keeps the tokenizer as it is,
without white space.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file

TARGET = Path(__file__).parent.parent / "src" / "breadth" / "encoders" / "data"


def main(folder: Path) -> None:
    table = load_file(folder / "model.safetensors")["embeddings"].astype(np.float32)
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    scales = np.abs(table).max(axis=1) / 127.0
    codes = np.rint(table / np.where(scales > 0.0, scales, 1.0)[:, None]).astype(np.int8)
    TARGET.mkdir(parents=True, exist_ok=True)
    unknown = tokenizer["model"]["vocab"][tokenizer["model"]["unk_token"]]
    np.savez_compressed(TARGET / "potion-base-8M-int8.npz", codes=codes, scales=scales, unknown=unknown)
    small = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (TARGET / "potion-base-8M-tokenizer.json").write_text(small, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
