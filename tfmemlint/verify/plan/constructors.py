"""What constructors of libraries ask for that no code of the project gives them."""

from __future__ import annotations

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.file import File
from tfmemlint.syntax.tree import walk
from tfmemlint.verify.child.usual import usual

REST = (knowledge.Kind.ARGUMENTS, knowledge.Kind.KEYWORDS)
WIDTH = 10
"""Numbers of a layer that are made up where only its class tells of them."""


def required(name: str | None) -> str | None:
    """Arguments for all that the constructor of a class of a library asks for, numbers and texts by their names; None
    where it asks for nothing that is known, or for more."""
    signature = knowledge.signature(name) if name is not None else None
    if signature is None:
        return None
    asked = [each.name for each in signature.parameters if each.default is knowledge.REQUIRED and each.kind not in REST]
    values = [usual(each) for each in asked]
    if not values or not all(isinstance(each, (int, float, str)) for each in values):
        return None
    made = (WIDTH if value == usual("units") else value for value in values)
    return ", ".join(f"{each}={value!r}" for each, value in zip(asked, made, strict=True))


def of_base(file: File, scope: cst.ClassDef) -> str | None:
    """What the constructor asks for that a class takes over from one of a library."""
    return required(file.values.classes.bases(scope)[0])


def handed_on(file: File, constructor: cst.FunctionDef) -> str | None:
    """What a constructor asks for by its `**kwargs`, which are all that it gives to a class of a library."""
    rest = constructor.params.star_kwarg
    for call in walk(constructor, cst.Call) if rest is not None else ():
        only = call.args[0] if len(call.args) == 1 else None
        given = only.value if only is not None and only.star == "**" else None
        if rest is not None and isinstance(given, cst.Name) and given.value == rest.name.value:
            found = required(file.call(call).name)
            if found is not None:
                return found
    return None
