"""Writes what a callable takes as one line of text, such as `shape,dtype='float32',*,name=None`.

Runs only inside a probe's child process.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

LONGEST_DEFAULT = 48


def signature_text(value: Any, *, bound: bool = False) -> str | None:
    """The parameters as Python writes them, with `...` for a default that is no literal; None where unknown.

    `bound` leaves out the first parameter, as for a method reached through an instance.
    """
    parameters = _parameters(value)
    if parameters is None:
        return None
    if bound and parameters and parameters[0].kind in (0, 1):
        parameters = parameters[1:]
    words: list[str] = []
    starred = False
    for index, parameter in enumerate(parameters):
        if parameter.kind is parameter.KEYWORD_ONLY and not starred:
            words.append("*")
            starred = True
        starred = starred or parameter.kind is parameter.VAR_POSITIONAL
        words.append(_word(parameter))
        after = parameters[index + 1 : index + 2]
        if parameter.kind is parameter.POSITIONAL_ONLY and (not after or after[0].kind != parameter.kind):
            words.append("/")
    return ",".join(words)


def constructor_text(cls: type) -> str | None:
    """What calling the class takes, without `self`."""
    fields = getattr(getattr(cls, "DESCRIPTOR", None), "fields_by_name", None)
    if fields is not None:
        return ",".join(["*", *(f"{name}=None" for name in fields)])
    init = inspect.getattr_static(cls, "__init__")
    if init is not object.__init__ and inspect.isfunction(inspect.unwrap(init)):
        return signature_text(init, bound=True)
    if inspect.isfunction(inspect.unwrap(cls.__new__)):
        return signature_text(cls.__new__, bound=True)
    return signature_text(cls)


def _parameters(value: Any) -> list[inspect.Parameter] | None:
    try:
        return list(inspect.signature(value).parameters.values())
    except (TypeError, ValueError):
        pass
    heading = re.match(r"\s*(\w+)\((.*)\)", (getattr(value, "__doc__", None) or "").split("\n")[0])
    if heading is None:
        return None
    text = re.sub(r"[\[\]]", "", heading[2]).split("->")[0]
    try:
        scope: dict[str, Any] = {}
        exec(f"def f({text}): pass", {"__builtins__": {}}, scope)
        return list(inspect.signature(scope["f"]).parameters.values())
    except (SyntaxError, NameError, ValueError):
        return None


def _word(parameter: inspect.Parameter) -> str:
    if parameter.kind is parameter.VAR_POSITIONAL:
        return f"*{parameter.name}"
    if parameter.kind is parameter.VAR_KEYWORD:
        return f"**{parameter.name}"
    if parameter.default is parameter.empty:
        return parameter.name
    return f"{parameter.name}={_default(parameter.default)}"


def _default(value: Any) -> str:
    if type(value).__name__ == "DType":
        return repr(value.name)
    if value in (float, int, bool) and isinstance(value, type):
        return repr(value.__name__)
    text = repr(value) if _is_literal(value) else "..."
    return text if len(text) <= LONGEST_DEFAULT and text.isprintable() else "..."


def _is_literal(value: Any) -> bool:
    if type(value) in (tuple, list):
        return all(_is_literal(item) for item in value)
    if type(value) is float:
        return value == value and abs(value) != float("inf")
    return value is None or type(value) in (bool, int, str)
