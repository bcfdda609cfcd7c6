"""Where the documentation lies on the web, the one base of all addresses that the tool prints.

It is the address that the package's own metadata names as its documentation (`[project.urls]` of pyproject.toml), which
`make docs` builds the site for. Where none is named there is no address, and reports say null.
"""

from __future__ import annotations

import re
from functools import cache

_NAMED = re.compile(r"^Project-URL:\s*documentation\s*,\s*(https?://\S+)\s*$", re.IGNORECASE | re.MULTILINE)
_OURS = re.compile(r"TFM\d{3}")


def page_url(code: str) -> str | None:
    """The address of a code's page on the web, or None where it has none, as those of other rule packs."""
    return f"{base()}rules/{code}/" if base() and _OURS.fullmatch(code) else None


@cache
def base() -> str:
    """The address of the site, ending in a slash; empty where the package's metadata names none."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        own = distribution("tfmemlint")
    except PackageNotFoundError:  # run from a folder that is not installed
        return ""
    # Not `metadata()`: its parser for mail is a tenth of the time that a short run takes.
    return named_in(own.read_text("METADATA") or own.read_text("PKG-INFO") or "")


def named_in(metadata: str) -> str:
    """The address that the text of a package's metadata names as its documentation, ending in a slash, or nothing."""
    found = _NAMED.search(metadata.partition("\n\n")[0])
    return found[1].rstrip("/") + "/" if found else ""
