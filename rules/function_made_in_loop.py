from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._loops import assigned_names, free_names, hoist

from tfmemlint.api import Api, File, Finding, Node, Rule, Safety, on_file, own_nodes, walk

KEEPS = frozenset({"append", "add", "setdefault", "extend", "insert"})


class FunctionMadeInLoop(Rule):
    """
    ## What it does
    Reports `tf.function(...)`, or a decorated `def`, that is evaluated in each iteration of a loop, or in a function
    that is called in a loop and uses it itself.

    ## Why it costs memory
    Each evaluation makes a new traced function with an empty cache: it is traced again in every iteration, and graphs
    that hold an optimizer or a custom gradient are never freed.

    ## Example
    ```python
    for batch in dataset:
        step = tf.function(train_step)
        step(batch)
    ```
    Make it once:
    ```python
    step = tf.function(train_step)
    for batch in dataset:
        step(batch)
    ```

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

    @on_file("function")
    def check(self, file: File) -> Iterator[Finding]:
        for call in file.calls("tf.function"):
            if not isinstance(file.tree.parent(call.node), cst.Decorator) and not self._kept(call.node, file):
                yield from self._report(call.node, call.node, file)
        for function in file.tree.of(cst.FunctionDef):
            for decorator in function.decorators:
                expression = (
                    decorator.decorator.func if isinstance(decorator.decorator, cst.Call) else decorator.decorator
                )
                if file.value(expression) == Api("tf.function"):
                    yield from self._report(decorator.decorator, function, file)

    def _report(self, where: Node, made: Node, file: File) -> Iterator[Finding]:
        if file.contexts.traced(made):
            return
        loop = file.contexts.loop(made)
        inside = loop is not None and self._same_each_time(made, loop, file)
        if not inside and not self._in_called_function(made, file):
            return
        place = file.call(where) if isinstance(where, cst.Call) and where is made else where
        related = [(loop, "the loop")] if loop is not None else []
        yield self.finding(
            place,
            file,
            "this makes a new traced function each time it runs: nothing is reused and every call traces again; "
            "make it once",
            fix=hoist(file, made, "make it before the loop") if inside else None, related=related,
        )  # fmt: skip

    def _kept(self, node: Node, file: File) -> bool:
        """Whether the function goes into a container or an attribute, to be used again."""
        parent = file.tree.parent(node)
        if isinstance(parent, cst.Arg):
            call = file.tree.parent(parent)
            return isinstance(call, cst.Call) and isinstance(call.func, cst.Attribute) and call.func.attr.value in KEEPS
        if isinstance(parent, cst.Assign):
            return any(not isinstance(t.target, cst.Name) for t in parent.targets)
        return isinstance(parent, (cst.Return, cst.Yield, cst.DictElement, cst.Element))

    def _same_each_time(self, made: Node, loop: cst.For | cst.While, file: File) -> bool:
        """Whether the function closes over nothing that the loop makes, or the loop runs over data."""
        if isinstance(loop, cst.For) and file.contexts.over_data(loop):
            return True
        bound = set(assigned_names(loop, file)) - ({made.name.value} if isinstance(made, cst.FunctionDef) else set())
        return not bound & free_names(made, file)

    def _in_called_function(self, made: Node, file: File) -> bool:
        """Whether the function around it is called in a loop and calls what it made instead of giving it away."""
        around = file.contexts.function(made)
        if not isinstance(around, cst.FunctionDef) or around.name.value == "__init__":
            return False
        callers = file.values.functions.callers(around)
        if not callers or not any(file.contexts.loop(c.node) is not None for c in callers):
            return False
        if isinstance(made, cst.Call):
            parent = file.tree.parent(made)
            if isinstance(parent, cst.Call):
                return parent.func is made
            names = (
                {t.target.value for t in parent.targets if isinstance(t.target, cst.Name)}
                if isinstance(parent, cst.Assign)
                else set()
            )
        else:
            names = {made.name.value} if isinstance(made, cst.FunctionDef) else set()
        called = [
            n
            for n in own_nodes(around, (cst.Call,))
            if isinstance(n, cst.Call) and isinstance(n.func, cst.Name) and n.func.value in names
        ]
        given = [
            r
            for r in file.returns(around)
            if r.value is not None
            and any(
                isinstance(n, cst.Name) and n.value in names
                for n in walk(r.value)
                if not any(n is c.func for c in called)
            )
        ]
        looped = any(file.contexts.loop(c) is not None for c in called)  # one trace serves many calls
        return bool(called) and not given and not looped
