"""Code in a loop that runs once for all, or in a graph, on a device or with a seed of its own each time."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import File, Node, assigned_names, own_nodes, walk

KEEPS = frozenset({"append", "add", "extend", "insert", "setdefault", "update", "put", "appendleft"})
SEEDS = frozenset({"tf.random.set_seed", "tf.keras.utils.set_random_seed", "tf.compat.v1.set_random_seed"})
GRAPHS = ("tf.Graph", "tf.compat.v1.Session", "tf.compat.v1.Graph", "tf.compat.v1.InteractiveSession",
          "tf.compat.v1.reset_default_graph")  # fmt: skip
MODELS = ("tf.keras.Sequential", "tf.keras.Model", "tf.keras.applications.", "tf.keras.optimizers.",
          "tf.keras.models.", "tf.keras.backend.clear_session")  # fmt: skip
KNOWN_DECORATORS = frozenset({"staticmethod", "classmethod", "property", "abstractmethod"})


def made_once(node: Node, within: Node, file: File) -> bool:
    """Whether code in a loop or function stands where it runs at most once: behind `if ds is None`, in a branch that
    leaves the loop, where an attempt failed, or in a function that keeps its result."""
    if isinstance(within, cst.FunctionDef) and any(_keeps(d, file) for d in within.decorators):
        return True
    below = node
    for above in file.tree.ancestors(node):
        if above is within:
            return False
        if isinstance(above, cst.ExceptHandler):
            return True
        if isinstance(above, cst.If) and below is not above.test:
            if first_time(above.test, below is above.body, within, file) or (
                below is above.body and _leaves(above.body)
            ):
                return True
        if isinstance(above, cst.IfExp) and below is not above.test:
            if first_time(above.test, below is above.body, within, file):
                return True
        below = above
    return False


def _keeps(decorator: cst.Decorator, file: File) -> bool:
    node = decorator.decorator
    return file.text(node).rpartition(".")[2] not in KNOWN_DECORATORS


def _leaves(body: cst.BaseSuite) -> bool:
    last = body.body[-1] if body.body else None
    small = last.body[-1] if isinstance(last, cst.SimpleStatementLine) else last
    return isinstance(small, (cst.Break, cst.Return, cst.Raise))


def first_time(test: cst.BaseExpression, holds: bool, within: Node, file: File) -> bool:
    """Whether a condition (or its opposite) is one that holds the first time only: nothing is there yet."""
    if isinstance(test, cst.BooleanOperation):
        return first_time(test.left, holds, within, file) or first_time(test.right, holds, within, file)
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        return holds or first_time(test.expression, not holds, within, file)
    if isinstance(test, cst.Comparison):
        step = test.comparisons[0]
        if holds:
            zero = (
                isinstance(step.operator, cst.Equal)
                and isinstance(test.left, (cst.Name, cst.Attribute))
                and file.text(step.comparator) in ("0", "1")
            )
            return zero or isinstance(step.operator, (cst.Is, cst.NotIn))
        return isinstance(step.operator, (cst.IsNot, cst.In, cst.NotEqual))
    if isinstance(test, cst.Name) and isinstance(within, (cst.For, cst.While)):
        return test.value in assigned_names(within, file)
    return isinstance(test, cst.Call) and not holds and file.call(test).name == "builtins.hasattr"


def other_world(node: Node, loop: cst.For | cst.While, file: File) -> bool:
    """Whether each iteration has its own graph, device or seed, so that what is made in it differs from the last."""
    for block in file.contexts.withs(node):
        if not file.tree.contains(loop, block):
            break
        for item in block.items:
            names = {n.value for n in walk(item.item) if isinstance(n, cst.Name)}
            if names & assigned_names(loop, file) or any(n.startswith(GRAPHS) for n in _called(item.item, file)):
                return True
    return any(name in SEEDS or name.startswith(GRAPHS) for name in _called(loop.body, file))


def _called(node: Node, file: File) -> Iterator[str]:
    for call in walk(node, cst.Call):
        yield from file.call(call).names


def retries(loop: cst.For | cst.While) -> bool:
    """Whether a loop retries or waits: a `while` with a `try` in it."""
    return isinstance(loop, cst.While) and any(isinstance(statement, cst.Try) for statement in loop.body.body)


def stored(node: Node, loop: cst.For | cst.While, file: File) -> bool:
    """Whether a value is put into a list or dictionary from outside the loop, beside those of other iterations."""
    parent = file.tree.parent(node)
    if isinstance(parent, cst.Assign) and isinstance(parent.targets[0].target, cst.Name):
        named = file.definition(parent.targets[0].target)
        readers = file.readers(named) if named is not None else []
        return len(readers) == 1 and file.contexts.loop(readers[0]) is loop and stored(readers[0], loop, file)
    call = file.tree.parent(parent) if isinstance(parent, cst.Arg) else None
    if isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in KEEPS:
        owner: Node = call.func.value
    elif isinstance(parent, cst.Assign) and isinstance(target := parent.targets[0].target, cst.Subscript):
        owner = target.value
    else:
        return False
    bound = assigned_names(loop, file)
    return not any(isinstance(n, cst.Name) and n.value in bound for n in walk(owner))


def builds_model(function: cst.FunctionDef, file: File) -> bool:
    """Whether a function makes a model or an optimizer: a whole experiment, with data of its own."""
    calls = own_nodes(function, cst.Call)
    return any(name.startswith(MODELS) and name.count(".") < 4 for call in calls for name in file.call(call).names)
