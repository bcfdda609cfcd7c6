"""Which calls some code makes, itself or in functions of the module that it calls."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model import decided
from tfmemlint.model.values import Class, Function
from tfmemlint.syntax.scopes import FUNCTIONS, ScopeNode
from tfmemlint.syntax.tree import Node, push_children

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.model.functions import Frame


def calls(file: File, body: Node, *names: str, through: int = 0) -> Iterator[Call]:
    """The calls in some code that certainly go to one of these APIs, in the order of the code; all calls without names.

    A name is canonical (`tf.data.Dataset.map`), the beginning of such names if it ends in a dot (`tf.random.`), or a
    bare word (`clear_session`): then whatever is called by it counts. `body` is any code; of a function it is what
    runs when it is called. Functions and classes that the code defines count where they are called: with `through`,
    those of the module are gone into, so many behind each other (`FOLLOWED_CALLS`), each once, after the call itself.
    A lambda counts where it stands.

    What a call that is gone through keeps from running, by what it passes, is left out: `make(net)` does not come to
    what stands below `if net is None:`.

    Where nothing is yielded, no such call is seen: calls of what is not known may still make one.
    """
    yield from _calls(file, body, names, through, set(), None)


def _calls(
    file: File, body: Node, names: tuple[str, ...], left: int, entered: set[int], frame: Frame | None
) -> Iterator[Call]:
    entered.add(id(body))
    for node in _own_calls(body):
        if frame is not None and not decided.runs(file.values, node, frame):
            continue
        call = file.call(node)
        if not names or any(_is(call, name) for name in names):
            yield call
        for inner in _run_by(call) if left else ():
            if id(inner) not in entered:
                seen = decided.activations(file.values, file.values.call(node, frame), inner)
                yield from _calls(file, inner, names, left - 1, entered, seen[0] if len(seen) == 1 else None)


_DEFINES = frozenset((cst.FunctionDef, cst.ClassDef))


def _own_calls(body: Node) -> Iterator[cst.Call]:
    stack: list[Node] = [body.body if isinstance(body, FUNCTIONS) else body]
    while stack:
        node = stack.pop()
        if type(node) is cst.Call:
            yield node
        if node.__class__ not in _DEFINES:
            push_children(stack, node)


def _is(call: Call, name: str) -> bool:
    if "." not in name:
        return call.method == name
    return bool(call.names) and all(each == name or (name[-1] == "." and each.startswith(name)) for each in call.names)


def _run_by(call: Call) -> Iterator[ScopeNode]:
    """The functions of the module that a call may run; of a class its `__init__`."""
    for target in call.target.options:
        if isinstance(target, Function):
            yield target.node
        elif isinstance(target, Class):
            init = call.evaluator.classes.method(target.node, "__init__")
            if init is not None:
                yield init
