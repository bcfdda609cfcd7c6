"""What takes examples: calls of models, also of those that are known by how they are used alone, and what an argument
of such a call is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Const, Dataset, Function, Instance
from tfmemlint.model.values import Iterator as Items
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.keras.models import applies_network, is_model, runs_model
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.pipelines.pipelines import pipelines_of
from tfmemlint.syntax.scopes import Binds, Definition, ScopeNode, dotted

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.names import Loop
    from tfmemlint.syntax.tree import Node

FITTING = frozenset({
    "epochs", "steps_per_epoch", "validation_data", "validation_steps", "validation_split", "callbacks",
    "initial_epoch", "class_weight",
})  # fmt: skip
COMPILING = frozenset({"optimizer", "loss", "metrics", "loss_weights", "run_eagerly", "jit_compile"})
WEIGHTS = frozenset({"trainable_variables", "trainable_weights"})
"""What only Keras models are asked for: arguments of `fit` and `compile`, and attributes."""

TAKING = frozenset(
    f"tf.keras.Model.{name}"
    for name in ("__call__", "fit", "evaluate", "predict", "train_on_batch", "test_on_batch", "predict_on_batch")
)

ONE_BATCH = frozenset(f"tf.keras.Model.{name}_on_batch" for name in ("predict", "train", "test"))

MODELS = ("tf.keras.Model", "tf.keras.models.", "tf.keras.applications.", "compile", "load_weights", "save_weights")
"""What no file lacks in which something is known to be a model: what makes one, and what only models are used for."""

MOST_PARTS = 6
"""Unpackings, keys, casts and names through which an argument is followed back to what it is a part of."""


# -- models ----------------------------------------------------------------------------------------------------------


def feeds_model(file: File, call: Call) -> bool:
    """Whether a call gives its first argument to a Keras model: to one that is known, or to what is not known
    otherwise and is called with `training=...` or used as only a model is."""
    if call.target.known:
        return runs_model(file, call) or (bool(call.names) and TAKING.issuperset(call.names))
    training = any(arg.keyword is not None and arg.keyword.value == "training" for arg in call.node.args)
    return (training and not _is_class(call.node.func)) or used_as_model(file, call.node.func)


def used_as_model(file: File, node: Node) -> bool:
    """Whether what is not known otherwise is used as only a Keras model is, where the same name stands for it."""
    name = dotted(node)
    if name is None or file.value(node).known:
        return False
    used = _used_like_models(file).get((name, id(_home(file, node))), ())
    return any(attribute.attr.value in WEIGHTS or _says_model(file, attribute) for attribute in used)


@once_per_file
def _used_like_models(file: File) -> dict[tuple[str, int], list[cst.Attribute]]:
    """The attributes by which models are known, by the path of what is asked for them and the id of its home."""
    found: dict[tuple[str, int], list[cst.Attribute]] = {}
    for load in (load for word in ("compile", "fit", *WEIGHTS) for load in file.loads(word)):
        attribute = file.tree.parent(load)
        if isinstance(attribute, cst.Attribute) and attribute.attr is load:
            path = dotted(attribute.value)
            if path is not None:
                found.setdefault((path, id(_home(file, attribute.value))), []).append(attribute)
    return found


def _says_model(file: File, attribute: cst.Attribute) -> bool:
    node = file.tree.parent(attribute)
    if not isinstance(node, cst.Call) or node.func is not attribute:
        return False
    words = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    if attribute.attr.value == "fit":
        return bool(words & FITTING) and not _made_by_class(file, attribute.value)
    first = file.value(node.args[0].value) if node.args else None
    return bool(words & COMPILING) or isinstance(first, (Const, Instance))


def _made_by_class(file: File, node: cst.BaseExpression) -> bool:
    """Whether a name stands for an object of a class that is not seen: it may batch what it is given itself."""
    return any(isinstance(d.value, cst.Call) and _is_class(d.value.func) for d in file.definitions(node))


def made_by_unseen(file: File, node: cst.BaseExpression) -> bool:
    """Whether a name stands for what a function gives that is not seen: a pipeline or arrays as well as a Python data
    set. False for objects of classes, and where nothing makes it."""
    made = file.only_definition(node) if isinstance(node, cst.Name) else None
    value = made.value if made is not None else None
    return isinstance(value, cst.Call) and not file.value(node).known and not _is_class(value.func)


def _is_class(function: cst.BaseExpression) -> bool:
    return (dotted(function) or "").rpartition(".")[2][:1].isupper()


def _home(file: File, node: Node) -> ScopeNode:
    """The scope whose name this is; for `self.x` the class."""
    root = node
    while isinstance(root, (cst.Attribute, cst.Subscript)):
        root = root.value
    scope = file.scope_of(node)
    owner = file.class_of(scope)
    if root is not node and owner is not None and isinstance(root, cst.Name) and root.value == "self":
        return owner
    while isinstance(root, cst.Name) and not isinstance(scope, cst.Module):
        if root.value in file.flow(scope).bindings:
            return scope
        scope = file.scope_of(scope)
    return scope


def _batch_calls(file: File) -> Iterator[Call]:
    for call in map(file.call, file.tree.of(cst.Call)):
        if call.node.args and _in_one_batch(file, call):
            yield call


def _in_one_batch(file: File, call: Call) -> bool:
    if call.name in ONE_BATCH or (call.method == "call" and call.receiver.known):
        return call.name in ONE_BATCH or is_model(file, call.receiver)
    return runs_model(file, call) or (not call.target.known and applies_network(file, call))


batch_calls = Fact(_batch_calls, *MODELS, "training")
"""Each call that certainly runs all that it is given through a Keras model in one batch: `model(x)`, `model.call(x)`,
`model.predict_on_batch(x)`, `unseen(x, training=False)`."""


# -- what they are given ---------------------------------------------------------------------------------------------


def model_arguments(file: File, call: Call, *, through: int = FOLLOWED_CALLS) -> Iterator[cst.Arg]:
    """The arguments that a call certainly gives to a model as they are: its own first one, or those that a function of
    the module hands on, up to `through` functions behind each other."""
    args = [arg for arg in call.node.args if not arg.star]
    if feeds_model(file, call):
        yield from args[:1]
    functions = [target for target in call.target.options if isinstance(target, Function)]
    if through == 0 or len(functions) < len(call.target.options):
        return
    names = call.parameter_names
    for i, arg in enumerate(args):
        name = arg.keyword.value if arg.keyword is not None else names[i] if i < len(names) else None
        if name is not None and all(_hands_on(file, each, name, through - 1) for each in functions):
            yield arg


def _hands_on(file: File, function: Function, name: str, through: int) -> bool:
    """Whether a function gives its parameter to a model as it is."""
    given = (arg for call in calls(file, function.node) for arg in model_arguments(file, call, through=through))
    origins = (origin(file, arg.value) for arg in given)
    return any(made is not None and made.binds is Binds.PARAMETER and made.name == name for made in origins)


def origin(file: File, node: cst.BaseExpression) -> Definition | None:
    """The definition that an expression is, as it is, a part of: unpacked, picked out by a key, cast or scaled.

    None where it is made of something else, or of one of several things.
    """
    for _ in range(MOST_PARTS):
        inner = _inner(file, node)
        if inner is not None:
            node = inner
            continue
        made = file.only_definition(node) if isinstance(node, cst.Name) else None
        if made is None or made.binds is not Binds.VALUE or not isinstance(made.value, cst.BaseExpression):
            return made
        if not isinstance(made.value, cst.Name) and _inner(file, made.value) is None:
            return made
        node = made.value
    return None


def _inner(file: File, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """What a part, a cast or a scaled version is made of."""
    if isinstance(node, cst.Subscript) and len(node.slice) == 1:
        index = node.slice[0].slice
        plain = isinstance(index, cst.Index) and isinstance(index.value, (cst.SimpleString, cst.Integer))
        return node.value if plain else None
    if isinstance(node, cst.BinaryOperation) and isinstance(node.right, (cst.Integer, cst.Float)):
        return node.left
    if isinstance(node, cst.Call) and node.args and file.call(node).name == "tf.cast":
        return node.args[0].value
    return None


def drawn_from(file: File, drawing: cst.Call) -> tuple[Dataset, ...]:
    """The pipelines of which `next(iterator)` or `iterator.get_next()` takes an element; none for any other call, or
    where it may take something else."""
    call = file.call(drawing)
    if call.method not in ("next", "get_next"):
        return ()
    value = call.receiver if call.method == "get_next" else call.given(0)
    while isinstance(value, Items):
        value = value.of
    return pipelines_of(value)


def first_of_its_own(file: File, drawing: cst.Call, loop: Loop) -> bool:
    """Whether what `next(...)` draws in a loop is the first element of an iterator that the loop makes anew."""
    source = drawing.args[0].value if drawing.args else None
    made = file.only_definition(source) if isinstance(source, cst.Name) else None
    return isinstance(source, cst.Call) or (made is not None and file.tree.contains(loop, made.node))
