"""What is done with a parameter, here and in the functions of the project that it is handed to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.model.values import Function
from tfmemlint.syntax.scopes import decorated, dotted, parameters
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.roles import CALL_IT, COUNT_BY_IT, is_text, takes_first, uses_of

PASSES_ON = frozenset(("enumerate", "iter", "list", "reversed", "sorted", "tqdm", "zip"))
"""Functions that go over what they are given."""

DEEPEST = 3
"""Functions that a parameter is followed into."""


@dataclass
class Evidence:
    """What is done with a parameter."""

    asked: set[str] = field(default_factory=set)
    called: bool = False
    keys: bool = False
    is_text: bool = False
    is_path: bool = False
    """Whether it is put together with text as paths are: `folder / "train"`."""
    tested: bool = False
    counts: bool = False
    """Whether data sets are told a number by it."""
    compared: str | None = None
    loops: list[cst.For] = field(default_factory=list)


class EvidenceOf:
    """Collects it for the parameters of functions of a file that run together."""

    def __init__(self, file: File, functions: Sequence[cst.FunctionDef]) -> None:
        self.file, self.functions = file, functions
        self._known: dict[int, Evidence] = {}

    def of(self, parameter: cst.Param) -> Evidence:
        """What is done with a parameter of these functions."""
        found = self._known.get(id(parameter))
        if found is None:
            found = self._known[id(parameter)] = Evidence()
            for use in self._uses(parameter, self.functions, 0):
                self._note(use, found)
        return found

    def _uses(self, parameter: cst.Param, functions: Sequence[cst.FunctionDef], depth: int) -> Iterator[Node]:
        """The uses of a parameter, and those in the functions of the project that it is handed to."""
        for use in uses_of(self.file, parameter, functions):
            yield use
            arg = self.file.tree.parent(use)
            if not isinstance(arg, cst.Arg) or arg.value is not use or depth >= DEEPEST:
                continue
            call = self.file.tree.parent(arg)
            if not isinstance(call, cst.Call):
                continue
            target = self.file.value(call.func)
            if isinstance(target, Function) and isinstance(target.node, cst.FunctionDef):
                given = _received(call, arg, target)
                if given is not None:
                    yield from self._uses(given, [target.node], depth + 1)

    def _note(self, use: Node, found: Evidence) -> None:
        parent = self.file.tree.parent(use)
        if isinstance(parent, cst.Attribute) and parent.value is use:
            found.asked.add(parent.attr.value)
        elif isinstance(parent, cst.Call) and parent.func is use:
            found.called = True
        elif isinstance(parent, cst.Arg) and parent.value is use:
            taker = takes_first(self.file, self.file.tree.parent(parent), parent)
            found.called |= taker in CALL_IT
            found.counts |= taker in COUNT_BY_IT
        elif isinstance(parent, cst.Subscript) and parent.value is use:
            first = parent.slice[0].slice
            found.keys |= isinstance(first, cst.Index) and isinstance(first.value, cst.SimpleString)
        elif isinstance(parent, (cst.If, cst.IfExp, cst.BooleanOperation)) or (
            isinstance(parent, cst.UnaryOperation) and isinstance(parent.operator, cst.Not)
        ):
            found.tested = True
        elif isinstance(parent, cst.Comparison) and len(parent.comparisons) == 1:
            other = parent.comparisons[0].comparator
            if isinstance(other, (cst.Tuple, cst.List)) and other.elements:
                other = other.elements[0].value
            if isinstance(other, cst.SimpleString) and parent.left is use:
                found.compared = found.compared or other.value
        found.is_path |= _is_joined(parent, use)
        found.is_text |= is_text(self.file, use)
        for above in self.file.tree.ancestors(use):
            if isinstance(above, cst.BaseStatement):
                if isinstance(above, cst.For) and any(each is use for each in _heads(above.iter)):
                    found.loops.append(above)
                break


def _is_joined(parent: Node | None, use: Node) -> bool:
    if not isinstance(parent, cst.BinaryOperation) or not isinstance(parent.operator, cst.Divide):
        return False
    other = parent.right if parent.left is use else parent.left
    return isinstance(other, (cst.SimpleString, cst.FormattedString))


def _heads(node: cst.BaseExpression) -> Iterator[Node]:
    """What a loop goes over, through calls: `ds` of `enumerate(ds.take(3))`."""
    yield node
    if isinstance(node, cst.Call):
        if isinstance(node.func, cst.Attribute):
            yield from _heads(node.func.value)
        if isinstance(node.func, cst.Attribute) or dotted(node.func) in PASSES_ON:
            for arg in node.args[:1]:
                yield from _heads(arg.value)


def _received(call: cst.Call, arg: cst.Arg, target: Function) -> cst.Param | None:
    """The parameter that an argument is given to."""
    assert isinstance(target.node, cst.FunctionDef)
    bound = target.receiver is not None and not decorated(target.node, "staticmethod")
    own = [each for each in parameters(target.node) if each.star not in ("*", "**")][bound:]
    if arg.keyword is not None:
        return next((each for each in own if each.name.value == arg.keyword.value), None)
    number = next(number for number, each in enumerate(call.args) if each is arg)
    return own[number] if number < len(own) and not any(each.star for each in call.args[: number + 1]) else None
