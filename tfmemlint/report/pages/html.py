"""A page of HTML that needs nothing but itself: no script, no font, no picture from elsewhere."""

from __future__ import annotations

from html import escape
from importlib import resources

from tfmemlint.shown import shown as clean


def shown(text: str) -> str:
    """The text for a page, without characters that draw it in another place or order."""
    return escape(clean(text))


def shown_path(text: str) -> str:
    """A path for a page, broken after a slash where it is too long for its line."""
    return shown(text).replace("/", "/<wbr>")


def document(title: str, body: str) -> str:
    """A page with this body and the style of all pages."""
    style = resources.files("tfmemlint.report.pages").joinpath("page.css").read_text(encoding="utf-8")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>tfmemlint: {shown(title)}</title><style>\n{style}</style></head>"
        f"<body><main>\n{body}</main></body></html>\n"
    )
