"""End a process that writes to an index with kill -9, and see whether what it had reported is there, and whole."""

from __future__ import annotations

import os
import subprocess
import sys
import time

import numpy as np

from breadth.index import Document, Index
from tests.index.letters import CHILD, Letters

SIZE, BATCHES = 12, 6
"""Documents of a batch, which change together, and how many batches there are."""

_CHILD = """
import sys
import numpy as np
from breadth.index import Index, merging
from tests.index.kills import make
from tests.index.letters import Letters

merging.FLUSH, merging.FANOUT = 15, 3
path, only, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
rng = np.random.default_rng(seed)
version = seed * 1_000_000
with Index.open(path, Letters()) as index:
    while True:
        batch, version = int(rng.integers(6)), version + 1
        print("begin", only, batch, version, flush=True)
        if only == "add":
            index.add(make("new", version))
        elif only == "update":
            index.update(make(batch, version))
        elif only == "delete":
            index.delete([document.id for document in make(batch, 0)])
        else:
            index.optimize()
        print("done", only, batch, version, flush=True)
        if only == "delete":  # so that there is something to delete again
            print("begin", "update", batch, version, flush=True)
            index.update(make(batch, version))
            print("done", "update", batch, version, flush=True)
        if only == "optimize":
            print("begin", "update", batch, version, flush=True)
            index.update(make(batch, version))
            print("done", "update", batch, version, flush=True)
"""


def make(batch, version):
    """The documents of a batch in a version; their ids are the same in all versions, but for new ones."""
    name = f"{batch} {version}" if batch == "new" else str(batch)
    return [
        Document(f"{name}/{i}", f"asthma version {version} of {i}", {"batch": str(batch), "version": version})
        for i in range(SIZE)
    ]


def create(path):
    """An index with all batches in version 0."""
    with Index.create(path, Letters()) as index:
        for batch in range(BATCHES):
            index.add(make(batch, 0))


def kill_while(path, what, seed, after):
    """Kill a process that adds, updates, deletes or optimizes after so many seconds. Return what is wrong then."""
    before = read_state(path)
    environment = {**os.environ, **CHILD}
    command = [sys.executable, "-c", _CHILD, str(path), what, str(seed)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        try:
            reported = [process.stdout.readline()]  # it is at work
            time.sleep(after)
        finally:
            process.kill()  # SIGKILL; also if this is stopped, so that no process is left behind
        reported += process.stdout.readlines()
    return judge(path, before, [line.split() for line in reported if line.endswith("\n")])


def judge(path, before, reported):
    """Compare the index with what was reported: what was done is there, and what was begun is there whole or not."""
    allowed = {batch: {version} for batch, version in before.items()}
    new = set()
    for stage, what, batch, version in reported:
        if what in ("update", "delete"):
            after = int(version) if what == "update" else None
            allowed[batch] = {after} if stage == "done" else {*allowed[batch], after}
        elif what == "add" and stage == "done":
            new.add(int(version))
    now, problems = read_state(path), []
    for batch, versions in allowed.items():
        if batch != "new" and now.get(batch) not in versions:
            problems.append(f"batch {batch} is {now.get(batch)}, allowed are {versions}")
    with Index.open(path, Letters()) as index:
        there = {d.metadata["version"] for d in index if d.metadata["batch"] == "new"}
        problems += [f"the added documents {version} are lost" for version in new - there]
        problems += index.check().problems
    return problems


def read_state(path):
    """The version of every batch, None where it is deleted. A batch whose documents differ is an error."""
    with Index.open(path, Letters()) as index:
        versions: dict = {str(batch): [] for batch in range(BATCHES)}
        added: dict = {}
        for document in index:
            batch, version = document.metadata["batch"], document.metadata["version"]
            (added if batch == "new" else versions).setdefault(version if batch == "new" else batch, []).append(version)
        searched = index.search(np.eye(26, dtype=np.float32)[0], k=1, theta=1.0).searched
        assert searched == len(index), "vectors and documents differ"
    for batch, own in [*versions.items(), *added.items()]:
        assert len(own) in (0, SIZE), f"{len(own)} documents of batch {batch}"
        assert len(set(own)) <= 1, f"batch {batch} is mixed: {own}"
    return {batch: own[0] if own else None for batch, own in versions.items()}
