"""Which names hold the data of one step of a loop."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File

DRAWS = ("builtins.next", "tf.random.", "np.random.", "tf.keras.random.")
"""What draws data anew each time: an element of an iterator, random numbers."""


@once_per_file
def step_names(file: File, step: Node) -> Set[str]:
    """The names that hold this step's data: what the loop binds, what its body draws, and what it makes from these, not
    what it carries from step to step."""
    if isinstance(step, cst.BaseComp):
        return {n.value for n in walk(step.for_in.target, cst.Name)}
    found = {n.value for n in walk(step.target, cst.Name)} if isinstance(step, cst.For) else set()
    if isinstance(step, cst.FunctionDef):
        found = {p.name.value for p in parameters(step)} - {"self"}
    for assign in walk(step, cst.Assign):
        read = {n.value for n in walk(assign.value, cst.Name)}
        bound = {n.value for t in assign.targets for n in walk(t.target, cst.Name)}
        name = file.call(assign.value).name or "" if isinstance(assign.value, cst.Call) else ""
        if name.startswith(DRAWS) or (read & found and not read & bound):
            found |= bound
    return found
