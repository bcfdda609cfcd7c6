"""How a value is followed from name to name; the mechanism of `uses`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.query.flow.around import AROUND
from tfmemlint.query.flow.paths import same_path
from tfmemlint.query.flow.use import Does, Use
from tfmemlint.query.limits import FOLLOWED_USES
from tfmemlint.syntax.names import is_variable
from tfmemlint.syntax.scopes import Definition
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


@dataclass(frozen=True, slots=True)
class At:
    """A place to be looked at: `node` stands there for the value, or for what has it at `path` of each item.

    `held` says that it is a container with the value in it, at `spot` if that is known. `part`, `unpacked` and
    `captured` are those of the uses found from here, `entered` the calls that led into the functions around it, with
    the parameters that have it there, `left` how many more are gone into.
    """

    node: Node
    left: int
    part: bool = False
    unpacked: bool = False
    held: bool = False
    captured: bool = False
    path: tuple[int, ...] = ()
    spot: tuple[int, ...] = ()
    entered: tuple[tuple[Call, cst.Param], ...] = ()

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes a look at a place another look: not how many calls are left."""
        entered = tuple(id(call) for call, _ in self.entered[-1:])
        return (id(self.node), self.part, self.held, self.path, self.spot, entered)

    def use(self, does: Does, place: Node | None, word: str = "", **more: Any) -> Use:
        """The use that the code around makes of the value here."""
        return Use(
            self.node, does, word, place=place, part=self.part, unpacked=self.unpacked, held=self.held,
            captured=self.captured, **more,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Follow:
    """What to follow on the way, as the keywords of `uses` say."""

    parts: bool
    containers: bool
    attributes: bool
    returned: bool


class Search:
    """One question: what to follow, and the places still to be looked at."""

    def __init__(self, file: File, follow: Follow) -> None:
        self.file, self.tree, self.follow = file, file.tree, follow
        self._next: list[At] = []

    def uses(self, made: Node, through: int, path: tuple[int, ...] = ()) -> Iterator[Use]:
        """The uses of a value, in the order in which it gets there, of several readers of a name in source order."""
        start = At(made, through, held=bool(path), spot=path)
        definition = self._bound_by(made)
        if definition is not None:
            self.named(start, definition)
        waiting = self._next[::-1] if definition is not None else [start]
        seen: set[tuple[Any, ...]] = set()
        while waiting:
            at = waiting.pop()
            if at.key in seen:
                continue
            seen.add(at.key)
            if len(seen) > FOLLOWED_USES:
                yield at.use(Does.OTHER, self.tree.parent(at.node))
                continue
            self._next = []
            yield from self._look(at)
            waiting += reversed(self._next)

    def _look(self, at: At) -> Iterator[Use]:
        """What the code around one place does with the value."""
        parent = self.tree.parent(at.node)
        look = AROUND.get(parent.__class__) if parent is not None else None
        if look is not None:
            yield from look(self, at, parent)
        elif not isinstance(parent, cst.Expr):
            yield at.use(Does.OTHER, parent)

    def go_on(self, at: At, node: Node, **changes: Any) -> None:
        """Look at another place that stands for the value, too."""
        self._next.append(replace(at, node=node, **changes))

    # -- names -------------------------------------------------------------------------------------------------------

    def _bound_by(self, made: Node) -> Definition | None:
        if isinstance(made, cst.Param):
            return self._of_parameter(made)
        if isinstance(made, (cst.FunctionDef, cst.ClassDef)):
            return self.file.flow(self.file.scope_of(made)).made(made, made.name.value)
        return self._made_at(made) if isinstance(made, cst.Name) else None

    def _made_at(self, target: cst.Name) -> Definition | None:
        """The definition that a target makes; those of `name: Kind = value` and `name += value` are made by the whole
        statement."""
        found = self.file.definition(target)
        parent = self.tree.parent(target)
        if found is None and isinstance(parent, (cst.AnnAssign, cst.AugAssign)) and parent.target is target:
            found = self.file.flow(self.file.scope_of(target)).made(parent, target.value)
        return found

    def _of_parameter(self, param: cst.Param) -> Definition | None:
        function = next(a for a in self.tree.ancestors(param) if isinstance(a, (cst.FunctionDef, cst.Lambda)))
        return self.file.flow(function).made(param, param.name.value)

    def named(self, at: At, definition: Definition) -> None:
        """Go on where a name is read that has the value, in functions inside too."""
        for use in self.file.readers(definition):
            if is_variable(self.file, use):
                captured = at.captured or self.file.scope_of(use) is not definition.scope
                self.go_on(at, use, captured=captured)

    def enter(self, at: At, call: Call, param: cst.Param) -> None:
        """Go on in a function that a call gives the value as a parameter."""
        definition = self._of_parameter(param)
        if definition is not None and all(param is not other for _, other in at.entered):  # else it is there already
            self.named(replace(at, left=at.left - 1, entered=(*at.entered, (call, param))), definition)

    def bind(self, at: At, target: Node) -> Iterator[Use]:
        """The uses of what an assignment, a loop or a `with` binds to the value."""
        if isinstance(target, cst.Name):
            yield from self._bind_name(at, target)
        elif isinstance(target, (cst.Tuple, cst.List)):
            yield from self._unpack(at, target)
        elif isinstance(target, cst.StarredElement):
            yield from self.bind(replace(at, held=True, path=()), target.value)
        else:
            yield at.use(Does.STORE, target)
            for node in same_path(self.file, target) if self.follow.attributes else ():
                self.go_on(at, node)

    def _bind_name(self, at: At, target: cst.Name) -> Iterator[Use]:
        definition = self._made_at(target)
        if definition is None:
            yield at.use(Does.OTHER, target)
        elif self._is_shared(definition):
            yield at.use(Does.STORE, target)
            if self.follow.attributes:
                self._elsewhere(at, target, definition)
        else:
            self.named(at, definition)

    def _unpack(self, at: At, target: cst.Tuple | cst.List) -> Iterator[Use]:
        where = at.path or at.spot
        if where:
            rest = replace(at, path=where[1:]) if at.path else replace(at, spot=where[1:], held=len(where) > 1)
            if where[0] < len(target.elements):
                taken = replace(rest, unpacked=at.unpacked or not at.path)
                yield from self.bind(taken, target.elements[where[0]].value)
        elif at.held or self.follow.parts:
            for element in target.elements:
                taken = replace(at, held=False, part=at.part or not at.held, unpacked=True)
                yield from self.bind(taken, element.value)
        else:
            yield at.use(Does.ITEM, target)

    def _is_shared(self, definition: Definition) -> bool:
        """Whether a function binds a name that is not its own, or a class body an attribute."""
        name, scope = definition.name, definition.scope
        if isinstance(scope, cst.ClassDef):
            return True
        return id(scope) in self.file.declared.get(name, ())

    def _elsewhere(self, at: At, target: cst.Name, definition: Definition) -> None:
        """Go on where other functions read a global or nonlocal name."""
        for use in (name for name in self.file.loads(target.value) if is_variable(self.file, name)):
            scope = self.file.scope_of(use)
            if scope is definition.scope and definition in self.file.definitions(use):
                self.go_on(at, use)
            elif scope is not definition.scope and target.value not in self.file.flow(scope).bindings:
                self.go_on(at, use, captured=True)
