"""Functions of the module: what their parameters are, what they return, what they close over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model import decided, inferred_by_use
from tfmemlint.model.binding import given_at, given_by
from tfmemlint.model.decided import MOST_CALLERS
from tfmemlint.model.mapped import whole
from tfmemlint.model.records import RECORD
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import (
    Api,
    Class,
    Const,
    Function,
    Instance,
    Sequence,
    Unknown,
    Value,
    constant,
    instance_of,
    one_of,
)
from tfmemlint.syntax.environments import Env, join
from tfmemlint.syntax.scopes import Definition, ScopeNode, decorated, parameters, written

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator

MOST_FRAMES = 3
"""Calls of module functions that are followed into each other."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One activation of a function: which call made it, in which frame that call stands, what it closes over."""

    function: ScopeNode
    call: Call
    caller: Frame | None
    closure: Frame | None
    receiver: Value | None
    values: tuple[Value, ...] | None = None
    """Positional arguments, where a library calls the function (`Dataset.map`); None: read them at the call."""
    partial: Call | None = None
    unseen: bool = False
    """Whether it is what callers elsewhere may do, who pass what nobody here does; `call` is any that is seen."""

    @property
    def depth(self) -> int:
        return 1 + (self.caller.depth if self.caller is not None else 0)


class Functions:
    """Calls of the module's own functions, followed."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator
        self._seen: dict[tuple[int, tuple[int, ...]], Env | None] = {}
        self._unseen: dict[tuple[int, Value | None], Frame] = {}
        self._frames: dict[tuple[int, int, int, int, Value | None], Frame] = {}
        self._applied: dict[tuple[int, int, int, int, Value | None, tuple[Value, ...]], Frame] = {}

    def defined(self, node: cst.FunctionDef, frame: Frame | None) -> Value:
        """The value of a `def`: a function, traced if one of its decorators is `tf.function`."""
        traced = any(self.traces(decorator.decorator, frame) for decorator in node.decorators)
        return Function(node, traced=traced, frame=frame)

    def traces(self, decorator: cst.BaseExpression, frame: Frame | None = None) -> bool:
        """Whether a decorator is `tf.function`, with or without options."""
        called = [decorator.func] if isinstance(decorator, cst.Call) else []
        return any(whole(self._evaluator.value(d, frame)) == Api("tf.function") for d in (*called, decorator))

    # -- parameters --------------------------------------------------------------------------------------------------

    def parameter(self, param: cst.Param, function: ScopeNode, frame: Frame | None) -> Value:
        """The value of a parameter: the frame's argument, or over all callers what they pass, or its annotation."""
        assert isinstance(function, (cst.FunctionDef, cst.Lambda))
        unseen = frame is not None and frame.function is function and frame.unseen
        if frame is not None and frame.function is function and not unseen:
            given = given_by(frame.call, frame.receiver, frame.partial, frame.values)
            return given.value(param, function, self._evaluator)
        owner = self._evaluator.file.class_of(function)
        if owner is not None and param is next(parameters(function), None):
            if decorated(function, "classmethod"):
                return Class(owner)
            if not (isinstance(function, cst.Lambda) or decorated(function, "staticmethod")):
                return self._evaluator.classes.instance(owner, None)
        passed = self._passed(param, function) if not unseen else self._by_default(param)
        if param.annotation is not None and not passed.known:
            promised = self._evaluator.annotated(param.annotation, frame)
            if promised.known and not isinstance(promised, Const):
                return promised
        return passed if passed.known or unseen else self._by_use(param, function, passed)

    def _by_default(self, param: cst.Param) -> Value:
        """What a parameter is where nothing is passed for it, if that says how large or how many."""
        default = self._evaluator.value(param.default, None) if param.default is not None else None
        return default if default is not None and _is_setting(default) else Unknown("passed by code that is not seen")

    def _passed(self, param: cst.Param, function: ScopeNode) -> Value:
        callers = self._evaluator.call_graph.callers(function)
        mapped = self._mapped(param, function) if callers is None else None
        if mapped is not None:
            return mapped
        if not callers:
            elsewhere = self._evaluator.call_graph.callers_elsewhere(function)
            if elsewhere is None:
                return Unknown(f"parameter {param.name.value} of a function with many callers elsewhere")
            callers = elsewhere
        default = self._by_default(param) if not callers else Unknown("passed by callers")
        if default.known:
            return default  # nobody here passes another
        if not callers:
            why = "is called in ways that are not seen" if callers is None else "is not called in this file"
            return Unknown(f"parameter {param.name.value} of a function that {why}")
        assert isinstance(function, (cst.FunctionDef, cst.Lambda))
        if len(callers) > MOST_CALLERS:
            return Unknown(f"parameter {param.name.value} of a function with {len(callers)} callers")
        return one_of(given_at(call, function).value(param, function, self._evaluator) for call in callers)

    def _mapped(self, param: cst.Param, function: ScopeNode) -> Value | None:
        """A parameter that `Dataset.map` fills with a part of each element."""
        assert isinstance(function, (cst.FunctionDef, cst.Lambda))
        values: list[Value] = []
        for call in self._evaluator.call_graph.mappers(function):
            argument = call.arg("map_func") or call.arg(0)
            options = argument.value.options if argument is not None else ()
            given = [o for o in options if isinstance(o, Function) and o.node is function]
            for ds in call.datasets() or (None,):
                element = ds.element if ds is not None else Unknown("element")
                parts = element.items if isinstance(element, Sequence) and element.kind == "tuple" else (element,)
                for one in given:
                    passed = given_by(call, one.receiver, one.partial, tuple(parts))
                    values.append(passed.value(param, function, self._evaluator))
        return one_of(values) if values else None

    def _by_use(self, param: cst.Param, function: ScopeNode, otherwise: Value) -> Value:
        """A parameter that is used as only a tf.data pipeline or a model can be is one, of unknown source."""
        file = self._evaluator.file
        uses = file.home(function).places(param.name.value).within(function)
        calls = [call for use in uses for call in inferred_by_use.chain(self._evaluator, use)]
        if inferred_by_use.tells(self._evaluator, calls):
            return instance_of("tf.data.Dataset")
        if any(id(use) in file.shown_models.names for use in uses):
            return instance_of(inferred_by_use.MODEL)
        return otherwise

    # -- results -----------------------------------------------------------------------------------------------------

    def frame(self, function: Function, call: Call) -> Frame | None:
        """The activation of a function by a call, or None where calls are nested too deeply or recursive."""
        key = (id(function.node), id(call), id(function.partial), id(function.frame), function.receiver)
        if key not in self._frames:
            closure = function.frame if isinstance(function.frame, Frame) else None
            self._frames[key] = Frame(
                function.node, call, call.frame, closure, function.receiver, partial=function.partial
            )
        frame = self._frames[key]
        above = frame.caller
        while above is not None:
            if above.function is function.node:
                return None
            above = above.caller
        return frame if frame.depth <= MOST_FRAMES else None

    def unseen(self, function: cst.FunctionDef, call: Call, made: Value | None = None) -> Frame:
        """The activation of a function by code that nobody sees, of whose arguments nothing is known, on an object."""
        key = id(function), made
        if key not in self._unseen:
            self._unseen[key] = Frame(function, call, None, None, made, unseen=True)
        return self._unseen[key]

    def result(self, function: Function, call: Call) -> Value:
        """What a call of a module function returns: the join over its return statements."""
        frame = self.frame(function, call)
        return Unknown("calls nested too deeply") if frame is None else self._returned(function, frame)

    def read(self, method: cst.FunctionDef, receiver: Instance) -> Value:
        """What a property gives, over all objects of its class."""
        return self._returned(Function(method, receiver=receiver), None)

    def apply(self, function: Function, call: Call, values: tuple[Value, ...]) -> Value:
        """What a function returns that a library calls with these values, as `call` (of `Dataset.map`, say) asks."""
        key = (id(function.node), id(call), id(function.partial), id(function.frame), function.receiver, values)
        frame = self._applied.get(key)
        if frame is None:
            closure = function.frame if isinstance(function.frame, Frame) else None
            frame = self._applied[key] = Frame(
                function.node, call, call.frame, closure, function.receiver, values, function.partial
            )
        return self._returned(function, frame) if frame.depth <= MOST_FRAMES else Unknown("calls nested too deeply")

    def _returned(self, function: Function, frame: Frame | None) -> Value:
        if isinstance(function.node, cst.Lambda):
            return self._evaluator.value(function.node.body, frame)
        file = self._evaluator.file
        if function.node.asynchronous is not None or file.yields(function.node):
            return Unknown("a generator or coroutine")
        values = [
            self._evaluator.value(node.value, frame) if node.value else Const(None)
            for node in file.returns(function.node)
            if frame is None or decided.runs(self._evaluator, node, frame)
        ]
        return one_of(values) if values else Const(None)

    # -- closures ----------------------------------------------------------------------------------------------------

    def visible(self, name: str, scope: ScopeNode, outer: ScopeNode, frame: Frame | None) -> tuple[Definition, ...]:
        """The definitions of a free name of `scope` in the scope `outer` around it.

        Seen from a call, what reaches that call; else what reaches all known callers; else the end of `outer`.
        """
        file = self._evaluator.file
        flow = file.flow(outer)
        bound = flow.bindings.get(name, ())
        at_end = tuple(written(flow.end.get(name)))
        if not bound or (len(bound) == 1 and at_end):
            return at_end  # nothing else can reach a call, and who calls need not be asked
        calls: tuple[Call, ...] | None = None
        level = frame
        while level is not None and calls is None:
            if file.scope_of(level.call.node) is outer:
                calls = (level.call,)
            level = level.caller
        seen = self._at_calls(calls, outer) if calls is not None else None
        if calls is None and frame is None and isinstance(scope, cst.FunctionDef):
            seen = self._at_callers(scope, outer)
        found = seen.get(name) if seen is not None else ()
        return tuple(written(found)) if found else at_end

    def _at_callers(self, function: cst.FunctionDef, outer: ScopeNode) -> Env | None:
        """What reaches all calls of a function that `outer` closes around, or None where others call it, too."""
        callers = self._evaluator.call_graph.callers(function)
        if not callers:
            return None
        key = (id(outer), tuple(id(call.node) for call in callers))
        if key not in self._seen:
            within = all(self._evaluator.file.scope_of(call.node) is outer for call in callers)
            self._seen[key] = self._at_calls(callers, outer) if within else None
        return self._seen[key]

    def _at_calls(self, calls: tuple[Call, ...], outer: ScopeNode) -> Env | None:
        tree, flow = self._evaluator.file.tree, self._evaluator.file.flow(outer)
        return join(*(flow.before.get(id(tree.statement(call.node)), flow.end) for call in calls))


def _is_setting(default: Value) -> bool:
    """Whether a parameter's default is a number or text, or a structure of such; flags and None are mere marks."""
    if isinstance(default, Instance):
        return default.type_name == RECORD
    leaves = elements(default)
    return bool(leaves) and all(constant(v) is not None and not isinstance(constant(v), bool) for v in leaves)
