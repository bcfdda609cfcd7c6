"""Estimates for people and programs: one module a format, each with a function `render` from estimates to text."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from tfmemlint.report.estimates.reported import Options, Reported

__all__ = ["FORMATS", "Options", "Reported", "render"]

FORMATS = ("text", "json", "github", "svg", "html")
"""The names of the formats, as `estimate --output-format` takes them."""

_MODULES = {"github": "markdown"}


def render(format_name: str, found: Sequence[Reported], options: Options) -> str:
    """The estimates in one of FORMATS."""
    module = importlib.import_module(f"tfmemlint.report.estimates.{_MODULES.get(format_name, format_name)}")
    text: str = module.render(found, options)
    return text
