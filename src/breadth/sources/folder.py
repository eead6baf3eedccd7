"""Folders of text files: each file is a document."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from breadth.errors import InputError
from breadth.sources.files import MOST_BYTES, TOO_LONG, find_kind, find_other_encoding
from breadth.sources.source import Record, Skipped, Source

TEXT_ENDINGS = (".txt", ".md", ".rst")
"""Files of a folder that are read."""


@dataclass
class Listing:
    """What a folder holds: the files to read with their names inside the folder, and what is left out."""

    files: list[tuple[str, Path]] = field(default_factory=list)
    left_out: list[Skipped] = field(default_factory=list)
    total_bytes: int = 0


def list_folder(folder: Path) -> Listing:
    """List the text files of a folder and its subfolders.

    Hidden files and folders are left out, and so is what a link takes from outside the folder.
    """
    listing = Listing()
    root = folder.resolve()

    def report(error: OSError) -> None:
        inside = Path(error.filename).relative_to(folder).as_posix() if error.filename else "."
        listing.left_out.append(Skipped(inside, f"the folder cannot be read: {error.strerror}"))

    for path, folders, files in os.walk(folder, onerror=report):
        place = Path(path)
        for name in sorted((*folders, *files)):
            reason = _find_reason(place / name, root, name in folders)
            inside = (place / name).relative_to(folder).as_posix()
            if reason:
                listing.left_out.append(Skipped(inside, reason))
            elif name in files:
                listing.files.append((inside, place / name))
                listing.total_bytes += (place / name).stat().st_size
        folders[:] = sorted(name for name in folders if not name.startswith("."))
    listing.files.sort()
    return listing


def _find_reason(path: Path, root: Path, is_folder: bool) -> str:
    """Why something in a folder is left out; an empty text if it is not."""
    if path.name.startswith("."):
        return "hidden"
    if is_folder:
        return "a link to a folder; links to folders are not followed" if path.is_symlink() else ""
    try:
        kind = find_kind(path)
    except OSError as error:
        return "a link that leads nowhere" if path.is_symlink() else f"cannot be read: {error.strerror}"
    if kind:
        return f"{kind}, not a file"
    if path.suffix.lower() not in TEXT_ENDINGS:
        return f"not a {', '.join(TEXT_ENDINGS)} file"
    if path.is_symlink() and not path.resolve().is_relative_to(root):
        return "a link to a file outside the folder"
    return ""


def make_folder_source(folder: Path) -> Source:
    """Return the source of a folder; it must hold a file that can be read."""
    listing = list_folder(folder)
    if not listing.files:
        raise InputError(f"{folder} holds no {', '.join(TEXT_ENDINGS)} file{_describe_others(listing)}")

    def read(source: Source) -> Iterator[Record]:
        for one in listing.left_out:
            source.skip(one.where, one.reason)
        for name, path in listing.files:
            yield from _read_file(source, name, path)

    return Source(folder, read, listing.total_bytes)


def _describe_others(listing: Listing) -> str:
    """What a folder without text files holds instead, for a message."""
    endings = Counter(Path(one.where).suffix or "other" for one in listing.left_out)
    seen = ", ".join(f"{count:,} {ending}" for ending, count in endings.most_common(5))
    return f"; it holds {seen} (name one of these files to read it alone)" if seen else "; it is empty"


def _read_file(source: Source, name: str, path: Path) -> Iterator[Record]:
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
    except OSError as error:
        source.skip(name, f"cannot be read: {error.strerror}")
        return
    source.read_bytes += len(data)
    other = find_other_encoding(data[:4])
    if len(data) > MOST_BYTES:
        source.skip(name, f"the file is {TOO_LONG}")
    elif other:
        source.skip(name, f"{other}; save it as UTF-8")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            source.skip(name, f"not UTF-8: {error.reason} at byte {error.start}")
        else:
            yield name, {"id": name, "text": text, "file": name}
