"""The kinds of inputs, by their names."""

from __future__ import annotations

from ..case import Kind
from . import comments, documents, library, results, settings, stress, tokens, wrapped

KINDS: dict[str, Kind] = {
    module.KIND.name: module.KIND
    for module in (library, tokens, wrapped, documents, stress, results, settings, comments)
}
