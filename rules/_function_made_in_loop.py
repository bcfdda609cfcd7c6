"""Traced functions that are made again: by a function that a loop calls, for another value, for another object."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Class,
    Does,
    File,
    Loop,
    Node,
    Use,
    assigned_names,
    facts,
    free_names,
    knowledge,
    limits,
    once_per_file,
    ordering,
    parameters,
    repetition,
    tracing,
    uses,
    variables,
    walk,
)

TELLS = frozenset({"shape", "dtype", "ndim"})
"""Attributes of tensors that a traced function may ask for as well where the tensor is an argument."""


def made_by_callers(file: File, made: Node) -> bool:
    """Whether the function around is called in a loop and calls what it made instead of giving it away."""
    around = file.contexts.function(made)
    if not isinstance(around, cst.FunctionDef) or around.name.value == "__init__" or around.decorators:
        return False
    callers = file.call_graph.callers(around) or ()
    if sometimes(file, made, around) or not any(repetition.repeats(file, call.node, calls=0) for call in callers):
        return False
    used = list(_uses(file, made))
    called = [use.node for use in used if use.does is Does.CALL]
    if any(use.captured for use in used):
        return False  # a function inside that may live on keeps it
    if any(use.does is Does.RETURN for use in used):
        return not called and _wasted(file, around, callers)
    if any(repetition.repeats(file, node, calls=0) for node in called):  # one trace serves many calls
        return _alike(file, made, around, callers)
    return bool(called)


def sometimes(file: File, node: Node, within: Node) -> bool:
    """Whether an `if` keeps a node of a loop or function from running each time: any but a plain flag from outside."""
    tests = (each.test for each in ordering.conditions(file, node, within) if isinstance(each, cst.If))
    plain = (test.expression if isinstance(test, cst.UnaryOperation) else test for test in tests)
    return any(
        not isinstance(test, cst.Name) or any(d in file.bound_within(within) for d in file.definitions(test))
        for test in plain
    )


def same_each_time(file: File, made: Node, loop: Loop) -> bool:
    """Whether code reads nothing that the loop binds anew, or the loop runs over data."""
    return file.contexts.over_data(loop) or not repetition.bound_anew(file, made, loop)


def _uses(file: File, made: Node) -> Iterator[Use]:
    """The uses of a traced function and of its concrete functions, which are called as it is."""
    for use in uses(file, made):
        if use.word == "get_concrete_function" and use.place is not None:
            yield from uses(file, use.place)
        else:
            yield use


def _alike(file: File, made: Node, around: cst.FunctionDef, callers: tuple[Call, ...]) -> bool:
    """Whether a loop makes the same function each time it calls the one around it: what is closed over is a parameter
    that gets the same argument each time, and no object."""
    free = {name.value for name in free_names(file, made)}
    read = free & set(file.flow(around).bindings) - {getattr(getattr(made, "name", None), "value", "")}
    if not read <= {param.name.value for param in parameters(around)} - {"self"}:
        return False
    for call in callers:
        loop = file.contexts.loop(call.node)
        if loop is None or sometimes(file, call.node, loop):
            return False
        passed = [argument.expression for argument in map(call.arg, read) if argument is not None]
        if assigned_names(file, loop) & (free - read).union(*(variables(file, each) for each in passed)):
            return False
    return True


def _wasted(file: File, factory: cst.FunctionDef, callers: tuple[Call, ...]) -> bool:
    """Whether a loop over data, or one that changes nothing for it, asks a factory again for what it calls once."""
    for call in callers:
        loop = file.contexts.loop(call.node)
        if loop is None or sometimes(file, call.node, loop) or not same_each_time(file, call.node, loop):
            return False
        if not file.contexts.over_data(loop) and repetition.bound_anew(file, factory, loop):
            return False
        called = [use.node for use in uses(file, call.node) if use.does is Does.CALL]
        inside = any(file.contexts.loop(node) is not loop for node in called)
        if not called or (inside and not _same_result(file, factory, call, loop)):
            return False
    return True


def _same_result(file: File, factory: cst.FunctionDef, call: Call, loop: Loop) -> bool:
    """Whether a factory certainly gives the same function in each iteration: it makes no state, and its arguments are
    names that the loop does not bind. One that is called in a loop inside is no waste if it differs."""
    if repetition.bound_anew(file, call.node, loop) or next(tracing.state_made_by(file, factory), None) is not None:
        return False
    return not any(any(walk(arg.value, cst.Call)) for arg in call.node.args)


def values_closed_over(file: File, traced: facts.Wrapped) -> list[str]:
    """The numbers and tensors of which a loop makes one traced function each, called once; none where it is not certain
    that arguments would serve."""
    loop = file.contexts.loop(traced.made)
    again = next(repetition.repetitions(file, traced.made, calls=0), None)
    if loop is None or again is None or again.place is not loop or again.few(limits.FEW_RUNS):
        return []
    if traced.function is None or sometimes(file, traced.made, loop):
        return []
    used = list(uses(file, traced.made))
    if not used or any(each.does is not Does.CALL or file.contexts.loop(each.node) is not loop for each in used):
        return []
    names = repetition.bound_anew(file, traced.made, loop)
    return sorted(names) if names and all(_is_value(file, traced.function, name) for name in names) else []


def made_for_one_call(file: File, traced: facts.Wrapped) -> Call | None:
    """The call that makes an object in each iteration of which a traced method is called once, and nothing else."""
    method = traced.function if isinstance(traced.made, cst.Call) else traced.made
    owner = file.class_of(method) if isinstance(method, cst.FunctionDef) else None
    word = _attribute(file, traced.made) or getattr(traced.made, "name", None)
    if owner is None or not isinstance(word, cst.Name):
        return None
    return next((made for made in _makings(file).get(owner, ()) if _serves_one_call(file, word.value, made)), None)


@once_per_file
def _makings(file: File) -> dict[cst.ClassDef, list[Call]]:
    """The calls that make objects of the file's classes, by the class."""
    found: dict[cst.ClassDef, list[Call]] = {}
    for made in map(file.call, file.tree.of(cst.Call)):
        if isinstance(made.target, Class):
            found.setdefault(made.target.node, []).append(made)
    return found


def _attribute(file: File, made: Node) -> cst.Name | None:
    """The attribute of the object that `__init__` sets: `self.act = tf.function(self.choose)`."""
    home, above = file.contexts.function(made), file.tree.parent(made)
    target = above.targets[0].target if isinstance(above, cst.Assign) else None
    own = isinstance(target, cst.Attribute) and isinstance(target.value, cst.Name) and target.value.value == "self"
    begun = isinstance(home, cst.FunctionDef) and home.name.value == "__init__"
    return target.attr if own and begun and isinstance(target, cst.Attribute) else None


def _serves_one_call(file: File, word: str, made: Call) -> bool:
    again = next(repetition.repetitions(file, made.node, calls=0), None)
    if again is None or again.few(limits.FEW_RUNS) or sometimes(file, made.node, again.place):
        return False
    used, place = list(uses(file, made.node)), _innermost(file, made.node)
    if place is None or any(_innermost(file, each.node) is not place for each in used):
        return False
    called = [each.word if each.does is Does.METHOD else "__call__" for each in used]
    return called == [word] and all(each.does in (Does.METHOD, Does.CALL) for each in used)


def _innermost(file: File, node: Node) -> Node | None:
    return file.contexts.comprehension(node) or file.contexts.loop(node)


def _is_value(file: File, function: cst.FunctionDef | cst.Lambda, name: str) -> bool:
    """Whether a function only calculates with a name, takes items of it or gives it to TensorFlow."""
    read = [node for node in walk(function.body, cst.Name) if node.value == name]
    return bool(read) and all(_calculates(file, node) for node in read)


def _calculates(file: File, node: Node) -> bool:
    above = file.tree.parent(node)
    while isinstance(above, cst.Subscript) and above.value is node:
        node, above = above, file.tree.parent(above)
    if isinstance(above, cst.Attribute):
        return above.value is node and above.attr.value in TELLS
    if isinstance(above, cst.Arg):
        call = file.tree.parent(above)
        return isinstance(call, cst.Call) and knowledge.gives_tensor(file.call(call).name or "")
    return isinstance(above, (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.Return, cst.Lambda))
