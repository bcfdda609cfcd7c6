"""When a call that loads a model runs again with nothing changed: in request handlers, and in functions in loops."""

from __future__ import annotations

import libcst as cst
from tfmemlint_rules._altered import changed
from tfmemlint_rules._handlers import handler_of
from tfmemlint_rules._iterations import few_iterations
from tfmemlint_rules._made import fate
from tfmemlint_rules._models import is_model
from tfmemlint_rules._once import first_time

from tfmemlint.api import Call, Const, File, Function, Node, assigned_names, dotted, own_nodes, parameters, walk

SAVES = frozenset({"save", "save_model", "save_weights", "export"})
TRAINS = frozenset({"fit", "train_on_batch", "compile", "fit_generator"})
FEW = 3


def called_again(call: Call, file: File) -> Node | None:
    """The loop around a call of the function that loads the model, uses it and forgets it."""
    function = file.contexts.function(call.node)
    if not isinstance(function, cst.FunctionDef) or function.decorators or function.name.value == "__init__":
        return None
    if _kept(call.node, function, file):
        return None
    if not constant(call, function, file) or conditional(call.node, function, file):
        return None
    if needs_fresh(call, function.body, file):
        return None
    returned = _returned(call, function)
    if not returned and not _forgotten(call, file):
        return None
    for caller in file.values.functions.callers(function) or ():
        if not returned or _forgotten(caller, file):
            again = _again(caller, file, 2)
            if again is not None:
                return None if needs_fresh(call, again, file) else again
    return None


def _kept(node: cst.Call, function: cst.FunctionDef, file: File) -> bool:
    """Whether the model is put where others than this function use it."""
    assign = file.tree.parent(node)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    if isinstance(target, cst.Attribute):
        uses = [n for n in file.tree.of(cst.Attribute) if n.attr.value == target.attr.value and n is not target]
        return not uses or any(file.contexts.function(use) is not function for use in uses)
    return target is not None and not isinstance(target, cst.Name)


def reloads(node: cst.Call, handler: cst.FunctionDef, file: File) -> bool:
    """Whether a handler only puts the model where other code finds it: a request to load it anew."""
    assign = file.tree.parent(node)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    if not isinstance(target, (cst.Name, cst.Attribute, cst.Subscript)):
        return False
    path = dotted(target.value if isinstance(target, cst.Subscript) else target)
    declared = own_nodes(handler, cst.Global)
    if isinstance(target, cst.Name) and not any(i.name.value == path for n in declared for i in n.names):
        return False
    read = (n for n in walk(handler.body, cst.Name, cst.Attribute) if dotted(n) == path)
    return all(file.tree.contains(target, n) or isinstance(file.tree.parent(n), cst.NameItem) for n in read)


def _again(caller: Call, file: File, depth: int) -> Node | None:
    """The handler or loop around a call, or around the calls of the function of the module that it stands in."""
    handler = handler_of(caller.node, file)
    if handler is not None:
        return None if lazy(caller.node, handler, file) else handler
    around: list[Node] = [n for n in file.contexts.loops(caller.node) if not few_iterations(n, file, FEW)]
    comprehension = file.contexts.comprehension(caller.node)
    for loop in around or ([comprehension] if comprehension is not None else []):
        if not conditional(caller.node, loop, file) and not _of_item(caller, loop, file):
            return loop
    function = file.contexts.function(caller.node)
    if not depth or not isinstance(function, cst.FunctionDef) or function.decorators or file.class_of(function):
        return None
    if around or conditional(caller.node, function, file):
        return None
    outer = (_again(c, file, depth - 1) for c in file.values.functions.callers(function) or ())
    return next((found for found in outer if found is not None), None)


def constant(call: Call, handler: cst.FunctionDef, file: File) -> bool:
    """Whether a function loads from the same place each time."""
    local = set(file.flow(handler).bindings)
    if file.class_of(handler) is not None:
        local -= {p.name.value for p in (*parameters(handler),)[:1]}  # the object's own settings
    reads = (n for a in call.node.args for n in walk(a.value, cst.Name))
    return not any(n.value in local and not isinstance(file.value(n), Const) for n in reads)


def lazy(node: cst.Call, handler: cst.FunctionDef, file: File) -> bool:
    """Whether a handler loads for its first request alone: `if model is None`. What asks about the request
    (`if request.method == "POST"`) is there to hold again."""
    below: Node = node
    for above in file.tree.ancestors(node):
        if above is handler:
            return False
        if isinstance(above, (cst.If, cst.IfExp)) and below is not above.test:
            if first_time(above.test, below is above.body, handler, file):
                return True
        below = above
    return False


def needs_fresh(call: Call, loop: Node, file: File) -> bool:
    """Whether the loop saves or trains a model, or gives the file that is loaded to something else, too."""
    given = {file.text(a.value) for a in call.node.args if a.keyword is None}
    home = file.contexts.function(call.node)
    for node in walk(loop):
        if isinstance(node, cst.Call) and node is not call.node:
            if any(isinstance(t, Function) and t.node is home for t in file.call(node).target.options):
                continue  # it is there to load the model
            if file.call(node).method in TRAINS or _saves_model(file.call(node), file):
                return True
            if any(file.text(a.value) in given for a in node.args) and file.call(node).name is None:
                return True
    return False


def _saves_model(call: Call, file: File) -> bool:
    """Whether a call writes a model; an uploaded file and an array have a `save` of their own."""
    if call.method not in SAVES:
        return False
    if call.name is not None:
        return call.name.startswith("tf.")
    return call.receiver_node is None or any(is_model(option, file) for option in call.receiver.options)


def conditional(node: cst.Call, loop: Node, file: File) -> bool:
    """Whether the loop loads only sometimes, or tries until it works."""
    for above in file.tree.ancestors(node):
        if above is loop:
            return False
        if isinstance(above, cst.If):
            return True
        if isinstance(above, cst.Try) and any(walk(above.body, cst.Break, cst.Return)):
            return True
    return False


def _forgotten(call: Call, file: File) -> bool:
    """Whether what a call gives is used and dropped."""
    done = fate(call.node, file)
    return done is not None and not done.kept and not changed(call.node, file)


def _returned(call: Call, function: cst.FunctionDef) -> bool:
    """Whether the function is there to load the model: it gives back what it loads, and nothing else."""
    returns = list(own_nodes(function, cst.Return))
    return bool(returns) and all(node.value is call.node for node in returns)


def _of_item(caller: Call, loop: Node, file: File) -> bool:
    """Whether the loop calls a method of another object each time."""
    bound = {
        n.value for c in walk(loop) if isinstance(c, cst.CompFor) for n in walk(c.target, cst.Name)
    }
    if isinstance(loop, (cst.For, cst.While)):
        bound = assigned_names(loop, file)
    receiver = caller.receiver_node
    return receiver is not None and any(isinstance(n, cst.Name) and n.value in bound for n in walk(receiver))
