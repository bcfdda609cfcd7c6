"""Which expressions are results of TensorFlow, also where the model that makes them is not seen."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Array, Binds, File, assigned_names, once_per_file, walk

OTHERS = frozenset({"torch", "mxnet", "paddle", "mindspore", "chainer", "jittor", "oneflow", "tinygrad"})
"""Other libraries whose tensors have a `numpy()`."""


def is_tensor(part: cst.BaseExpression, file: File) -> bool:
    """Whether a part is known to come out of TensorFlow."""
    value = file.value(part)
    if isinstance(value, Array):
        made = value.origin.name if value.origin is not None else None
        if value.library == "tf" or (made or "").startswith("tf."):
            return True
    names = (name for n in walk(part) if isinstance(n, cst.Call) for name in file.call(n).names)
    return any(name.startswith("tf.") for name in names)


def through_tensor(part: cst.BaseExpression, file: File) -> bool:
    """Whether a part is what an unknown object makes of a tensor, `network.predict(images)`."""
    made = file.written(part)
    call = file.call(made) if isinstance(made, cst.Call) else None
    if call is None or call.names or call.receiver_node is None:
        return False
    given = [file.value(arg.value) for arg in call.node.args]
    return any(isinstance(v, Array) and v.library == "tf" for v in given)


def made_array(part: cst.BaseExpression, loop: cst.For | cst.While, file: File) -> bool:
    """Whether a part is `model(x).numpy()` of what the loop makes, where tensors can only be those of TensorFlow.

    `labels.numpy()` of an item of the loop is one too, where the loop makes results of the items beside it.
    """
    for node in _arrays(part, file):
        of = file.call(node).receiver_node
        if of is not None and not file.call(node).names and only_tensorflow(file):
            items = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)} if isinstance(loop, cst.For) else ()
            if not isinstance(of, cst.Name) or of.value not in items or _uses(loop, file):
                return any(isinstance(n, cst.Name) and n.value in assigned_names(loop, file) for n in walk(of))
    return False


def _arrays(part: cst.BaseExpression, file: File) -> list[cst.Call]:
    """The calls of `numpy()` in an expression, or in what its name stands for."""
    calls = (n for each in (part, file.written(part)) for n in walk(each, cst.Call))
    return [n for n in calls if file.call(n).method == "numpy" and not n.args]


def _uses(loop: cst.For | cst.While, file: File) -> bool:
    """Whether a loop gives what it binds to TensorFlow, or makes tensors of it."""
    made = assigned_names(loop, file)
    items = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)} if isinstance(loop, cst.For) else set()
    for node in walk(loop.body, cst.Call):
        call = file.call(node)
        given = {arg.value.value for arg in node.args if isinstance(arg.value, cst.Name)}
        if call.names and all(name.startswith("tf.") for name in call.names) and given & made:
            return True
        of = call.receiver_node if call.method == "numpy" else None
        if of is not None and not (isinstance(of, cst.Name) and of.value in items):
            return True
    return False


@once_per_file
def only_tensorflow(file: File) -> bool:
    """Whether the file imports TensorFlow and no other library whose tensors have a `numpy()`."""
    bound = (d for made in file.flow(file.module).bindings.values() for d in made if d.binds is Binds.IMPORT)
    libraries = {d.api.partition(".")[0] for d in bound}
    return bool(libraries & {"tensorflow", "keras", "tf_keras"}) and not libraries & OTHERS
