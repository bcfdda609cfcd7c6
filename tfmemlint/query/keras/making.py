"""What code makes models for itself, trains them and forgets them, and what makes layers or trains."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import Class, Function, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.flow.makers import makers
from tfmemlint.query.flow.uses import uses
from tfmemlint.query.keras.fates import fate, model_at
from tfmemlint.query.keras.models import MODEL, MODEL_LOADS, PRETRAINED
from tfmemlint.query.ordering.once import runs_once
from tfmemlint.query.tracing.graphs import in_own_graph
from tfmemlint.syntax.scopes import FUNCTIONS, dotted, parameters
from tfmemlint.syntax.tree import walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.scopes import Definition
    from tfmemlint.syntax.tree import Node

TRAINS = frozenset({"fit", "compile", "fit_generator", "train_on_batch"})
INPUT = "tf.keras.Input"
OUTPUTS = ("output", "outputs")
LAYERS = ("tf.keras.layers.", PRETRAINED, "tf.keras.Sequential")


def trains(call: Call) -> bool:
    """Whether a call trains a model or makes it ready for that, by the word of its method, of whatever object."""
    return call.method in TRAINS


def may_be_loaded(value: Value) -> bool:
    """Whether a model is, in one of its alternatives, read from a file by what reads models."""
    return any(made.name in MODEL_LOADS for made in makers(value))


def makes_layers(file: File, code: Node, *, besides: Call) -> bool:
    """Whether some code may make layers by a call `besides` one: of Keras' classes of layers and models, or by any
    function or class of the module, whose calls are not looked into."""
    others = [call for call in calls(file, code) if call.node is not besides.node]
    if any(isinstance(target, (Function, Class)) for call in others for target in call.target.options):
        return True
    names = (name for call in others for name in call.names)
    return any(map(names_layer, names))


def names_layer(name: str) -> bool:
    """Whether an API is a class of layers, `Sequential`, or makes one of `tf.keras.applications`."""
    return name.startswith(LAYERS) and name.rpartition(".")[2][:1].isupper()


def makes_graph(file: File, method: cst.FunctionDef) -> bool:
    """Whether a method is called by its name, of the object itself or of one that is known, and what it returns becomes
    an output of a functional model, which then owns the layers that it makes: `Model(inputs, self.call(inputs))`."""
    for node in file.calls_by_word.get(method.name.value, ()):
        call, owner = file.call(node), file.class_of(method)
        own = isinstance(call.receiver_node, cst.Name) and call.receiver_node.value == "self"
        if own and owner is not None and file.tree.contains(owner, node):
            named = not file.tree.contains(method, node)
        else:
            named = any(isinstance(each, Function) and each.node is method for each in call.target.options)
        if named and any(use.call is not None and use.call.name == MODEL for use in uses(file, node, containers=True)):
            return True
    return False


def shares_layers(file: File, made: Call, function: Node) -> bool:
    """Whether a functional model that a function makes certainly is another view of what the function is given, without
    weights of its own: `Model(base.input, layer.output)`, also where `base(x)` is applied to an input."""
    if made.name != MODEL or not isinstance(function, FUNCTIONS):
        return False
    known = {each.name.value for each in parameters(function)} - {"self", "cls"}
    if not known:
        return False
    for d in sorted((d for found in file.flow(function).bindings.values() for d in found), key=_order(file)):
        if d.value is made.node or _root(d.value) in known:
            known.add(d.name)
    others = [call for call in calls(file, function) if call is not made and call.name != INPUT]
    return all(_is_python(call) or _root(call.node) in known for call in others)


def _ends_at_layers(file: File, made: Call) -> bool:
    """Whether a functional model ends where layers do that are there: `Model(net.inputs, net.layers[3].output)`.
    Also of a class that derives from Keras' and makes no layers when its object is made."""
    targets = made.target.options
    if made.name != MODEL and not all(isinstance(t, Class) and _adds_no_layers(file, t.node) for t in targets):
        return False
    ends = _ends(made)
    return bool(ends) and all(isinstance(end, cst.Attribute) and end.attr.value in OUTPUTS for end in ends)


def _ends(made: Call) -> list[cst.BaseExpression]:
    """What a functional model is given as its outputs."""
    by_word = [arg.value for arg in made.node.args if arg.keyword is not None and arg.keyword.value == "outputs"]
    given = by_word or [arg.value for arg in made.node.args[1:2] if arg.keyword is None and not arg.star]
    return [part for each in given for part in _parts(each)]


def _parts(expression: cst.BaseExpression) -> list[cst.BaseExpression]:
    """The items of a display, and of several that are added; an expression that is none is its own part."""
    if isinstance(expression, cst.BinaryOperation) and isinstance(expression.operator, cst.Add):
        return [part for side in (expression.left, expression.right) for part in _parts(side)]
    display = expression if isinstance(expression, (cst.List, cst.Tuple)) else None
    return [element.value for element in display.elements] if display is not None else [expression]


def _adds_no_layers(file: File, made_of: cst.ClassDef) -> bool:
    init = file.values.classes.method(made_of, "__init__")
    names = (name for call in calls(file, init) for name in call.names) if init is not None else ()
    return file.values.classes.derives(made_of, MODEL) and not any(map(names_layer, names))


def _order(file: File) -> Callable[[Definition], int]:
    return lambda d: file.tree.order(d.node)


def _is_python(call: Call) -> bool:
    return bool(call.names) and all(name.startswith("builtins.") for name in call.names)


def _root(node: Node | None) -> str | None:
    """The name with which a call, an attribute or an item begins: `base` of `base.layers[2].output`."""
    while isinstance(node, (cst.Call, cst.Attribute, cst.Subscript)):
        node = node.func if isinstance(node, cst.Call) else node.value
    return node.value if isinstance(node, cst.Name) else None


def trains_own_model(file: File, target: Value) -> bool:
    """Whether what is called is a function of the module that certainly builds a model, trains it and gives it to
    nobody. False where it builds one the first time only, in a graph of its own, or of layers that are there."""
    if not isinstance(target, Function):
        return False
    for made in calls(file, target.node):
        path = model_at(file, made)
        if in_own_graph(file, made.node, target.node) or shares_layers(file, made, target.node):
            continue
        if path is not None and _ends_at_layers(file, made):
            continue
        if path is not None and not runs_once(file, made.node, target.node):
            done = fate(file, made.node, target.node, path)
            if done.used and not done.kept:
                return True
    return False


def makes_own_model(file: File, call: Call, target: Value, within: Node) -> bool:
    """Whether what is called is a class of the module whose object makes a model for itself, is used `within` code that
    runs again, and is forgotten then. False for an object that is made for what else making it does."""
    if not isinstance(target, Class) or isinstance(file.tree.parent(call.node), cst.Expr):
        return False
    done = fate(file, call.node, within)
    making = (made for made in calls(file, call.node, through=1) if made is not call)
    if not done.only_read or done.kept:
        return False
    return any(model_at(file, made) is not None and not _shows_given(file, made) for made in making)


def _shows_given(file: File, made: Call) -> bool:
    """Whether a functional model certainly ends at layers of a network that its function is given, also where an
    attribute has that: `self.net = net; Model(self.net.inputs, self.net.output)`. It has no weights of its own."""
    function = file.contexts.function(made.node)
    if function is None or not _ends_at_layers(file, made):
        return False
    given = {each.name.value for each in parameters(function)} - {"self", "cls"}
    kept = ((each.targets[0].target, each.value) for each in walk(function, cst.Assign))
    given |= {path for target, value in kept if (path := dotted(target)) and dotted(value) in given}
    return all(_begins_with(end, given) for end in _ends(made))


def _begins_with(expression: Node, paths: set[str]) -> bool:
    """Whether an attribute, item or call is of one of some names or attributes: `net` of `net.layers[2].output`."""
    node: Node | None = expression
    while isinstance(node, (cst.Call, cst.Attribute, cst.Subscript)):
        if dotted(node) in paths:
            return True
        node = node.func if isinstance(node, cst.Call) else node.value
    return isinstance(node, cst.Name) and node.value in paths
