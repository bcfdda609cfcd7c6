from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._sessions import SESSIONS

from tfmemlint.api import Call, Const, File, Finding, Function, Node, Rule, dotted, on_call, own_nodes, walk

CLOSES = frozenset({"close", "__enter__", "__exit__", "as_default"})
ENTERS = frozenset({"closing", "enter_context", "push", "callback", "append", "extend", "add", "put"})
SAVES = frozenset({"restore", "save"})
"""Methods of a saver, which use a session and leave it open."""


class SessionMadeInLoop(Rule):
    """
    ## What it does
    Reports TensorFlow 1 sessions that are made in a loop, or in a function that a loop calls, and neither entered by
    `with` nor closed.

    ## Why it costs memory
    A session holds its variables' memory and its own copy of the graph. An `InteractiveSession` makes itself the
    default session and is never freed: each iteration's variables stay. A plain session is freed when Python drops the
    last reference to it, at the next iteration at the earliest, and each new one prepares the graph again.

    ## When not to use it
    Never.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session
    """

    code = "TFM902"
    summary = "a session made in a loop and not closed keeps its variables and graph"
    no_fix = "whether the sessions can be one depends on their variables"
    in_tests = False

    @on_call(*SESSIONS)
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        loop = self._loop(made, file)
        if loop is None or _asked_first(made, file) or _kept(made, file):
            return
        cost = "its variables and graph stay until Python drops the last reference to it"
        if (made.name or "").endswith("InteractiveSession"):
            cost = "it stays the default session, with its variables and graph"
        yield self.finding(
            made,
            file,
            f"each iteration makes a session that is never closed: {cost}",
            related=[(loop, "the loop")],
        )

    def _loop(self, made: Call, file: File) -> Node | None:
        """The loop or comprehension that makes a session in each iteration, itself or by a function that it calls."""
        loop: Node | None = file.contexts.loop(made.node)
        if loop is None and isinstance(file.tree.parent(made.node), cst.Attribute):
            loop = file.contexts.comprehension(made.node)
        function = file.contexts.function(made.node)
        if loop is not None or not isinstance(function, cst.FunctionDef) or function.name.value == "__init__":
            return loop
        if any(own_nodes(function, cst.Yield)):
            return None
        callers = file.values.functions.callers(function) or ()
        found = (file.contexts.loop(c.node) or file.contexts.comprehension(c.node) for c in callers)
        return next((loop for loop in found if loop is not None), None)


def _kept(made: Call, file: File) -> bool:
    """Whether the session is closed, entered, returned or handed to what may close it."""
    above = file.tree.parent(made.node)
    if isinstance(above, cst.Attribute):
        return above.attr.value in CLOSES
    if isinstance(above, cst.Arg):
        return _may_close(above, file)
    if not isinstance(above, cst.Assign) or len(above.targets) != 1:
        return True
    target = above.targets[0].target
    name = dotted(target)
    if name is None or isinstance(target, cst.Subscript):
        return True
    if isinstance(target, cst.Attribute):
        uses: list[Node] = [n for n in file.tree.of(cst.Attribute) if dotted(n) == name and n is not target]
        loop, base = file.contexts.loop(made.node), name.partition(".")[0]
        items = {n.value for n in walk(loop.target) if isinstance(n, cst.Name)} if isinstance(loop, cst.For) else set()
        if loop is None or base in items:  # each object keeps its own
            return True
    else:
        made_here = [d for d in file.flow(file.scope_of(target)).bindings.get(name, ()) if d.node is target]
        uses = [use for d in made_here for use in file.uses_of(d)]
    return any(_closes(use, file) for use in uses)


def _closes(use: Node, file: File) -> bool:
    parent = file.tree.parent(use)
    if isinstance(parent, cst.Attribute):
        return parent.value is use and parent.attr.value in CLOSES
    if isinstance(parent, (cst.WithItem, cst.Return, cst.Yield, cst.Element, cst.DictElement, cst.Assign)):
        return True
    return isinstance(parent, cst.Arg) and _may_close(parent, file)


def _may_close(argument: cst.Arg, file: File) -> bool:
    """Whether what is given the session may close or keep it: not TensorFlow, Python's own functions, or a function of
    the module that does not."""
    node = file.tree.parent(argument)
    if not isinstance(node, cst.Call):
        return True
    call = file.call(node)
    if call.method in ENTERS:
        return True
    if call.method in SAVES:
        return False
    if call.names:
        return not all(name.startswith(("tf.", "builtins.")) for name in call.names)
    if call.method == "set_session":
        return False
    targets = call.target.options
    if not all(isinstance(t, Function) for t in targets):
        return True
    read = [n for t in targets if isinstance(t, Function) for n in own_nodes(t.node, cst.Attribute)]
    return any(isinstance(n, cst.Attribute) and n.attr.value in CLOSES for n in read)


def _asked_first(made: Call, file: File) -> bool:
    """Whether a condition makes the session once: `if session is None`."""
    below: Node = made.node
    for above in file.tree.ancestors(made.node):
        if isinstance(above, (cst.FunctionDef, cst.For, cst.While)):
            return False
        if isinstance(above, cst.If) and below is above.body:
            if isinstance(above.test, cst.UnaryOperation) and isinstance(above.test.operator, cst.Not):
                return True
            if isinstance(above.test, cst.Comparison):
                return file.value(above.test.comparisons[0].comparator) == Const(None)
        below = above
    return False
