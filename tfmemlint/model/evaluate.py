"""The abstract interpreter: what the value of an expression can be. How values are remembered is in `memo.py`."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.model import arguments, binding, constructed, decided, inferred_by_use, lists, records
from tfmemlint.model.annotations import promised
from tfmemlint.model.call_graph import CallGraph
from tfmemlint.model.calls import Call
from tfmemlint.model.classes import Classes
from tfmemlint.model.expressions import EXPRESSIONS
from tfmemlint.model.functions import Frame, Functions
from tfmemlint.model.imports import Imports, named
from tfmemlint.model.layers.pretrained import output
from tfmemlint.model.memo import Answer, Memory, latter
from tfmemlint.model.needed import Needed
from tfmemlint.model.pending import Key, Rank
from tfmemlint.model.set_shapes import with_set_shape
from tfmemlint.model.transfer import transfer
from tfmemlint.model.unrolled import after_loop, carried, iterations, of_layers
from tfmemlint.model.values import (
    Api,
    Class,
    Const,
    Function,
    Instance,
    Mapping,
    Module,
    OneOf,
    Sequence,
    Unknown,
    Value,
    one_of,
    unpacked,
)
from tfmemlint.syntax.scopes import OUTER, Binds, Definition, ScopeNode, written
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.model.mapped import Body
    from tfmemlint.model.unrolled import Assumption, Unrolled

BUILTINS = frozenset(dir(builtins))
NONE = Const(None)


class Evaluator:
    """Values of one file's expressions, which `memo` remembers."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.tree = file.tree
        self.memo = Memory(len(file.tree), self._rank)
        self.call_graph = CallGraph(self)
        self.functions = Functions(self)
        self.classes = Classes(self)
        self.imports = Imports(self)
        self.assumptions: list[Assumption] = []
        self.needed = Needed(file)
        self.bodies: dict[tuple[Value, int, int], Body] = {}
        self.stated: Callable[[Node, Value], Value] | None = None  # what a user says of expressions
        self._outermost = self.memo.state

    # -- values ------------------------------------------------------------------------------------------------------

    def value(self, node: Node, frame: Frame | None = None) -> Value:
        """What an expression can be in a frame (None: in the code as it stands, over all callers)."""
        return self.memo.once((id(node), id(frame)), self._evaluate, node, frame)

    def _evaluate(self, node: Node, frame: Frame | None) -> Value:
        handler = _HANDLERS.get(node.__class__)
        found = handler(self, node, frame) if handler else Unknown(f"a {type(node).__name__} is not followed")
        return found if self.stated is None else self.stated(node, found)

    def call(self, node: cst.Call, frame: Frame | None = None) -> Call:
        """The call object of a call expression; the same one each time."""
        key = (id(node), id(frame))
        calls = self.memo.calls()
        call = calls.get(key)
        if call is None:
            call = calls[key] = Call(node, self, frame)
        return call

    def general(self, key: Key, compute: Callable[..., Answer], *where: Any, start: Answer) -> Answer:
        """The answer to a question about the whole file: the same in each iteration of a loop that is followed."""
        assumptions, self.assumptions = self.assumptions, []
        inner = self.memo.anew(self._outermost) if assumptions else None
        try:
            return self.memo.once(key, compute, *where, start=start, meet=latter)
        finally:
            if inner is not None:
                self.memo.anew(inner)
                self.assumptions = assumptions

    def iterations(self, loop: cst.For, frame: Frame | None) -> Unrolled | None:
        """The iterations of a loop over a few known items, worked out."""
        return iterations(self, loop, frame)

    def _rank(self, subject: Node | Definition, frame: Frame | None = None) -> Rank:
        """Where a question stands in the order in which those of a circle are answered: definitions first, as every
        loop goes through one."""
        path = []
        while frame is not None:
            path.append(self.tree.order(frame.call.node))
            frame = frame.caller
        if isinstance(subject, Definition):
            return (0, self.tree.order(subject.node), subject.name, path)
        return (1, self.tree.order(subject), "", path)

    # -- names -------------------------------------------------------------------------------------------------------

    def _name(self, node: cst.Name, frame: Frame | None) -> Value:
        if node.value in ("True", "False", "None"):
            return Const({"True": True, "False": False, "None": None}[node.value])
        scope = self.file.scope_of(node)
        found = self.file.flow(scope).uses.get(id(node))
        local = written(found or ())
        if local:
            coming = decided.coming(self, node, scope) if frame is None else None
            if coming is not None:
                return one_of(self.value(node, each) for each in coming)
            frame_here = frame if frame is not None and frame.function is scope else self._frame_of(scope, frame)
            if len(local) > 1:
                local = decided.reaching(self, node, local, frame_here)
            value = self.joined(local, frame_here, self.file.inner_writes(node.value, scope))
            value = with_set_shape(self, node, value, frame_here)
            return (after_loop(self, node, local, frame_here) or value) if of_layers(value) else value
        return self.outer_name(node.value, scope, frame)

    def joined(self, reaching: list[Definition], frame: Frame | None, inner: Iterable[Definition] = ()) -> Value:
        """What the definitions that reach a place give their name; in a loop that is followed, the iteration before."""
        left = carried(self, reaching) if self.assumptions else None
        values = [self.definition(d, frame) for d in reaching] if left is None else [left]
        return without_none(values + [self.definition(d, None) for d in inner])

    def _frame_of(self, scope: ScopeNode, frame: Frame | None) -> Frame | None:
        while frame is not None and frame.function is not scope:
            frame = frame.closure
        return frame

    def outer_name(self, name: str, scope: ScopeNode, frame: Frame | None) -> Value:
        """A name that `scope` does not bind: from the scopes around it, the builtins or a star import."""
        for outer in self.file.scopes_around(scope):
            definitions = self.functions.visible(name, scope, outer, frame)
            if definitions:
                outer_frame = self._frame_of(outer, frame)
                values = [self.definition(d, outer_frame) for d in definitions]
                values += [self.definition(d, None) for d in self.file.inner_writes(name, outer)]
                return without_none(values)
        starred = self.imports.starred(name, self.file.home(scope))
        if starred is not None:
            return starred
        if name in BUILTINS:
            return Api(f"builtins.{name}")
        return Unknown(f"{name} is not defined in this file")

    def definition(self, definition: Definition, frame: Frame | None) -> Value:
        """The value that a definition gives its name."""
        if self.assumptions:
            item = next((a.items[id(definition)] for a in self.assumptions if id(definition) in a.items), None)
            if item is not None:
                return item
        return self.memo.once((id(definition), id(frame)), self._define, definition, frame)

    def _define(self, d: Definition, frame: Frame | None) -> Value:
        if d.binds is Binds.IMPORT:
            return self.imports.value(d)
        if d.binds is Binds.FUNCTION:
            assert isinstance(d.value, cst.FunctionDef)
            return self.functions.defined(d.value, frame)
        if d.binds is Binds.CLASS:
            assert isinstance(d.value, cst.ClassDef)
            return Class(d.value)
        if d.binds is Binds.PARAMETER:
            assert isinstance(d.value, cst.Param)
            return self._changeable(d, self.functions.parameter(d.value, d.scope, frame))
        if d.binds is Binds.AUGMENTED:
            assert isinstance(d.value, cst.AugAssign)
            return self._augmented(d.value, frame)
        if d.value is None:
            return (
                self.annotated(d.annotation, frame)
                if d.annotation
                else Unknown(f"{d.name} is bound in a way that is not followed")
            )
        value = self.value(d.value, frame)
        if d.binds is Binds.ITEM:
            value = value.iterated()
        # TensorFlow's context managers give themselves to `with value as name`.
        value = unpacked(value, d.path)
        if isinstance(value, Sequence) and value.kind == "list" and d.name in self.file.home(d.node).grown:
            return lists.grown(self, d, value, frame)
        value = self._changeable(d, value)
        return value if value.known or d.annotation is None else self.annotated(d.annotation, frame)

    def _changeable(self, d: Definition, value: Value) -> Value:
        """The value under a name. A dictionary that is changed by it may hold other items than it was made with."""
        is_filled = isinstance(value, Mapping) and d.name in self.file.home(d.node).filled
        return replace(value, open=True) if is_filled and isinstance(value, Mapping) else value

    def annotated(self, annotation: Node, frame: Frame | None) -> Value:
        """The value that an annotation promises: an instance of an API class or of a class of this module."""
        return promised(self, annotation, frame)

    def _augmented(self, node: cst.AugAssign, frame: Frame | None) -> Value:
        left, right = self.value(node.target, frame), self.value(node.value, frame)
        return left.in_place(type(node.operator).__name__.removesuffix("Assign"), right)

    # -- expressions -------------------------------------------------------------------------------------------------

    def _attribute(self, node: cst.Attribute, frame: Frame | None) -> Value:
        followed = self.followed(node, frame)
        if followed is not None:
            return followed
        base = without_none([self.value(node.value, frame)])
        if not base.known:
            return base
        scope = self.file.scope_of(node)
        reader = None if self.file.flow(scope).uses.get(id(node), (OUTER,)) != (OUTER,) else scope
        return one_of(self.attribute(option, node.attr.value, reader) for option in base.options)

    def followed(self, node: Node, frame: Frame | None) -> Value | None:
        """The value of `self.x` or `d["k"]` where this scope assigned it on every path."""
        scope = self.file.scope_of(node)
        found = self.file.flow(scope).uses.get(id(node))
        if not found or OUTER in found:
            return None
        reaching = constructed.standing(self, node, written(found))
        if reaching is None:
            return Unknown("a method that is called before may set it anew")
        return one_of(self.definition(d, self._frame_of(d.scope, frame)) for d in reaching)

    def attribute(self, base: Value, name: str, reader: ScopeNode | None = None) -> Value:
        """The attribute `name` of a value, as a scope reads it that has not set it before."""
        if base in arguments.FLAGS:
            return arguments.flag(self, name)
        if isinstance(base, Module):
            return self.imports.attribute(base, name)
        if isinstance(base, Api):
            return named(f"{base.name}.{name}")
        if isinstance(base, Class):
            return self.classes.attribute(Instance(None, None, base.node), name, bound=False)
        if isinstance(base, Instance) and base.type_name == arguments.NAMESPACE:
            return arguments.default(self, base, name)
        if isinstance(base, Instance) and base.type_name == records.RECORD:
            return Unknown(f"{name} is set anew") if arguments.changed(self, name) else records.attribute(base, name)
        if isinstance(base, Instance) and base.class_node is not None:
            return self.classes.attribute(base, name, True, reader)
        shown = output(base) if name == "output" else None
        return base.attribute(name) if shown is None else shown

    def callee(self, node: cst.Call, frame: Frame | None) -> Value:
        """What a call expression calls."""
        call, target = self.call(node, frame), self.value(node.func, frame)
        if not target.known and isinstance(node.func, cst.Attribute):
            return inferred_by_use.dataset_method_by_use(call, target)
        return binding.taking(call, target)

    def _call(self, node: cst.Call, frame: Frame | None) -> Value:
        call = self.call(node, frame)
        target = without_none([call.target])
        made = one_of(self._result(call, option) for option in target.options) if target.known else target
        return made if made.known else inferred_by_use.model_by_use(call, made)

    def _result(self, call: Call, target: Value) -> Value:
        if isinstance(target, Function):
            return self.functions.result(target, call)
        if isinstance(target, Class):
            return self.classes.instance(target.node, call)
        if isinstance(target, Instance) and target.class_node is not None:
            method = self.classes.method(target.class_node, "__call__")
            if method is not None:
                return self.functions.result(Function(method, receiver=target), call)
        return transfer(call, target)


def without_none(values: list[Value]) -> Value:
    """The join of values that are about to be used: None among others is a placeholder and drops out."""
    if len(values) == 1 and values[0].__class__ is not OneOf:
        return values[0]
    options = [option for value in values for option in value.options]
    kept = [option for option in options if option != NONE]
    return one_of(kept or options)


_HANDLERS: dict[type, Callable[[Evaluator, Any, Frame | None], Value]] = {
    **EXPRESSIONS,
    cst.Name: Evaluator._name,
    cst.Attribute: Evaluator._attribute,
    cst.Call: Evaluator._call,
}
