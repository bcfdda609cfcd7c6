"""Expressions that are, or hold, a tensor for certain, also where its shape and dtype are not known."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._python_uses import needs_python

from tfmemlint.api import Array, Binds, Call, Definition, File, Function, Instance, parameters, written

OPS = ("tf.math.", "tf.nn.", "tf.linalg.", "tf.image.", "tf.signal.", "tf.strings.", "tf.keras.ops.",
       "tf.keras.losses.", "tf.keras.activations.", "tf.keras.layers.", "tf.GradientTape.")  # fmt: skip
RANDOM = ("tf.random.normal", "tf.random.uniform", "tf.random.truncated_normal", "tf.random.categorical")
PLAIN = frozenset(
    f"tf.{name}" for name in (
        "abs", "add", "add_n", "argmax", "argmin", "boolean_mask", "broadcast_to", "cast", "clip_by_norm",
        "clip_by_value", "concat", "constant", "convert_to_tensor", "einsum", "equal", "exp", "expand_dims", "fill",
        "gather", "gather_nd", "identity", "map_fn", "matmul", "maximum", "minimum", "multiply", "norm", "one_hot",
        "ones", "ones_like", "pad", "pow", "range", "repeat", "reshape", "reverse", "round", "scan", "sigmoid", "sign",
        "slice", "sort", "split", "sqrt", "square", "squeeze", "stack", "stop_gradient", "subtract", "tanh",
        "tensordot", "tile", "transpose", "unstack", "where", "zeros", "zeros_like", "shape", "size",
    )
)  # fmt: skip
METHODS = frozenset({"__call__", "gradient", "jacobian", "batch_jacobian"})
"""Last parts of names below OPS that are methods and give tensors."""

OF_ARRAYS = frozenset({"write", "unstack", "scatter", "split", "stack", "gather", "concat", "read"})
"""Methods of a `tf.TensorArray` that give tensors, or the array with more in it."""

DEPTH = 8


def holds_tensor(expression: cst.BaseExpression, file: File, depth: int = DEPTH) -> bool:
    """Whether an expression is a tensor, or a display or result with one in it; a `tf.Variable` is none."""
    if depth == 0:
        return False
    value = file.value(expression)
    if isinstance(value, Array):
        return value.library in ("tf", "keras") and not value.variable
    parts: list[cst.BaseExpression] = []
    if isinstance(expression, cst.Name):
        definitions = file.definitions(expression)
        return bool(definitions) and any(_defined(d, file, depth - 1) for d in written(definitions))
    if isinstance(expression, cst.Call):
        parent = file.tree.parent(expression)
        target = parent.targets[0].target if isinstance(parent, cst.Assign) else None
        named = file.definition(target) if isinstance(target, cst.Name) else None
        return _result(file.call(expression), file, depth - 1) or (named is not None and _computed(named, file))
    if isinstance(expression, cst.BinaryOperation):
        parts = [expression.left, expression.right]
    elif isinstance(expression, cst.Subscript):
        parts = [expression.value]
    elif isinstance(expression, cst.UnaryOperation) and not isinstance(expression.operator, cst.Not):
        parts = [expression.expression]
    elif isinstance(expression, (cst.List, cst.Tuple, cst.Dict)):
        parts = [element.value for element in expression.elements]
    return any(holds_tensor(part, file, depth - 1) for part in parts)


def _defined(d: Definition, file: File, depth: int) -> bool:
    if d.binds is Binds.PARAMETER and isinstance(d.scope, (cst.FunctionDef, cst.Lambda)):
        return _inputs(d, file) or _passed(d, file, depth) or _traced(d, file)
    if d.binds is Binds.ITEM and isinstance(d.value, cst.BaseExpression):
        return _item(d.value, d.path, file, depth)
    if d.binds is not Binds.VALUE or not isinstance(d.value, cst.BaseExpression):
        return False
    if d.path and isinstance(d.value, (cst.Tuple, cst.List)):
        at = d.path[0]
        if len(d.path) > 1 or isinstance(at, slice) or at >= len(d.value.elements):
            return False
        return holds_tensor(d.value.elements[at].value, file, depth)
    return holds_tensor(d.value, file, depth) or _computed(d, file)


def _item(over: cst.BaseExpression, path: tuple[int | slice, ...], file: File, depth: int) -> bool:
    """Whether a loop binds a tensor: an item of a list of gradients, also beside others in a `zip`."""
    if isinstance(over, cst.Call) and path and isinstance(path[0], int):
        name, given = file.call(over).name, [arg.value for arg in over.args]
        at = path[0] if name == "builtins.zip" else path[0] - 1 if name == "builtins.enumerate" else -1
        return 0 <= at < len(given) and _item(given[at], path[1:], file, depth)
    return not path and not isinstance(over, cst.Dict) and holds_tensor(over, file, depth)


def _computed(d: Definition, file: File) -> bool:
    """Whether traced code calls something unknown, a model say, and gives the result to an op that takes a tensor."""
    if d.path or not isinstance(d.value, cst.Call) or not d.value.args or not file.contexts.traced(d.value):
        return False
    if file.call(d.value).target.known:
        return False
    for use in file.uses_of(d):
        argument = file.tree.parent(use)
        taker = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
        if isinstance(taker, cst.Call) and taker.args[0] is argument:
            if (file.call(taker).name or "").startswith(("tf.nn.", "tf.reduce_", "tf.math.", "tf.arg")):
                return True
    return False


def _inputs(d: Definition, file: File) -> bool:
    """Whether a parameter is what Keras gives `call()` first."""
    function = d.scope
    if not isinstance(function, cst.FunctionDef) or function.name.value != "call":
        return False
    owner = file.class_of(function)
    names = [p.name.value for p in parameters(function)]
    return owner is not None and names[1:2] == [d.name] and file.values.classes.derives(owner, "tf.keras.layers.Layer")


def _traced(d: Definition, file: File) -> bool:
    """Whether a parameter is what a traced function is called with from elsewhere, and nothing asks for a number."""
    function, parameter = d.scope, d.value
    if not isinstance(function, cst.FunctionDef) or not isinstance(parameter, cst.Param) or d.name == "self":
        return False
    if parameter.default is not None or parameter.annotation is not None or file.values.functions.callers(function):
        return False
    names = [p.name.value for p in parameters(function) if p.name.value != "self"]
    if names[:1] != [d.name] and not any(_operand(use, file) for use in file.uses_of(d)):
        return False
    value = file.values.functions.defined(function, None)
    return isinstance(value, Function) and value.traced and not needs_python(value, d.name, file)


def _operand(use: cst.Name, file: File) -> bool:
    """Whether TensorFlow or a model is given a name."""
    argument = file.tree.parent(use)
    call = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
    if not isinstance(call, cst.Call):
        return False
    name, targets = file.call(call).name or "", file.call(call).target.options
    return (
        name.startswith(("tf.math.", "tf.nn.", "tf.keras."))
        or name in PLAIN
        or all(isinstance(target, Instance) for target in targets)
    )


def _passed(d: Definition, file: File, depth: int) -> bool:
    calls = file.values.functions.callers(d.scope) or ()
    arguments = [call.arg(d.name) for call in calls]
    return bool(arguments) and all(a is not None and holds_tensor(a.expression, file, depth - 1) for a in arguments)


def _result(call: Call, file: File, depth: int) -> bool:
    name = call.name or ""
    if name == "tf.TensorArray" or (name.startswith("tf.TensorArray.") and name.rpartition(".")[2] in OF_ARRAYS):
        return True
    if name in PLAIN or name in RANDOM or name.startswith("tf.reduce_"):
        return True
    if name.startswith(OPS):
        last = name.rpartition(".")[2]
        plain = last[:1].islower() and name.count(".") == (3 if name.startswith("tf.keras.") else 2)
        return plain or last in METHODS
    targets = call.target.options
    if all(isinstance(t, Function) and isinstance(t.node, cst.FunctionDef) for t in targets):
        returned = [r.value for t in targets if isinstance(t, Function) and isinstance(t.node, cst.FunctionDef)
                    for r in file.returns(t.node)]  # fmt: skip
        return bool(returned) and all(r is not None and holds_tensor(r, file, depth - 1) for r in returned)
    return all(
        isinstance(t, Instance)
        and t.class_node is not None
        and file.values.classes.derives(t.class_node, "tf.keras.layers.Layer")
        for t in targets
    )
