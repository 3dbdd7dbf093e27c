"""Texts on their way into the page."""

from __future__ import annotations

import html
from typing import Any


def shown(value: Any, longest: int = 400) -> str:
    """A value from the record as page text: escaped, ASCII, no control or direction characters, of bounded length."""
    text = value if isinstance(value, str) else "" if value is None else str(value)
    if len(text) > longest:
        text = text[:longest] + "..."
    visible = "".join(each if each.isprintable() else f"\\u{ord(each):04x}" for each in text)
    return html.escape(visible, quote=True).encode("ascii", "xmlcharrefreplace").decode("ascii")


def code(value: Any) -> str:
    """An identifier, a hash or a refusal code."""
    return f"<code>{shown(value)}</code>"


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    """A table of cells that are page text already."""
    if not rows:
        return "<p>None.</p>\n"
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>\n" for row in rows)
    return f'<div class="wide"><table><thead><tr>{top}</tr></thead><tbody>\n{body}</tbody></table></div>\n'
