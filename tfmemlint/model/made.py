"""What one object was made with: its attributes by the call that made it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model import arguments, decided
from tfmemlint.model.values import Function, Instance, Value, one_of
from tfmemlint.syntax.scopes import Definition, ScopeNode

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.functions import Frame


def made_with(evaluator: Evaluator, instance: Instance, name: str) -> Value | None:
    """What an attribute holds as long as its object lives, None among it; None where not only the class itself and its
    constructors set it."""
    definitions = evaluator.classes.definitions(instance.class_node, name) if instance.class_node is not None else []
    if not all(_is_constructor(d.scope) for d in definitions) or arguments.changed(evaluator, name):
        return None
    return one_of(evaluator.classes.values(definitions, name, instance)) if definitions else None


def made_so(evaluator: Evaluator, instance: Instance, definitions: list[Definition]) -> list[Definition]:
    """The definitions of an attribute without those that the constructor passed by when it made this object."""
    made_in = [(d, making(evaluator, instance, d.scope)) for d in definitions]
    frames = {id(frame): frame for _, frame in made_in if frame is not None}
    kept = [d for d, frame in made_in if frame is None]
    for each in frames.values():
        kept += decided.reaching(evaluator, None, [d for d, frame in made_in if frame is each], each)
    return kept


def making(evaluator: Evaluator, instance: Instance, method: ScopeNode) -> Frame | None:
    """The activation of a constructor that made an object, which may be one of a class above that its own calls; None
    for other methods, and where it is not known."""
    if instance.call is None or instance.class_node is None or not _is_constructor(method):
        return None
    init = evaluator.classes.method(instance.class_node, "__init__")
    frame = evaluator.functions.frame(Function(init, receiver=instance), instance.call) if init is not None else None
    while frame is not None and frame.function is not method:
        frame = _above(evaluator, frame)
    return frame


def _above(evaluator: Evaluator, frame: Frame) -> Frame | None:
    """The activation of the constructor that another one calls."""
    called = next(_constructors_called(evaluator, frame.function), None)
    call = evaluator.call(called, frame) if called is not None else None
    targets = [each for each in call.target.options if isinstance(each, Function)] if call is not None else []
    return evaluator.functions.frame(targets[0], call) if call is not None and len(targets) == 1 else None


def _is_constructor(scope: ScopeNode) -> bool:
    return isinstance(scope, cst.ClassDef) or (isinstance(scope, cst.FunctionDef) and scope.name.value == "__init__")


def _constructors_called(evaluator: Evaluator, function: ScopeNode) -> Iterator[cst.Call]:
    """The calls of constructors in one: `super().__init__(n)`."""
    for call in evaluator.file.own(function).calls:
        if type(call.func) is cst.Attribute and call.func.attr.value == "__init__":
            yield call
