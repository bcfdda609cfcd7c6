"""What the body of a Python loop does in traced code: whether it computes tensors, and what its items choose."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Array
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.stores import fills, is_container
from tfmemlint.query.tracing.python_values import is_python
from tfmemlint.syntax.names import Loop, variables
from tfmemlint.syntax.scopes import written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.query.repetition.repeats import Repetition

COLLECTS = ("append", "extend", "add", "insert")
"""Methods of lists and sets, which a loop of TensorFlow cannot call for each iteration."""

TAKES = (*COLLECTS, "assign", "assign_add", "assign_sub", "write")
"""Methods that are given what an iteration computes."""

BY_NAME = ("getattr", "get_layer")
"""Functions that find a layer by a name, which is made of the loop's item."""


def computes_tensors(file: File, loop: Loop) -> bool:
    """Whether the body of a loop binds, collects, assigns or yields something that may be a tensor: False where all
    that it makes is certainly Python numbers and strings."""
    made = [node.value for node in walk(loop.body, cst.Assign, cst.AugAssign)]
    made += [arg.value for call in calls(file, loop.body, *TAKES) for arg in call.node.args]
    return any(walk(loop.body, cst.Yield)) or not all(is_python(file, value) for value in made)


def for_graphs(file: File, loop: Node) -> bool:
    """Whether a loop is certainly written for traced code, and nothing in the file calls its function: it runs over a
    tensor, or writes to a `tf.TensorArray`, as loops of a graph must."""
    function = file.contexts.function(loop)
    if not isinstance(loop, (cst.For, cst.While)) or function is None or file.call_graph.callers(function):
        return False
    over = file.value(loop.iter) if isinstance(loop, cst.For) else None
    if isinstance(over, Array) and over.library == "tf":
        return True
    return any(_writes_array(file, call) for call in calls(file, loop.body) if call.method == "write")


def _writes_array(file: File, write: Call) -> bool:
    receiver = write.receiver_node
    made = file.definitions(receiver) if isinstance(receiver, cst.Name) else ()
    values = (d.value for d in written(made) if isinstance(d.value, cst.Call))
    return any(file.call(value).name == "tf.TensorArray" for value in values)


def collects_items(file: File, loop: Loop) -> bool:
    """Whether the body of a loop calls a method by which lists and sets grow, of whatever object."""
    return any(calls(file, loop.body, *COLLECTS))


def chooses_parts(file: File, run: Repetition, loop: Loop) -> bool:
    """Whether the items of a loop choose what it works on, of layers say, so that each iteration has a body of its own:
    from a list or dictionary that the loop does not fill, or by a name. False where it is not known to be one."""
    if any(run.items & variables(file, call.node) for call in calls(file, loop.body, *BY_NAME)):
        return True
    chosen = (node for node in walk(loop.body, cst.Subscript) if run.items & variables(file, node.slice[0]))
    return any(is_container(file, node.value) and not fills(file, loop, node.value) for node in chosen)


def over_devices(file: File, again: Repetition) -> bool:
    """Whether a loop certainly places what it builds on a device that each iteration chooses: it builds the parts of
    one computation, of which there are as many as devices."""
    return _chooses_device(file, walk(again.place, cst.With), again)


def on_own_device(file: File, node: Node, again: Repetition) -> bool:
    """Whether code in a loop stands on a device that each iteration chooses."""
    return _chooses_device(file, file.contexts.withs(node), again)


def _chooses_device(file: File, withs: Iterable[cst.With], again: Repetition) -> bool:
    blocks = (item.item for block in withs for item in block.items)
    devices = (call for block in blocks if isinstance(block, cst.Call) for call in [file.call(block)])
    return any(call.method == "device" and again.bound & variables(file, call.node) for call in devices)
