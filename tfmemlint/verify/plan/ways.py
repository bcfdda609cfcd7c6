"""How a program comes to a flagged place: through which calls, and in which module of the project it begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.model.values import Array, Const, Value
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.plan.examples import Example
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.slicing import Home
from tfmemlint.verify.plan.statements import owner

DEEPEST = 5


@dataclass(frozen=True)
class Way:
    """What makes a program come to a place: calls to keep, functions to slice, lines to add at its end. `entry` is the
    module that it runs."""

    entry: Home
    calls: tuple[Node, ...] = ()
    functions: tuple[cst.FunctionDef, ...] = ()
    lines: tuple[str, ...] = field(default=())


class Ways:
    """The ways to places of a file. `examples` gives those of a module; what is made up is noted in `replaced`."""

    def __init__(self, file: File, examples: Callable[[Home], dict[str, Example]]) -> None:
        self.file = file
        self.replaced: list[str] = []
        self._examples = examples

    def to(self, node: Node, depth: int = 0) -> Way:
        """The way to a node. Raises PlanError where a function on it needs what is not known."""
        function = owner(self.file, node)
        if not isinstance(function, cst.FunctionDef):
            return Way(self.file.home(node))
        sliced = (function,) if isinstance(self.file.scope_of(function), cst.Module) and node is not function else ()
        for call in self._callers(function):
            if depth >= DEEPEST or owner(self.file, call) is function:
                continue
            try:
                way = self.to(call, depth + 1)
            except PlanError:
                continue
            return replace(way, calls=(call, *way.calls), functions=(*sliced, *way.functions))
        return Way(self.file.home(function), (function,), (), (self._call(function),))

    def _callers(self, function: cst.FunctionDef) -> Iterator[cst.Call]:
        """The calls of a function: those of its own module before those of others."""
        graph = self.file.call_graph
        yield from (call.node for call in graph.callers(function) or ())
        yield from (call.node for call in graph.callers_elsewhere(function))

    def _call(self, function: cst.FunctionDef) -> str:
        """A line that calls a function which the file itself does not call, with what is known of its parameters."""
        scope = self.file.scope_of(function)
        if isinstance(scope, cst.Module):
            return f"tfmemlint_consume({function.name.value}({self._arguments(function, False)}))"
        if not isinstance(scope, cst.ClassDef) or not isinstance(self.file.scope_of(scope), cst.Module):
            raise PlanError(
                f"nothing in the file calls {function.name.value}, which is defined inside another function"
            )
        make = next((each for each in scope.body.body if _is_function(each, "__init__")), None)
        made = f"{scope.name.value}({self._arguments(make, True) if isinstance(make, cst.FunctionDef) else ''})"
        name = function.name.value
        if name == "__init__":
            return f"tfmemlint_consume({made})"
        given = self._arguments(function, True)
        called = made if name in ("call", "__call__") else f"{made}.{name}"
        return f"tfmemlint_consume({called}({given}))"

    def _arguments(self, function: cst.FunctionDef, method: bool) -> str:
        given: list[str] = []
        for number, parameter in enumerate(parameters(function)):
            if (method and number == 0) or parameter.star in ("*", "**"):
                continue
            code = self._known(parameter, function)
            if code is not None:
                given.append(f"{parameter.name.value}={code}")
            elif parameter.default is None:
                name = parameter.name.value
                raise PlanError(
                    f"parameter {name} of {function.name.value} is not known; say what it is in a comment: "
                    f"# tfmemlint: example {name}=float32[32,224,224,3]"
                )
        return ", ".join(given)

    def _known(self, parameter: cst.Param, function: cst.FunctionDef) -> str | None:
        example = self._examples(self.file.home(function)).get(parameter.name.value)
        if example is not None:
            self.replaced.append(f"{example.words} is given to {function.name.value}")
            return example.code
        if parameter.default is not None:
            return None
        return _code(self.file.values.functions.parameter(parameter, function, None))


def _is_function(node: Node, name: str) -> bool:
    return isinstance(node, cst.FunctionDef) and node.name.value == name


def _code(value: Value) -> str | None:
    """Python code for a value that is known well enough, else None."""
    if isinstance(value, Const) and isinstance(value.value, (int, float, str, bool, type(None))):
        return repr(value.value)
    if isinstance(value, Array) and value.dtype is not None and value.shape is not None and None not in value.shape:
        return f'tfmemlint_array("{value.dtype}", {tuple(value.shape)})'
    return None
