"""How values are shown: safe in a terminal, as a table in a notebook, short in a repr."""

from __future__ import annotations

import html
import unicodedata
from collections.abc import Iterable, Sequence

_HIDDEN = ("Cc", "Cs", "Zl", "Zp")
"""Kinds of characters that are shown escaped: control characters, halves of a character, separators of lines."""
_TURNS = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Characters that change the direction of the text around them: with them, a text can look like another one."""
_LISTED = 6
"""How many entries of a list a repr shows."""


def escape_controls(text: str) -> str:
    r"""Show characters that could steer a terminal, or hide what a text says, in the way of a repr: ``\x1b``."""
    if text.isprintable():
        return text
    return "".join(repr(c)[1:-1] if c in _TURNS or unicodedata.category(c) in _HIDDEN else c for c in text)


def shorten(text: str, length: int) -> str:
    """Return the text on one line, cut to so many characters."""
    words = " ".join(text.split())
    return words if len(words) <= length else words[: length - 1] + "…"


def list_briefly(items: Sequence[object], count: int = _LISTED) -> str:
    """List the first entries as a repr does: ``['a', 'b', … 10 in all]``."""
    shown = [repr(item) for item in items[:count]]
    if len(items) > count:
        shown.append(f"… {len(items)} in all")
    return f"[{', '.join(shown)}]"


def format_number(value: float | None, digits: int = 4) -> str:
    """Return a number as a table shows it; a dash where there is none."""
    return "–" if value is None else f"{value:.{digits}f}"


def make_html_table(heads: Sequence[str], rows: Iterable[Sequence[object]], caption: str = "") -> str:
    """Make a table for a notebook. All texts are escaped; what is not a text stands on the right."""
    lines = ["<table>"]
    if caption:
        lines.append(f'<caption style="text-align:left">{_escape_html(caption)}</caption>')
    lines.append(f"<thead><tr>{''.join(f'<th>{_escape_html(head)}</th>' for head in heads)}</tr></thead>")
    lines.append("<tbody>")
    for row in rows:
        lines.append(f"<tr>{''.join(_make_cell(cell) for cell in row)}</tr>")
    return "\n".join([*lines, "</tbody>", "</table>"])


def _make_cell(cell: object) -> str:
    if isinstance(cell, str):
        return f'<td style="text-align:left">{_escape_html(cell)}</td>'
    shown = format_number(cell) if cell is None or isinstance(cell, float) else str(cell)
    return f'<td style="text-align:right">{_escape_html(shown)}</td>'


def _escape_html(text: str) -> str:
    return html.escape(escape_controls(text))
