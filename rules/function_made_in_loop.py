from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._remade import guarded_in, made_in_called_function, same_each_time

from tfmemlint.api import (
    File,
    Finding,
    Fix,
    Node,
    Rule,
    Safety,
    Wrapped,
    assigned_names,
    free_names,
    functions_given_to,
    hoist,
    loops_left,
    on,
    walk,
)

KEEPS = frozenset({"append", "add", "setdefault", "extend", "insert"})


class FunctionMadeInLoop(Rule):
    """
    ## What it does
    Reports `tf.function(...)`, or a decorated `def`, that is evaluated in each iteration of a loop, or in a function
    that is called in a loop and uses it itself.

    ## Why it costs memory
    Each evaluation makes a new traced function with an empty cache: it is traced again in every iteration, and graphs
    that hold an optimizer or a custom gradient are never freed.

    ## Fix safety
    Unsafe: a function that closes over nothing that the loop makes moves before the loop; traces that are shared then
    see the values that the first one saw. Elsewhere there is no fix.

    ## When not to use it
    One function for each model or key, kept and called often, is right; such loops are not reported.

    ## References
    - https://www.tensorflow.org/guide/function
    """

    code = "TFM502"
    summary = "a traced function made in a loop is traced again in each iteration"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on(functions_given_to("tf.function"))
    def check(self, traced: Wrapped, file: File) -> Iterator[Finding]:
        made = traced.made
        if file.contexts.traced(made) or (isinstance(made, cst.Call) and self._kept(made, file)):
            return
        loop = file.contexts.loop(made)
        inside = loop is not None and not guarded_in(loop, made, file) and same_each_time(made, loop, file)
        if not inside and not self._in_comprehension(made, file) and not made_in_called_function(made, file):
            return
        related = [(loop, "the loop")] if loop is not None else []
        yield self.finding(
            traced.where,
            file,
            "this makes a new traced function each time it runs: nothing is reused and every call traces again; "
            "make it once",
            fix=self._hoist(made, file) if inside else None, related=related,
        )  # fmt: skip

    def _hoist(self, made: Node, file: File) -> Fix | None:
        if not isinstance(made, cst.FunctionDef) and not isinstance(file.tree.parent(made), cst.Assign):
            return None  # it is called at once: what it gives is not to move
        statement = made if isinstance(made, cst.FunctionDef) else file.tree.statement(made)
        fix = hoist(file, [statement], "make it before the loop")
        left = loops_left(file, fix, made)[:1] if fix is not None else []
        again = any(same_each_time(made, outer, file) for outer in left) or made_in_called_function(made, file)
        return fix if not again else None

    def _kept(self, node: Node, file: File) -> bool:
        """Whether the function goes into a container or an attribute, to be used again."""
        parent = file.tree.parent(node)
        if isinstance(parent, cst.Arg):
            call = file.tree.parent(parent)
            return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in KEEPS
        if isinstance(parent, cst.Assign):
            return any(self._another_each_time(t.target, file) for t in parent.targets)
        return isinstance(parent, (cst.Yield, cst.DictElement, cst.Element)) or self._collected(node, file)

    def _another_each_time(self, target: cst.BaseExpression, file: File) -> bool:
        """Whether an assignment fills another place in each iteration, or one that lives on after its method."""
        if isinstance(target, cst.Name):
            return False
        loop = file.contexts.loop(target)
        if loop is None or not isinstance(target, cst.Attribute):
            return True
        return bool(assigned_names(loop, file) & {n.value for n in walk(target.value) if isinstance(n, cst.Name)})

    def _collected(self, node: Node, file: File) -> bool:
        """Whether a comprehension makes one function for each of its items."""
        comprehension = file.contexts.comprehension(node)
        return comprehension is not None and node in (
            getattr(comprehension, "elt", None), getattr(comprehension, "value", None)
        )  # fmt: skip

    def _in_comprehension(self, made: Node, file: File) -> bool:
        """Whether each item of a comprehension makes the same function and calls it."""
        comprehension = file.contexts.comprehension(made)
        if comprehension is None:
            return False
        bound = {n.value for c in walk(comprehension) if isinstance(c, cst.CompFor) for n in walk(c.target)
                 if isinstance(n, cst.Name)}  # fmt: skip
        return not any(name.value in bound for name in free_names(made, file))
