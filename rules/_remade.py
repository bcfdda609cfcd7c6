"""Traced functions that a function makes each time a loop calls it."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Call, File, Node, assigned_names, free_names, own_nodes, parameters, variables, walk


def same_each_time(made: Node, loop: cst.For | cst.While, file: File) -> bool:
    """Whether the function closes over nothing that the loop makes, or the loop runs over data."""
    if isinstance(loop, cst.For) and file.contexts.over_data(loop):
        return True
    bound = assigned_names(loop, file) - ({made.name.value} if isinstance(made, cst.FunctionDef) else set())
    return not any(name.value in bound and not _fixed(name, loop, file) for name in free_names(made, file))


def _fixed(name: cst.Name, loop: cst.For | cst.While, file: File) -> bool:
    """Whether a name is that of a function which the loop makes the same each time."""
    found = file.definitions(name)
    functions = [d.value for d in found if isinstance(d.value, (cst.FunctionDef, cst.Lambda))]
    return bool(functions) and len(functions) == len(found) and all(same_each_time(f, loop, file) for f in functions)


def made_in_called_function(made: Node, file: File) -> bool:
    """Whether the function around it is called in a loop and calls what it made instead of giving it away."""
    around = file.contexts.function(made)
    if not isinstance(around, cst.FunctionDef) or around.name.value == "__init__":
        return False
    callers = file.values.functions.callers(around)
    if not callers or around.decorators or not any(_repeated(c.node, file) for c in callers):
        return False
    if guarded_in(around, made, file):
        return False
    if isinstance(made, cst.Call):
        parent = file.tree.parent(_concrete(made, file))
        if isinstance(parent, cst.Call):
            return parent.func is made
        if isinstance(parent, cst.Return):
            return _wasted(around, callers, file)
        names = (
            {t.target.value for t in parent.targets if isinstance(t.target, cst.Name)}
            if isinstance(parent, cst.Assign)
            else set()
        )
    else:
        names = {made.name.value} if isinstance(made, cst.FunctionDef) else set()
    names |= _concretes(names, around)
    called = [
        n
        for n in own_nodes(around, cst.Call)
        if isinstance(n, cst.Call) and isinstance(n.func, cst.Name) and n.func.value in names
    ]
    given = [
        r
        for r in file.returns(around)
        if r.value is not None
        and any(
            isinstance(n, cst.Name) and n.value in names for n in walk(r.value) if not any(n is c.func for c in called)
        )
    ]
    if given:
        return not called and _wasted(around, callers, file)
    if any(_repeated(c, file) for c in called):  # one trace serves many calls
        return _alike(made, around, callers, file)
    return bool(called)


def _concrete(made: cst.Call, file: File) -> cst.Call:
    """`tf.function(f).get_concrete_function(...)`, which is called as the function itself is."""
    method = file.tree.parent(made)
    call = file.tree.parent(method) if isinstance(method, cst.Attribute) else None
    concrete = isinstance(method, cst.Attribute) and method.attr.value == "get_concrete_function"
    return call if concrete and isinstance(call, cst.Call) else made


def _concretes(names: set[str], around: cst.FunctionDef) -> set[str]:
    """The names of concrete functions that a function makes of traced ones."""
    found: set[str] = set()
    for assign in own_nodes(around, cst.Assign):
        call = assign.value if isinstance(assign, cst.Assign) else None
        method = call.func if isinstance(call, cst.Call) else None
        if isinstance(method, cst.Attribute) and method.attr.value == "get_concrete_function":
            if isinstance(assign, cst.Assign) and isinstance(method.value, cst.Name) and method.value.value in names:
                found |= {t.target.value for t in assign.targets if isinstance(t.target, cst.Name)}
    return found


def _repeated(node: Node, file: File) -> bool:
    return file.contexts.loop(node) is not None or file.contexts.comprehension(node) is not None


def _alike(made: Node, around: cst.FunctionDef, callers: tuple[Call, ...], file: File) -> bool:
    """Whether a loop makes the same function each time it calls the one around it: what is closed over is a parameter
    that gets the same argument each time, and no object."""
    free = {name.value for name in free_names(made, file)}
    own = {made.name.value} if isinstance(made, cst.FunctionDef) else set()
    read = free & set(file.flow(around).bindings) - own
    if not read <= {p.name.value for p in parameters(around)} - {"self"}:
        return False
    for call in callers:
        loop = file.contexts.loop(call.node)
        if loop is None or guarded_in(loop, call.node, file):
            return False
        passed = [a.expression for a in map(call.arg, read) if a is not None]
        if assigned_names(loop, file) & (free - read).union(*(variables(e, file) for e in passed)):
            return False
    return True


def _wasted(factory: cst.FunctionDef, callers: tuple[Call, ...], file: File) -> bool:
    """Whether a loop over data, or one that changes nothing for it, asks a factory again for what it calls."""
    loops = [file.contexts.loop(call.node) for call in callers]
    return all(
        loop is not None
        and not guarded_in(loop, call.node, file)
        and _used_at_once(call.node, loop, file)
        and same_each_time(call.node, loop, file)
        and (
            file.contexts.over_data(loop)
            or not assigned_names(loop, file) & {name.value for name in free_names(factory, file)}
        )
        for call, loop in zip(callers, loops, strict=True)
    )


def _used_at_once(call: cst.Call, loop: cst.For | cst.While, file: File) -> bool:
    """Whether the loop calls what the factory gives, once."""
    above = file.tree.parent(call)
    if isinstance(above, cst.Call):
        return above.func is call
    if not isinstance(above, cst.Assign) or not isinstance(above.targets[0].target, cst.Name):
        return False
    name = above.targets[0].target.value
    calls = [n for n in walk(loop.body, cst.Call) if isinstance(n.func, cst.Name)
             and n.func.value == name]  # fmt: skip
    return bool(calls) and all(file.contexts.loop(c) is loop for c in calls)


def guarded_in(within: Node, node: Node, file: File) -> bool:
    """Whether an `if` keeps a node of a loop or function from running each time: any but a plain flag from outside."""
    scope = file.flow(file.scope_of(node))
    for above in file.tree.ancestors(node):
        if above is within:
            return False
        if isinstance(above, cst.If):
            test = above.test.expression if isinstance(above.test, cst.UnaryOperation) else above.test
            bound = scope.bindings.get(test.value, ()) if isinstance(test, cst.Name) else ()
            if not isinstance(test, cst.Name) or any(file.tree.contains(within, d.node) for d in bound):
                return True
    return False
