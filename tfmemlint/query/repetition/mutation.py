"""Whether code may change what a name or a dotted path stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Class, Function, Instance
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition.purity import pure_method
from tfmemlint.syntax.scopes import dotted, own_nodes
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

Body = cst.For | cst.While | cst.FunctionDef
ASSIGNMENTS = (cst.AssignTarget, cst.AugAssign, cst.AnnAssign, cst.Del)


def mutates(file: File, body: Body, name: cst.Name, *, besides: Sequence[Node] = (), path: str = "") -> bool:
    """Whether running the body of a loop or function may change what is read at a name.

    Read is the longest dotted path that starts there (`self.data.x`), or `path`; `besides` are expressions in the body
    that are not looked at. True where the body assigns the path, a part or a holder of it, calls a method of it that
    may change it, or gives it away to what is not known to leave it alone; functions of the module are looked into,
    `FOLLOWED_CALLS` deep. False promises that nothing of the kind is written in this body: code that other threads or
    callbacks run is not seen.
    """
    path = path or path_at(file, name)
    asked = _Path(file, path, array=path == name.value and isinstance(file.value(name), Array))
    for node in walk(body.body):
        if any(file.tree.contains(part, node) for part in besides):
            continue
        if isinstance(node, ASSIGNMENTS) and asked.assigned_by(node):
            return True
        if isinstance(node, cst.Call) and asked.changed_by(file.call(node)):
            return True
    return False


def path_at(file: File, name: cst.Name) -> str:
    """The longest dotted path that is read at a name, a method that is called left out: `self.data.x`."""
    node: Node = name
    while isinstance(above := file.tree.parent(node), cst.Attribute) and above.value is node:
        called = file.tree.parent(above)
        if isinstance(called, cst.Call) and called.func is above:
            break
        node = above
    return dotted(node) or name.value


@dataclass(frozen=True, slots=True)
class _Path:
    """What may be changed: a dotted path, and whether a known array stands there, which only few things change."""

    file: File
    path: str
    array: bool = False

    def assigned_by(self, statement: Node) -> bool:
        """Whether a statement binds the path, a part of it or what holds it."""
        for each in _targets(getattr(statement, "target", statement)):
            written = dotted(each) or dotted(getattr(each, "value", each)) or ""
            if written and (written == self.path or _holds(self.path, written) or _holds(written, self.path)):
                return True
        return False

    def changed_by(self, call: Call) -> bool:
        """Whether a call may change what is read at the path."""
        given = {dotted(arg.value) for arg in call.node.args}
        if any(self._changed_inside(function, FOLLOWED_CALLS) for function in _functions(call)):
            return True
        owner = dotted(call.receiver_node) if call.receiver_node is not None else None
        if owner == self.path:
            return self._changed_by_method(call) or (self.path in given and _fills(call))
        if any(each is not None and self.path.startswith(f"{each}.") for each in given) and self._changed_in_holder(
            call
        ):
            return True
        if self.path in given and _fills(call):
            return True
        if owner is not None and self.path.startswith(f"{owner}."):
            return self._changed_by_holder(call, owner)
        if self.path not in given or "." in self.path:
            return False
        return self._changed_as_argument(call) or not (self.array or _leaves_arguments(call))

    def _changed_by_method(self, call: Call) -> bool:
        """`path.method(...)`"""
        if knowledge.in_group(call.method, "changes_object"):
            return True
        if self.array or pure_method(call):
            return False
        return not call.names or not all(name.startswith(("tf.", "np.")) for name in call.names)

    def _changed_in_holder(self, call: Call) -> bool:
        """`function(holder)`"""
        rest = self.path.partition(".")[2]
        return not _leaves_arguments(call) or any(_writes_attribute(self.file, f, rest) for f in _functions(call))

    def _changed_by_holder(self, call: Call, owner: str) -> bool:
        """`holder.method(...)`"""
        if _is_held(self.file, call) and not self.path.startswith(f"{owner}.{call.method}."):
            return False
        rest = self.path[len(owner) + 1 :]
        return not call.names and any(
            not isinstance(target, Function) or _writes_attribute(self.file, target, rest)
            for target in call.target.options
        )

    def _changed_as_argument(self, call: Call) -> bool:
        """Whether a function of the module changes the object that it is given, as far as its own body shows."""
        keywords = [arg.keyword.value for arg in call.node.args if arg.keyword is not None]
        named = [(name, call.arg(name)) for name in dict.fromkeys((*call.parameter_names, *keywords))]
        names = [name for name, given in named if given is not None and dotted(given.expression) == self.path]
        inside = [_Path(self.file, name) for name in names]
        return any(
            parameter.changed_in_place_by(node)
            for function in (_functions(call) if names else ())
            for node in own_nodes(function.node, cst.AssignTarget, cst.AugAssign, cst.Call)
            for parameter in inside
        )

    def changed_in_place_by(self, node: Node) -> bool:
        """Whether a statement or call changes the object itself: sets a part, calls a method that does."""
        if isinstance(node, cst.Call):
            call = self.file.call(node)
            owner = dotted(call.receiver_node) if call.receiver_node is not None else None
            if owner == self.path and knowledge.in_group(call.method, "changes_object"):
                return True
            return _fills(call) and self.path in {dotted(arg.value) for arg in node.args}
        target = getattr(node, "target", None)
        return isinstance(target, (cst.Subscript, cst.Attribute)) and dotted(target.value) == self.path

    def _changed_inside(self, function: Function, left: int) -> bool:
        """Whether a function of the module changes what the path stands for outside of it, or calls another that
        does."""
        root = self.path.partition(".")[0].partition("[")[0]
        if left <= 0 or not isinstance(function.node, cst.FunctionDef):
            return False
        declared = any(own_nodes(function.node, cst.Global, cst.Nonlocal))
        if root in self.file.flow(function.node).bindings and not declared:
            return False
        for node in own_nodes(function.node, cst.AssignTarget, cst.AugAssign, cst.Call):
            if not isinstance(node, cst.Call):
                if self.assigned_by(node):
                    return True
            elif self.changed_in_place_by(node) or any(
                self._changed_inside(inner, left - 1) for inner in _functions(self.file.call(node))
            ):
                return True
        return False


def _holds(written: str, path: str) -> bool:
    """Whether a dotted path is a part of what stands at another."""
    return written.startswith((f"{path}.", f"{path}["))


def _functions(call: Call) -> list[Function]:
    return [target for target in call.target.options if isinstance(target, Function)]


def _fills(call: Call) -> bool:
    return bool(call.names) and all(knowledge.in_group(name, "fills_argument") for name in call.names)


def _leaves_arguments(call: Call) -> bool:
    """Whether what is called certainly leaves its arguments alone, or is code of this module, which can be read."""
    if call.names:
        return all(knowledge.in_group(name, "keeps_arguments") for name in call.names)
    return all(isinstance(target, (Function, Class, Instance)) for target in call.target.options)


def _is_held(file: File, call: Call) -> bool:
    """Whether what is called is an object that an attribute holds, `self.model(x)`: it does not know its holder."""
    owner = call.receiver
    node = owner.class_node if isinstance(owner, Instance) else None
    if node is None or call.method is None or file.values.classes.method(node, call.method) is not None:
        return False
    return bool(file.values.classes.definitions(node, call.method))


def _writes_attribute(file: File, function: Function, rest: str, left: int = FOLLOWED_CALLS) -> bool:
    """Whether a method assigns the attribute, calls a method of it, or calls another one that does."""
    attribute = rest.split(".")[0].split("[")[0]
    for node in own_nodes(function.node, *ASSIGNMENTS[:3], cst.Call):
        call = file.call(node) if isinstance(node, cst.Call) else None
        if attribute in _attributes(node) and not (call is not None and call.names):
            return True
        if call is not None and left > 1 and call.receiver_node is not None:
            inner = [f for f in _functions(call) if f.receiver is not None and f.node is not function.node]
            if any(_writes_attribute(file, each, rest, left - 1) for each in inner):
                return True
    return False


def _attributes(node: Node) -> Iterator[str]:
    """The attributes that a statement assigns, or whose method a call calls."""
    targets: Iterable[Node] = _targets(getattr(node, "target", node))
    if isinstance(node, cst.Call):
        targets = [node.func.value] if isinstance(node.func, cst.Attribute) else []
    for target in targets:
        while isinstance(target, cst.Subscript):
            target = target.value
        if isinstance(target, cst.Attribute):
            yield target.attr.value


def _targets(target: Node) -> Iterator[Node]:
    if isinstance(target, (cst.Tuple, cst.List)):
        for element in target.elements:
            yield from _targets(element.value)
    else:
        yield target
