"""Which expressions are results of TensorFlow, also where the model that makes them is not seen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Array
from tfmemlint.query.keras.models import applies_network
from tfmemlint.syntax.names import Loop, assigned_names
from tfmemlint.syntax.scopes import Binds
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

OTHERS = frozenset({"torch", "mxnet", "paddle", "mindspore", "chainer", "jittor", "oneflow", "tinygrad"})
"""Other libraries whose tensors have a `numpy()`."""


def is_tensor(file: File, part: cst.BaseExpression) -> bool:
    """Whether a part is known to come out of TensorFlow; False where it is not known."""
    value = file.value(part)
    if isinstance(value, Array):
        made = value.origin.name if value.origin is not None else None
        if value.library == "tf" or (made or "").startswith("tf."):
            return True
    if any(name.startswith("tf.") for node in walk(part, cst.Call) for name in file.call(node).names):
        return True
    written = file.written(part)
    return isinstance(written, cst.Call) and applies_network(file, file.call(written))


def made_of_tensor(file: File, part: cst.BaseExpression) -> bool:
    """Whether a part is what an unknown object makes of a tensor, `network.predict(images)`, or what only a Keras model
    gives: `predict_on_batch(x)`, `predict(x, verbose=0)`."""
    made = file.written(part)
    call = file.call(made) if isinstance(made, cst.Call) else None
    if call is None or call.names or call.receiver_node is None:
        return False
    if _predicts(call) and only_tensorflow(file):
        return True
    given = [file.value(arg.value) for arg in call.node.args]
    return any(isinstance(value, Array) and value.library == "tf" for value in given)


def _predicts(call: Call) -> bool:
    told = {arg.keyword.value for arg in call.node.args if arg.keyword is not None}
    return call.method == "predict_on_batch" or (call.method == "predict" and bool(told & {"verbose", "steps"}))


def fetched_in_loop(file: File, part: cst.BaseExpression, loop: Loop) -> bool:
    """Whether a part is `model(x).numpy()` of what the loop makes, where tensors can only be those of TensorFlow.

    `labels.numpy()` of an item of the loop is one too, where the loop makes results of the items beside it.
    """
    for of in _fetched(file, part):
        if not only_tensorflow(file):
            return False
        if not isinstance(of, cst.Name) or of.value not in _items(loop) or _makes_results(file, loop):
            return any(name.value in assigned_names(file, loop) for name in walk(of, cst.Name))
    return False


def _fetched(file: File, part: cst.BaseExpression) -> Iterator[cst.BaseExpression]:
    """What `numpy()` is called on in an expression, or in what its name stands for."""
    for node in (node for each in (part, file.written(part)) for node in walk(each, cst.Call)):
        call = file.call(node)
        if call.method == "numpy" and not node.args and not call.names and call.receiver_node is not None:
            yield call.receiver_node


def _items(loop: Loop) -> set[str]:
    return {name.value for name in walk(loop.target, cst.Name)} if isinstance(loop, cst.For) else set()


def _makes_results(file: File, loop: Loop) -> bool:
    """Whether a loop gives what it binds to TensorFlow, or makes tensors of it."""
    made = assigned_names(file, loop)
    for node in walk(loop.body, cst.Call):
        call = file.call(node)
        given = {arg.value.value for arg in node.args if isinstance(arg.value, cst.Name)}
        if call.names and all(name.startswith("tf.") for name in call.names) and given & made:
            return True
        of = call.receiver_node if call.method == "numpy" else None
        if of is not None and not (isinstance(of, cst.Name) and of.value in _items(loop)):
            return True
    return False


@once_per_file
def only_tensorflow(file: File) -> bool:
    """Whether the file imports TensorFlow and no other library whose tensors have a `numpy()`."""
    bound = (d for made in file.flow(file.module).bindings.values() for d in made if d.binds is Binds.IMPORT)
    libraries = {d.api.partition(".")[0] for d in bound}
    return bool(libraries & {"tensorflow", "keras", "tf_keras"}) and not libraries & OTHERS
