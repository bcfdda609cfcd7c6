"""What becomes of a list or dictionary that the iterations of a loop have filled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Const
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.uses import Does, uses
from tfmemlint.query.tracing.traces import runs_traced
from tfmemlint.syntax.scopes import dotted
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File

JOINS = ("tf.concat", "tf.stack")
MEANS = frozenset({"np.mean", "tf.reduce_mean", "tf.math.reduce_mean", "tf.experimental.numpy.mean"})


def joined_to_return(file: File, container: cst.BaseExpression) -> bool:
    """Whether a method of a model applies the model itself piece by piece, joins its list of outputs by TensorFlow and
    returns that: it is a forward pass, and whoever calls it may differentiate it."""
    home, path = file.contexts.function(container), dotted(container)
    if not isinstance(home, cst.FunctionDef) or not isinstance(container, cst.Name) or file.class_of(home) is None:
        return False
    own = (call for call in calls(file, home) if dotted(call.node.func) == "self")
    if not any(call.given("training") != Const(False) for call in own):
        return False
    found = (call.node for call in calls(file, home, *JOINS))
    joins = [join for join in found if any(n.value == path for n in walk(join, cst.Name)) and not _to_numpy(file, join)]
    for leaving in (each.value for each in file.returns(home) if each.value is not None):
        if any(n.attr.value == "numpy" for n in walk(leaving, cst.Attribute)):
            continue
        made = (d.value for name in walk(leaving, cst.Name) for d in file.definitions(name))
        parts = [leaving, *(value for value in made if isinstance(value, cst.BaseExpression))]
        if any(file.tree.contains(part, join) for part in parts for join in joins):
            return True
    return False


def _to_numpy(file: File, join: cst.Call) -> bool:
    return any(use.word == "numpy" for use in uses(file, join, attributes=True))


def read_as_tensors(file: File, container: cst.BaseExpression) -> bool:
    """Whether the items of a container have `.numpy()` called on them later: an array has no such method."""
    return _read_as_tensors(file, dotted(container) or "")


@once_per_file
def _read_as_tensors(file: File, path: str) -> bool:
    makings = [assign.value for assign in file.assigned_paths.get(path, ())]
    found = (use for made in makings for use in uses(file, made, parts=True, attributes=True))
    return any(use.word == "numpy" for use in found)


def only_averaged(file: File, container: cst.BaseExpression) -> bool:
    """Whether all that is done with a list, besides filling it, is to take the mean of all its numbers: they are values
    of a loss, for which nobody keeps what is large."""
    if not isinstance(container, cst.Name):
        return False
    return _only_averaged(file, container.value, file.contexts.function(container))


@once_per_file
def _only_averaged(file: File, name: str, home: cst.FunctionDef | cst.Lambda | None) -> bool:
    made = _makings_by_home(file, name).get(home, ())
    found = [use for each in made for use in uses(file, each.value)]
    taken = [use for use in found if use.does is not Does.METHOD or use.word not in ("append", "extend")]
    means = (use.call is not None and use.call.name in MEANS and len(use.call.node.args) == 1 for use in taken)
    return bool(taken) and all(means)


@once_per_file
def _makings_by_home(file: File, name: str) -> dict[cst.FunctionDef | cst.Lambda | None, list[cst.Assign]]:
    """The assignments to a name, by the functions in which they stand."""
    found: dict[cst.FunctionDef | cst.Lambda | None, list[cst.Assign]] = {}
    for assign in file.assigned_paths.get(name, ()):
        found.setdefault(file.contexts.function(assign), []).append(assign)
    return found


def traced_with(file: File, container: cst.BaseExpression) -> bool:
    """Whether traced code computes with the items of a container: targets of a loss, say, that must be tensors."""
    return _traced_with(file, dotted(container) or "")


@once_per_file
def _traced_with(file: File, path: str) -> bool:
    makings = [assign.value for assign in file.assigned_paths.get(path, ())]
    homes = {file.contexts.function(use.node) for made in makings for use in uses(file, made, parts=True)}
    return any(home is not None and runs_traced(file, home) for home in homes)
