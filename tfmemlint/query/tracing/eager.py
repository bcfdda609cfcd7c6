"""Code that would be traced and certainly is not: all functions run eagerly, or only code that is not traced asks for
it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Const, constant
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.syntax.scopes import Binds

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

SWITCHES = knowledge.group("runs_functions_eagerly")
SWITCH_WORDS = frozenset(name.rpartition(".")[2] for name in SWITCHES)


def runs_eagerly(file: File, node: Node) -> bool:
    """Whether code of a traced function certainly runs eagerly all the same: the module has said so in front of it, for
    all functions of `tf.function` and Keras, under no condition, and nothing that is seen takes it back, or for each
    model that it compiles, and has no other function that is traced. False for what a pipeline maps, which is traced
    nevertheless, and where only another module says it."""
    if _models_run_eagerly(file):
        return not _may_be_mapped(file, node, FOLLOWED_CALLS)
    calls = list(file.calls(*SWITCHES))
    before = (each for each in calls if file.tree.order(each.node) < file.tree.order(node))
    own = (each for each in before if file.contexts.function(each.node) is None)
    if all(any(conditions(file, each.node)) for each in own):
        return False
    if not all(constant(each.value_of("run_eagerly")) is True for each in calls):
        return False
    if any(not text.words.isdisjoint(SWITCH_WORDS) for text in file.around):
        return False
    return not _may_be_mapped(file, node, FOLLOWED_CALLS)


def _models_run_eagerly(file: File) -> bool:
    """Whether each model that the module compiles is told to run eagerly, and nothing but Keras traces."""
    compiled = [call for call in map(file.call, file.calls_by_word.get("compile", ())) if call.name != "re.compile"]
    if not compiled or list(file.calls("tf.function")):
        return False
    if any(file.values.functions.traces(each.decorator) for each in file.tree.of(cst.Decorator)):
        return False
    return all(constant(call.value_of("run_eagerly")) is True for call in compiled)


def _may_be_mapped(file: File, node: Node, left: int) -> bool:
    """Whether a pipeline may map the function of some code, one around it, or one that is seen to call it."""
    function = file.contexts.function(node)
    if function is None:
        return False
    if not left or file.contexts.mapped(node) or _may_be_mapped(file, function, left):
        return True
    return any(_may_be_mapped(file, call.node, left - 1) for call in file.call_graph.callers(function) or ())


def is_asked_for_eagerly(file: File, node: Node) -> bool:
    """Whether some code runs only where a parameter says other than its default, `if not replays: return` before it,
    and all calls of the module that name the parameter and may say so stand in code that is not traced; at least one
    does. False where no such call is seen; other modules may say so in traced code."""
    return any(_is_named_eagerly(file, test, holds) for test, holds, _ in file.values.needed.of(node))


def _is_named_eagerly(file: File, asked: cst.BaseExpression, holds: bool) -> bool:
    while isinstance(asked, cst.UnaryOperation) and isinstance(asked.operator, cst.Not):
        asked, holds = asked.expression, not holds
    made = file.only_definition(asked) if isinstance(asked, cst.Name) else None
    param = made.value if made is not None and made.binds is Binds.PARAMETER else None
    if made is None or not isinstance(param, cst.Param) or param.default is None:
        return False
    if not _is(file, param.default, not holds):
        return False
    named = (arg for arg in file.tree.of(cst.Arg) if arg.keyword is not None and arg.keyword.value == made.name)
    said = [arg for arg in named if not _is(file, arg.value, not holds)]
    return bool(said) and not any(file.contexts.traced(arg) for arg in said)


def _is(file: File, expression: cst.BaseExpression, truth: bool) -> bool:
    """Whether an expression is certainly a constant that counts as true or false."""
    return all(isinstance(each, Const) and bool(each.value) is truth for each in file.value(expression).options)
