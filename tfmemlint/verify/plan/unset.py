"""What a program reads that nothing in it has set: attributes of its own classes, names that are None until some other
part of the project sets them."""

from __future__ import annotations

import re
from dataclasses import dataclass

import libcst as cst

from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.across import Slices
from tfmemlint.verify.plan.settings import fields_of
from tfmemlint.verify.run.runs import Run

NO_ATTRIBUTE = re.compile(r"'(\w+)' object has no attribute '(\w+)'")


@dataclass(frozen=True)
class Unset:
    """A line to put behind a statement, so that something is there; `words` say what was made up."""

    statement: Node
    line: str
    words: str


def unset(slices: Slices, run: Run) -> Unset | None:
    """What a run failed for that nothing in the program has set, made up by its name; None for other errors."""
    found = NO_ATTRIBUTE.search(run.error.message) if run.error is not None else None
    if found is None or run.error is None or run.error.type != "AttributeError":
        return None
    owner, attribute = found.groups()
    for part in slices:
        for unit in part.kept.values():
            if isinstance(part.file.tree.parent(unit), cst.Module):
                name = _is_none(unit)
                if isinstance(unit, cst.ClassDef) and unit.name.value == owner:
                    made = f'{owner}.{attribute} = tfmemlint_thing("{owner}").{attribute}'
                    return Unset(unit, made, f"{attribute} of {owner} is made up: nothing in the program sets it")
                if owner == "NoneType" and name is not None and f"{name}.{attribute}" in _texts(slices):
                    texts = _texts(slices)
                    fields = fields_of([each.home for each in slices], name, texts)
                    made = f'{name} = tfmemlint_settings("{name}"{fields})'
                    return Unset(unit, made, f"{name} is made up as settings of usual values: here it is None")
    return None


def _is_none(unit: Node) -> str | None:
    """The name that a statement sets to None."""
    small = unit.body[0] if isinstance(unit, cst.SimpleStatementLine) and len(unit.body) == 1 else None
    if not isinstance(small, cst.Assign) or len(small.targets) != 1:
        return None
    target, value = small.targets[0].target, small.value
    nothing = isinstance(value, cst.Name) and value.value == "None"
    return target.value if nothing and isinstance(target, cst.Name) else None


def _texts(slices: Slices) -> str:
    return "\n".join(part.home.source.text for part in slices)
