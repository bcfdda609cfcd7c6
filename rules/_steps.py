"""Loops over training or evaluation steps: what they bind, whether they are short, which calls run a model."""

from __future__ import annotations

import re

import libcst as cst

from tfmemlint.api import Array, Call, File, Function, Instance, integer, parameters, walk

Steps = cst.For | cst.While | cst.BaseComp | cst.FunctionDef
"""What runs once for each step: a loop, a comprehension, or a function that a loop calls."""

FEW = 10
"""Iterations that are heads, stages or members of an ensemble rather than steps."""

REDUCES = re.compile(r"\.(reduce_\w+|argmax|argmin|norm|global_norm|mean|max|sum)$")
GRADIENTS = frozenset({"tf.GradientTape.gradient", "tf.GradientTape.jacobian", "tf.GradientTape.batch_jacobian"})
ELEMENTWISE = frozenset({"tf.abs", "tf.square", "tf.identity", "tf.cast", "tf.math.abs", "tf.math.square", "tf.nn.relu",
                         "tf.stop_gradient", "tf.convert_to_tensor"})  # fmt: skip


def runs_model(call: Call) -> bool:
    """Whether what is called is certainly a Keras model."""
    for target in call.target.options:
        if not isinstance(target, Instance):
            return False
        if target.class_node is not None:
            if not call.evaluator.classes.derives(target.class_node, "tf.keras.Model"):
                return False
        elif target.type_name not in ("tf.keras.Model", "tf.keras.Sequential"):
            return False
    return True


def several_outputs(call: Call) -> bool:
    """Whether the model that is called was made with a list or dictionary of outputs."""
    for target in call.target.options:
        made = target.call.node if isinstance(target, Instance) and target.call is not None else None
        for index, arg in enumerate(made.args if isinstance(made, cst.Call) else ()):
            if (arg.keyword.value == "outputs") if arg.keyword is not None else index == 1:
                return isinstance(arg.value, (cst.List, cst.Tuple, cst.Dict, cst.ListComp, cst.DictComp))
    return False


DRAWS = ("tf.random.", "np.random.", "tf.keras.random.")


def step_names(loop: Steps, file: File) -> set[str]:
    """The names that hold this step's data: the loop's target, what its body draws, and what it makes from these, not
    what it carries from step to step."""
    if isinstance(loop, cst.BaseComp):
        return {n.value for n in walk(loop.for_in.target) if isinstance(n, cst.Name)}
    found = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)} if isinstance(loop, cst.For) else set()
    if isinstance(loop, cst.FunctionDef):
        found = {p.name.value for p in parameters(loop)} - {"self"}
    for node in walk(loop.body):
        if isinstance(node, cst.Assign):
            read = {n.value for n in walk(node.value) if isinstance(n, cst.Name)}
            bound = {n.value for t in node.targets for n in walk(t.target) if isinstance(n, cst.Name)}
            name = file.call(node.value).name or "" if isinstance(node.value, cst.Call) else ""
            if name == "builtins.next" or name.startswith(DRAWS) or (read & found and not read & bound):
                found |= bound
    return found


def ends_soon(loop: cst.For | cst.While, file: File) -> bool:
    """Whether a loop is left after its first iterations: `.take(1)`, `break`, `if step == 3: break`."""
    if isinstance(loop, cst.For) and is_short(loop.iter, file):
        return True
    for statement in loop.body.body:
        if isinstance(statement, cst.SimpleStatementLine) and isinstance(statement.body[-1], cst.Break):
            return True
        if isinstance(statement, cst.If) and isinstance(statement.test, cst.Comparison):
            leaves = any(walk(statement.body, cst.Break))
            limit = integer(file.value(statement.test.comparisons[0].comparator))
            if leaves and limit is not None and limit <= FEW:
                return True
    return False


def is_short(iterated: cst.BaseExpression, file: File) -> bool:
    """Whether what is iterated is cut to a few items: `ds.take(3)`, also under `enumerate`."""
    while isinstance(iterated, cst.Call):
        call = file.call(iterated)
        count = integer(file.value(iterated.args[0].value)) if iterated.args else None
        if call.method == "take" and count is not None:
            return 0 <= count <= FEW
        if isinstance(iterated.func, cst.Attribute) and call.receiver_node is not None and call.method != "tqdm":
            iterated = call.receiver_node
        elif iterated.args:
            iterated = iterated.args[0].value
        else:
            return False
    return False


def kept_kind(item: cst.BaseExpression, loop: Steps, file: File) -> str | None:
    """What the kept item is: outputs of a model on this step's data, gradients of this step, or neither."""
    made = _made_by(item, file)
    while made is not None and made.name in ELEMENTWISE and made.node.args:
        made = _made_by(made.node.args[0].value, file)
    if made is not None and made.name in GRADIENTS and _of_this_step(made, loop, file):
        return "gradients"
    count = file.contexts.literal_count(loop) if isinstance(loop, (cst.For, cst.While)) else None
    if count is not None and count <= FEW:
        return None
    reduced = _made_by(item, file)
    if reduced is not None and REDUCES.search(reduced.name or ""):
        return None  # a number for each example at most
    value = file.value(item)
    if not isinstance(value, Array) or value.library != "tf" or value.shape == () or value.origin is None:
        return None
    call, names = value.origin, step_names(loop, file)
    if not runs_model(call):
        return None
    if file.tree.contains(loop, call.node):
        return "outputs" if given(call, names) else None
    return "outputs" if _given_through(call, item, names, file) else None


def _given_through(forward: Call, item: cst.BaseExpression, names: set[str], file: File) -> bool:
    """Whether a function of the module, called on this step's data, runs the model on it and returns the output."""
    path: tuple[int | slice, ...] = ()
    if isinstance(item, cst.Name):
        found = file.definitions(item)
        if len(found) != 1 or not isinstance(found[0].value, cst.Call):
            return False
        item, path = found[0].value, found[0].path
    made = file.call(item) if isinstance(item, cst.Call) else None
    if made is None or not given(made, names):
        return False
    targets = [t.node for t in made.target.options if isinstance(t, Function)]
    function = targets[0] if len(targets) == 1 else None
    if not isinstance(function, cst.FunctionDef) or not file.tree.contains(function, forward.node):
        return False
    own = set(file.flow(function).bindings)
    results = [part for leaving in file.returns(function) for part in _parts(leaving.value, path)]
    return given(forward, own - {"self"}) and not any(_reduced(part, file) for part in results)


def _parts(result: cst.BaseExpression | None, path: tuple[int | slice, ...]) -> list[cst.BaseExpression]:
    """What a caller takes of a function's result: a part of a tuple, or all of it."""
    if isinstance(result, cst.Tuple) and path and isinstance(path[0], int) and path[0] < len(result.elements):
        return [result.elements[path[0]].value]
    return [result] if result is not None else []


def _reduced(result: cst.BaseExpression, file: File) -> bool:
    """Whether a result is a number for each example at most."""
    made = _made_by(result, file)
    return made is not None and REDUCES.search(made.name or "") is not None


def _of_this_step(gradient: Call, loop: Steps, file: File) -> bool:
    """Whether the loop makes the tape as well: rows of one Jacobian are no steps."""
    return file.tree.contains(loop, gradient.node) and any(
        isinstance(n, cst.Call) and file.call(n).name == "tf.GradientTape" for n in walk(loop)
    )


def _made_by(item: cst.BaseExpression, file: File) -> Call | None:
    if isinstance(item, cst.Call):
        return file.call(item)
    if not isinstance(item, cst.Name):
        return None
    definitions = file.definitions(item)
    if len(definitions) != 1 or not isinstance(definitions[0].value, cst.Call):
        return None
    made = file.call(definitions[0].value)
    return made if not definitions[0].path or made.name in GRADIENTS else None


def given(call: Call, names: set[str]) -> bool:
    """Whether a call is given one of these names."""
    return any(isinstance(n, cst.Name) and n.value in names for a in call.node.args for n in walk(a.value))
