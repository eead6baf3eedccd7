"""The service that `python -m benchmarks page` asks: `python -m benchmarks.page_worker INDEX QUESTIONS`."""

from __future__ import annotations

import logging.config
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from breadth.encoders import Encoder
from breadth.service.collections.index import ServedIndex
from breadth.service.logs import LOG_CONFIG, log_event
from breadth.service.running import Server, listen
from breadth.service.settings import Settings
from breadth.service.state import Service


class Questions:
    """An encoder that knows the vectors of "question 0", "question 1", …, so that they can be typed."""

    name = "questions of the benchmark"

    def __init__(self, vectors: np.ndarray) -> None:
        self._vectors = vectors.astype(np.float32)
        self.dim = vectors.shape[1]

    def encode(self, texts: Sequence[str], kind: str = "document") -> np.ndarray:
        return self._vectors[[int(text.removeprefix("question ")) for text in texts]]


def main(index: Path, questions: Path) -> None:
    """Serve the index on a free port; the log says which."""
    logging.config.dictConfig(LOG_CONFIG)
    encoder: Encoder = Questions(np.load(questions))
    settings = Settings(str(index), name="page", port=0)
    taken = listen(settings)
    service = Service(settings, lambda: ServedIndex(index, encoder))
    log_event("listening", port=taken.getsockname()[1])
    Server(service).run(sockets=[taken])


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
