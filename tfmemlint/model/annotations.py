"""What annotations promise: `tf.Tensor`, `"tf.Tensor"`, `Optional[np.ndarray]`, `tf.Tensor | None`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Api, Class, Unknown, Value, instance_of, one_of
from tfmemlint.syntax.scopes import written

if TYPE_CHECKING:
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.model.functions import Frame

WRAPPERS = frozenset({"typing.Optional", "typing.Union", "typing.Annotated", "typing.Final"})
_DOTTED = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*")


def promised(evaluator: Evaluator, annotation: cst.CSTNode, frame: Frame | None) -> Value:
    """An instance of the class that an annotation names, of one of several, or Unknown; None counts for nothing."""
    node = annotation.annotation if isinstance(annotation, cst.Annotation) else annotation
    if isinstance(node, cst.SimpleString):
        return _instance(evaluator, _named(evaluator, str(node.evaluated_value), node))
    if isinstance(node, cst.BinaryOperation):
        return _any(evaluator, [node.left, node.right], frame)
    if isinstance(node, cst.Subscript):
        wrapper = evaluator.value(node.value, frame)
        parts = [e.slice.value for e in node.slice if isinstance(e.slice, cst.Index)]
        if isinstance(wrapper, Api) and wrapper.name in WRAPPERS:
            return _any(evaluator, parts[:1] if wrapper.name == "typing.Annotated" else parts, frame)
        return _instance(evaluator, wrapper)
    return _instance(evaluator, evaluator.value(node, frame))


def _any(evaluator: Evaluator, parts: list[cst.BaseExpression], frame: Frame | None) -> Value:
    named = [part for part in parts if not (isinstance(part, cst.Name) and part.value == "None")]
    return one_of(promised(evaluator, part, frame) for part in named) if named else Unknown("None")


def _named(evaluator: Evaluator, text: str, place: cst.CSTNode) -> Value:
    """What a dotted name in a quoted annotation stands for at the end of the module."""
    text = text.removesuffix("| None").strip()
    if not _DOTTED.fullmatch(text):
        return Unknown("an annotation that is not a plain name")
    first, *rest = text.split(".")
    definitions = evaluator.file.flow(evaluator.file.home(place).module).end.get(first, ())
    value = one_of(evaluator.definition(d, None) for d in written(definitions))
    for part in rest:
        value = evaluator.attribute(value, part)
    return value


def _instance(evaluator: Evaluator, target: Value) -> Value:
    if isinstance(target, Api) and knowledge.is_class(target.name):
        return instance_of(target.name)
    if isinstance(target, Class):
        return evaluator.classes.instance(target.node, None)
    return Unknown("the annotation names no class that is known")
