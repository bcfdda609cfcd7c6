"""What a loop runs over and draws from, and the names that it makes of that."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import File, Node, walk

STEPS = frozenset({"take", "batch", "shuffle", "prefetch", "repeat", "enumerate", "as_numpy_iterator", "skip", "map"})
Round = cst.For | cst.While | cst.ListComp | cst.GeneratorExp


def drawn(call: cst.Call, file: File) -> cst.BaseExpression | None:
    """The iterator of which a call takes the next item."""
    if isinstance(call.func, cst.Attribute) and call.func.attr.value in ("get_next", "__next__"):
        return call.func.value
    return call.args[0].value if call.args and file.call(call).name == "builtins.next" else None


def iterators(drawn: cst.BaseExpression, file: File) -> list[cst.Call]:
    """The calls `iter(...)` that may have made an iterator."""
    made = [d.value for d in file.definitions(drawn)] if isinstance(drawn, cst.Name) else [drawn]
    return [node for node in made if isinstance(node, cst.Call) and file.call(node).name == "builtins.iter"]


def derived(loop: Round, target: Node, plain: bool = False) -> set[str]:
    """The names of a loop's target and those that its body makes of them; `plain`: by arithmetic alone."""
    found = {n.value for n in walk(target) if isinstance(n, cst.Name)}
    for node in walk(loop):
        if isinstance(node, cst.Assign) and not (plain and any(walk(node.value, cst.Call))):
            if any(isinstance(n, cst.Name) and n.value in found for n in walk(node.value)):
                found |= {n.value for t in node.targets for n in walk(t.target) if isinstance(n, cst.Name)}
    return found


def iterated(expression: cst.BaseExpression) -> cst.BaseExpression:
    """What is iterated under `enumerate(...)`, `tqdm(...)` and steps such as `.take(10)`."""
    while isinstance(expression, cst.Call):
        if isinstance(expression.func, cst.Attribute) and expression.func.attr.value in STEPS:
            expression = expression.func.value
        elif expression.args:
            expression = expression.args[0].value
        else:
            break
    return expression
