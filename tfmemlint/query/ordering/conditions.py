"""Which conditions decide whether code runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model import decided
from tfmemlint.model.values import Const, Value
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.names import variables
from tfmemlint.syntax.reaching import always
from tfmemlint.syntax.scopes import Binds, dotted, parameters
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.file import File

Condition = cst.If | cst.IfExp | cst.Try | cst.TryStar | cst.ExceptHandler | cst.ExceptStarHandler


def conditions(file: File, node: Node, within: Node | None = None) -> Iterator[Condition]:
    """The `if`s, conditional expressions, `try`s and handlers that may keep code from running, innermost first.

    They stand around it and inside `within`, or anywhere, in functions around, too. Their tests always run, and neither
    `if __name__ == "__main__"` is one, as whoever runs the program runs it, nor `if True:`. Loops, which may have no
    iteration, `while` and `match` do not count.
    """
    below: Node = node
    for above in file.tree.ancestors(node):
        if above is within:
            return
        if isinstance(above, (cst.If, cst.IfExp)):
            taken = _is_entry(above.test) or (below is above.body and always(above.test))
            if below is not above.test and not taken:
                yield above
        elif isinstance(above, (cst.Try, cst.TryStar, cst.ExceptHandler, cst.ExceptStarHandler)):
            yield above
        below = above


def entered_by_choice(file: File, function: cst.FunctionDef) -> bool:
    """Whether some call of a function of this file, or of one that calls it, stands under an `if` or in a handler, as
    far as `FOLLOWED_CALLS` calls away. A `try` around it runs it each time."""
    return _by_choice(file, function, FOLLOWED_CALLS)


def runs_by_choice(file: File, node: Node) -> bool:
    """Whether an `if` around some code, or around every call of its function, certainly decides whether it runs, as far
    as `FOLLOWED_CALLS` calls away."""
    return _runs_by_choice(file, node, FOLLOWED_CALLS)


def asks_parameter(file: File, node: Node) -> bool:
    """Whether an `if` or a conditional expression around some code certainly asks for a parameter of its function: who
    calls it decides. False in a module."""
    function = file.contexts.function(node)
    if function is None:
        return False
    given = {param.name.value for param in parameters(function)}
    inside = (above for above in file.tree.ancestors(node) if file.tree.contains(function, above))
    return any(isinstance(above, (cst.If, cst.IfExp)) and given & variables(file, above.test) for above in inside)


def behind_one_condition(file: File, nodes: Iterable[Node]) -> bool:
    """Whether all of some code stands in one function, behind `if`s that are written alike: `if self.training:`, and
    further down `if self.training:` again."""
    homes, asked = set(), []
    for node in nodes:
        home = file.contexts.function(node)
        homes.add(home)
        around = (each for each in conditions(file, node, home) if isinstance(each, cst.If))
        asked.append({file.text(each.test) for each in around if file.tree.contains(each.body, node)})
    return len(homes) == 1 and bool(asked) and bool(set.intersection(*asked))


def asks_type(file: File, node: Node, within: Node) -> bool:
    """Whether an `if` around some code, inside `within`, certainly asks of what type something is by `isinstance`."""
    tests = (found.test for found in conditions(file, node, within) if isinstance(found, (cst.If, cst.IfExp)))
    return any(file.call(call).name == "builtins.isinstance" for test in tests for call in walk(test, cst.Call))


def is_switched_off(file: File, node: Node) -> bool:
    """Whether what is passed certainly keeps some code from running in every call of its function that is seen: `if
    shuffle:` around it where all say `shuffle=False`. False where there is no call. An attribute of `self` is what
    `__init__` was given for it, in all places that make such an object."""
    return decided.is_passed_by(file.values, node)


def _kept_parameter(file: File, asked: cst.BaseExpression) -> cst.BaseExpression:
    """What an attribute is set to, where the file does so in one place."""
    assigned = file.assigned_paths.get(dotted(asked) or "", ()) if isinstance(asked, cst.Attribute) else ()
    return assigned[0].value if len(assigned) == 1 else asked


def is_off_by_default(file: File, node: Node) -> bool:
    """Whether an `if` around some code asks for a parameter whose default keeps it from running, and no call that is
    seen asks for it: each leaves the parameter out, says the same, or hands on a parameter of which this holds, too.
    Callers in other files may ask for it; they have chosen it then. An attribute of `self` is what `__init__` was given
    for it."""
    return any(_is_left_so(file, asked, not holds, FOLLOWED_CALLS) for asked, holds in _asked(file, node))


def asks_setting(file: File, node: Node) -> bool:
    """Whether an `if` around some code in its function, or around every call of the function, asks for something that
    is off until it is switched on: an attribute that the file sets to False alone (`if self.records:`), one of an
    object that is not known (`if conf.debug:`), or an entry that need not be there (`if conf.get("debug", False):`).
    Who switches it on may choose with it how the program runs."""
    return _asks_setting(file, node, FOLLOWED_CALLS)


def _asks_setting(file: File, node: Node, left: int) -> bool:
    needed = (asked for asked, holds in _asked(file, node) if holds)
    if any(_is_setting(file, asked) for asked in needed):
        return True
    function = file.contexts.function(node)
    callers = (file.call_graph.callers(function) if function is not None and left else None) or ()
    return bool(callers) and all(_asks_setting(file, call.node, left - 1) for call in callers)


def _is_setting(file: File, asked: cst.BaseExpression) -> bool:
    if isinstance(asked, cst.Call):
        left_out = asked.args[1].value if len(asked.args) == 2 and file.call(asked).method == "get" else None
        return left_out is not None and _is(file.value(left_out), truth=False)
    if not isinstance(asked, cst.Attribute):
        return False
    assigned = file.assigned_paths.get(dotted(asked) or "", ())
    if assigned:
        return all(each.value is not None and _is(file.value(each.value), truth=False) for each in assigned)
    own = isinstance(asked.value, cst.Name) and asked.value.value == "self"
    return not own and not file.value(asked).known


def _asked(file: File, node: Node) -> Iterator[tuple[cst.BaseExpression, bool]]:
    """What the `if`s around some code in its function must find, all of it, so that the code runs, and whether each
    must be true: of `if a and not b:` both."""
    function, below = file.contexts.function(node), node
    for above in file.tree.ancestors(node):
        if above is function:
            return
        if isinstance(above, (cst.If, cst.IfExp)) and below is not above.test:
            yield from _needed(above.test, holds=below is above.body)
        below = above


def _needed(test: cst.BaseExpression, *, holds: bool) -> Iterator[tuple[cst.BaseExpression, bool]]:
    if isinstance(test, cst.UnaryOperation) and isinstance(test.operator, cst.Not):
        yield from _needed(test.expression, holds=not holds)
    elif isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And if holds else cst.Or):
        yield from _needed(test.left, holds=holds)
        yield from _needed(test.right, holds=holds)
    else:
        yield test, holds


def _is(value: Value, truth: bool) -> bool:
    """Whether a value is certainly a constant that counts as true or false."""
    return all(isinstance(each, Const) and bool(each.value) is truth for each in value.options)


def _is_left_so(file: File, asked: cst.BaseExpression, truth: bool, left: int) -> bool:
    """Whether an expression is a parameter that counts as true or false by default, and by all that is passed."""
    asked = _kept_parameter(file, asked)
    made = file.only_definition(asked) if isinstance(asked, cst.Name) else None
    param = made.value if made is not None and made.binds is Binds.PARAMETER else None
    if made is None or not isinstance(param, cst.Param) or param.default is None:
        return False
    if not left or not _is(file.value(param.default), truth):
        return False
    callers = file.call_graph.callers(made.scope) or ()
    passed = [arg for call in callers if (arg := call.arg(made.name)) is not None]
    return not any(call.open for call in callers) and all(
        _is(arg.value, truth) or _is_left_so(file, arg.expression, truth, left - 1) for arg in passed
    )


def asks_name(file: File, node: Node, name: str) -> bool:
    """Whether an `if` around some code in its function, or around a call of the function, certainly asks for a name or
    attribute, or for the text of it (`hasattr(self, "kept")`), as far as `FOLLOWED_CALLS` calls away."""
    return _asks_name(file, node, name, FOLLOWED_CALLS)


def _asks_name(file: File, node: Node, asked: str, left: int) -> bool:
    function = file.contexts.function(node)
    if function is None:
        return False
    for above in file.tree.ancestors(node):
        if above is function:
            break
        named = walk(above.test, cst.Name, cst.SimpleString) if isinstance(above, cst.If) else ()
        if any(asked in (each.value, each.value[1:-1]) for each in named):
            return True
    callers = file.call_graph.callers(function) or () if left else ()
    return any(_asks_name(file, call.node, asked, left - 1) for call in callers)


def _runs_by_choice(file: File, node: Node, left: int) -> bool:
    function = file.contexts.function(node)
    callers = (file.call_graph.callers(function) if function is not None and left else None) or ()
    if callers and all(_runs_by_choice(file, call.node, left - 1) for call in callers):
        return True
    return any(isinstance(each, cst.If) for each in conditions(file, node))


def _by_choice(file: File, function: cst.FunctionDef, left: int) -> bool:
    for call in file.call_graph.callers(function) or ():
        scope = file.scope_of(call.node)
        if any(not isinstance(each, (cst.Try, cst.TryStar)) for each in conditions(file, call.node, scope)):
            return True
        if left and isinstance(scope, cst.FunctionDef) and _by_choice(file, scope, left - 1):
            return True
    return False


def _is_entry(test: cst.BaseExpression) -> bool:
    return any(name.value == "__name__" for name in walk(test, cst.Name))
