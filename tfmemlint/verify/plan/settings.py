"""What is known of the fields of settings that are made up."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from keyword import iskeyword

import libcst as cst

from tfmemlint.verify.plan.slicing import Home

COMPARED = r"""\b{}(?:\.(\w+)|\[["'](\w+)["']\])\s*(?:==|\bin\b)\s*[\[(]?\s*["']([^"'\\\n]+)["']"""

KEYED = r"""\b(\w+)\[(?:\w+\.)*{}(?:\.(\w+)|\[["'](\w+)["']\])\]"""
FIRST_KEY = r"""\b{}\s*=\s*\{{\s*["']([^"'\\\n]+)["']\s*:"""
"""Something of a dictionary that is taken by a setting, and the first key of a dictionary of that name."""


def fields_of(files: Sequence[Home], name: str, text: str, asked: Collection[str] | None = None) -> str:
    """Keyword arguments for settings of this name: the defaults that a parser of the command line has in these files,
    and texts that fields are compared with in a text, or that are keys of what is taken by them. Where `asked` is
    given, only those of its fields."""
    known = {field: code for file in files for field, code in _defaults(file) if asked is None or field in asked}
    texts = "\n".join((text, *(file.source.text for file in files)))
    for found in re.finditer(KEYED.format(re.escape(name)), text):
        key = re.search(FIRST_KEY.format(re.escape(found[1])), texts)
        if key is not None:
            known.setdefault(found[2] or found[3], repr(key[1]))
    for found in re.finditer(COMPARED.format(re.escape(name)), text):
        known.setdefault(found[1] or found[2], repr(found[3]))
    return "".join(f", {field}={code}" for field, code in known.items() if not iskeyword(field))


def _defaults(file: Home) -> Iterator[tuple[str, str]]:
    """The options of the command line that the file defines, with the code of their defaults."""
    for call in file.calls_by_word.get("add_argument", ()):
        first = call.args[0].value if call.args else None
        default = next((each.value for each in call.args if each.keyword and each.keyword.value == "default"), None)
        longest = [each.value for each in call.args if isinstance(each.value, cst.SimpleString) and not each.keyword]
        if first is None or not longest or not isinstance(default, (cst.SimpleString, cst.Integer, cst.Float)):
            continue
        name = str(longest[-1].evaluated_value).lstrip("-").replace("-", "_")
        if name.isidentifier():
            yield name, default.value
