"""The imports of a program as its text has them, for those who do not parse it."""

from __future__ import annotations

import re
from collections.abc import Iterator

_LINE = r"(?:[^\\\n]|\\\r?\n?)*"
_FROM = rf"from[^\S\n]+([.\w]+)[^\S\n]+import[^\S\n]*(\((?:[^)#]|#[^\n]*\n)*\)|{_LINE})"
_STATEMENT = rf"(?:{_FROM}|import[^\S\n]+({_LINE}))"
_IMPORT = re.compile(rf"^[^\S\n]*{_STATEMENT}", re.MULTILINE)
_IN_NO_BLOCK = re.compile(rf"^{_STATEMENT}", re.MULTILINE)
_NAME = re.compile(r"(?:^|,)(?:[\s(\\]|#[^\n]*\n)*([\w.]+)")


def imported_names(text: str, *, in_blocks: bool = True) -> Iterator[str]:
    """The dotted names that the import statements of a program lead to; there may be more than are modules. Those in
    functions, `if` and `try` count if `in_blocks`."""
    for match in (_IMPORT if in_blocks else _IN_NO_BLOCK).finditer(text):
        module, names, modules = match.groups()
        if module is None:
            yield from _NAME.findall(modules)
            continue
        yield module
        between = "" if module.endswith(".") else "."
        yield from (f"{module}{between}{name}" for name in _NAME.findall(names))
