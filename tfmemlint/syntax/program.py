"""The names of one file as they are written: in which scope they are read, what binds them there, what writes to them
from elsewhere, and by which words calls are made."""

from __future__ import annotations

import bisect
from collections.abc import Iterator
from typing import NamedTuple

import libcst as cst

from tfmemlint.syntax import words
from tfmemlint.syntax.places import Places
from tfmemlint.syntax.reaching import Flow
from tfmemlint.syntax.remembered import Own, once_per_tree, own
from tfmemlint.syntax.scopes import Binds, Definition, Definitions, ScopeNode, dotted, enclosing_scope, written
from tfmemlint.syntax.tree import Node, Tree, walk

GROWS = ("append", "extend", "insert", "pop", "remove", "clear", "appendleft")
"""Methods of a list that change its length."""

_NO_LOADS = frozenset((
    cst.FunctionDef, cst.ClassDef, cst.Param, cst.ImportAlias, cst.AsName, cst.AssignTarget, cst.NameItem,
))  # fmt: skip
"""What binds or declares the names directly below it and reads none of them (but a parameter's default)."""

MOST_NAMES = 8
"""Names behind each other that `File.written` looks behind."""


class Assigned(NamedTuple):
    """Assignments in source order: `to` each name in their targets, `reading` each name in their values."""

    to: dict[str, list[cst.Assign]]
    reading: dict[str, list[cst.Assign]]


def names_in(node: Node) -> dict[str, None]:
    """The words of all Name nodes in some code, in source order."""
    return {name.value: None for name in walk(node, cst.Name)}


class Program:
    """Scopes, names and words of one module. What they stand for is the evaluator's business."""

    def __init__(self, module: cst.Module, known: Program | None = None) -> None:
        """`known` is another program of this very tree, whose work need not be done again."""
        self.module = module
        self.known = known
        """Another program of this tree, which has answers of its own."""
        self.tree: Tree = Tree(module) if known is None else known.tree.alone()
        self._flows: dict[int, Flow] = {} if known is None else known._flows
        self._scopes: dict[int, ScopeNode] = {} if known is None else known._scopes
        self._own: dict[int, Own] = {} if known is None else known._own
        self._places: dict[str, Places] = {}
        self._assigned: dict[int, Assigned] = {}
        self._bound: dict[int, list[tuple[int, Definition]]] = {}

    def scope_of(self, node: Node) -> ScopeNode:
        """The module, function, lambda or class body in which a node is evaluated."""
        scope = self._scopes.get(id(node))
        return enclosing_scope(self.tree, node, self._scopes) if scope is None else scope

    def scopes_around(self, scope: ScopeNode) -> Iterator[ScopeNode]:
        """The function and module scopes whose names a scope sees, nearest first."""
        while type(scope) is not cst.Module:  # a class test is far cheaper than isinstance where it fails
            scope = self.scope_of(scope)
            if type(scope) is not cst.ClassDef:
                yield scope

    def flow(self, scope: ScopeNode) -> Flow:
        """The reaching definitions of a scope."""
        flow = self._flows.get(id(scope))
        if flow is None:
            flow = self._flows[id(scope)] = Flow(scope)
        return flow

    def own(self, scope: ScopeNode) -> Own:
        """The calls, and the `return` and `yield`, of a scope itself."""
        found = self._own.get(id(scope))
        if found is None:
            found = self._own[id(scope)] = own(scope)
        return found

    def class_of(self, function: ScopeNode) -> cst.ClassDef | None:
        """The class whose body defines this function, or None."""
        scope = self.scope_of(function) if type(function) is not cst.Module else None
        return scope if type(scope) is cst.ClassDef else None

    @once_per_tree
    def _loads(self) -> dict[str, list[cst.Name]]:
        found: dict[str, list[cst.Name]] = {}
        for name in self.tree.of(cst.Name):
            parent = self.tree.parent(name)
            if parent.__class__ in _NO_LOADS and not (isinstance(parent, cst.Param) and parent.default is name):
                continue
            if parent.__class__ is cst.Arg and isinstance(parent, cst.Arg) and parent.keyword is name:
                continue
            found.setdefault(name.value, []).append(name)
        return found

    def loads(self, name: str) -> list[cst.Name]:
        """The Name nodes that read `name` (or an attribute of that name), in source order."""
        return self._loads.get(name, [])

    def definitions(self, use: Node) -> Definitions:
        """What a name, attribute or item may have got its value from where it is read, `OUTER` among it where on some
        path nothing in its own scope binds it; empty where only scopes around do."""
        return self.flow(self.scope_of(use)).uses.get(id(use), ())

    def only_definition(self, use: Node) -> Definition | None:
        """The one place that gives a name, attribute or item its value where it is read; None where there are several
        or it may come from outside of the scope."""
        found = self.definitions(use)
        return found[0] if len(found) == 1 and isinstance(found[0], Definition) else None

    def places(self, name: str) -> Places:
        """Where the file reads `name`, by scope."""
        places = self._places.get(name)
        if places is None:
            places = self._places[name] = Places(self.loads(name), self)
        return places

    def definition(self, target: cst.Name) -> Definition | None:
        """The definition that a name makes in the target of an assignment, loop or `with`."""
        return self.flow(self.scope_of(target)).made(target, target.value)

    def uses_of(self, definition: Definition) -> list[cst.Name]:
        """The Name nodes of the definition's own scope that may read it."""
        return self.places(definition.name).reading(definition)

    def bound_within(self, node: Node) -> list[Definition]:
        """The definitions that a statement of some scope holds for that scope, in source order."""
        scope = self.scope_of(node)
        found = self._bound.get(id(scope))
        if found is None:
            order = self.tree.order
            made = (d for definitions in self.flow(scope).bindings.values() for d in definitions)
            found = sorted(((order(d.node), d) for d in made), key=lambda pair: pair[0])
            self._bound[id(scope)] = found
        first = bisect.bisect_left(found, self.tree.order(node), key=lambda pair: pair[0])
        last = bisect.bisect_right(found, self.tree.last(node), key=lambda pair: pair[0])
        return [definition for _, definition in found[first:last]]

    def written(self, expression: cst.BaseExpression) -> cst.BaseExpression:
        """The expression that a name or attribute stands for where a single assignment in its scope, or for a name in
        a scope around it, gives it that value; any other expression as it is."""
        for _ in range(MOST_NAMES):
            if not isinstance(expression, (cst.Name, cst.Attribute)):
                break
            found = self.definitions(expression) or self._outer(expression)
            plain = len(found) == 1 and found[0].binds is Binds.VALUE and not found[0].path
            if not plain or not isinstance(found[0].value, cst.BaseExpression):
                break
            expression = found[0].value
        return expression

    def _outer(self, expression: cst.BaseExpression) -> Definitions:
        """All definitions of a name in the scope around that binds it; empty where a function may set it, too."""
        scope = self.scope_of(expression)
        if not isinstance(expression, cst.Name) or expression.value in self.flow(scope).bindings:
            return ()
        if expression.value in self.declared:
            return ()
        bindings = (self.flow(around).bindings.get(expression.value) for around in self.scopes_around(scope))
        return tuple(next((found for found in bindings if found), ()))

    def assigned(self, scope: ScopeNode) -> Assigned:
        """The assignments of a scope, by the names in their targets and in their values."""
        found = self._assigned.get(id(scope))
        if found is None:
            found = self._assigned[id(scope)] = Assigned({}, {})
            for assign in self._assigns_by_scope.get(id(scope), ()):
                for name in dict.fromkeys(name for target in assign.targets for name in names_in(target.target)):
                    found.to.setdefault(name, []).append(assign)
                for name in names_in(assign.value):
                    found.reading.setdefault(name, []).append(assign)
        return found

    @once_per_tree
    def _assigns_by_scope(self) -> dict[int, list[cst.Assign]]:
        found: dict[int, list[cst.Assign]] = {}
        for assign in self.tree.of(cst.Assign):
            found.setdefault(id(self.scope_of(assign)), []).append(assign)
        return found

    @once_per_tree
    def assigned_paths(self) -> dict[str, list[cst.Assign]]:
        """The assignments to each name or dotted path, in source order."""
        found: dict[str, list[cst.Assign]] = {}
        for assign in self.tree.of(cst.Assign):
            for path in dict.fromkeys(dotted(target.target) for target in assign.targets):
                if path is not None:
                    found.setdefault(path, []).append(assign)
        return found

    @once_per_tree
    def method_calls(self) -> dict[tuple[str, str | None], list[cst.Call]]:
        """The calls of methods, by the method's name and the path of what it is called on."""
        found: dict[tuple[str, str | None], list[cst.Call]] = {}
        for node in self.tree.of(cst.Call):
            called = self.called(node)
            if isinstance(called, cst.Attribute):
                found.setdefault((called.attr.value, dotted(called.value)), []).append(node)
        return found

    @once_per_tree
    def declared(self) -> dict[str, set[int]]:
        """Names that functions declare with `global` or `nonlocal`, with the ids of the scopes that do."""
        found: dict[str, set[int]] = {}
        for node in self.tree.of(cst.Global, cst.Nonlocal):
            for item in node.names:
                found.setdefault(item.name.value, set()).add(id(self.scope_of(node)))
        return found

    @once_per_tree
    def grown(self) -> frozenset[str]:
        """Names and dotted paths of which a method is called that changes how many items a list holds."""
        calls = (self.called(node) for word in GROWS for node in self.calls_by_word.get(word, ()))
        return frozenset(
            name for func in calls if isinstance(func, cst.Attribute) and (name := dotted(func.value)) is not None
        )

    @once_per_tree
    def filled(self) -> frozenset[str]:
        """Names and dotted paths of which an item is set or deleted, or whose `update` is called."""
        targets: list[Node] = [node.target for node in self.tree.of(cst.AssignTarget)]
        targets += [node.target for node in self.tree.of(cst.AugAssign)]
        targets += [node.target for node in self.tree.of(cst.Del)]
        changed: list[Node] = [target.value for target in targets if isinstance(target, cst.Subscript)]
        updates = [node.func for node in self.calls_by_word.get("update", ())]
        changed += [func.value for func in updates if isinstance(func, cst.Attribute)]
        return frozenset(path for node in changed if (path := dotted(node)) is not None)

    @once_per_tree
    def set_attributes(self) -> dict[str, dict[str, int]]:
        """For the last part of each attribute that is assigned: the dotted paths by which it is, and how often."""
        return words.set_attributes(self)

    def inner_writes(self, name: str, scope: ScopeNode) -> tuple[Definition, ...]:
        """For a name of a scope: the definitions that functions inside of it make after `global` or `nonlocal`."""
        if type(scope) is cst.Module:
            return self.global_writes.get(name, ())
        return self._nonlocal_writes.get((id(scope), name), ())

    @once_per_tree
    def _nonlocal_writes(self) -> dict[tuple[int, str], tuple[Definition, ...]]:
        found: dict[tuple[int, str], tuple[Definition, ...]] = {}
        for statement in self.tree.of(cst.Nonlocal):
            scope = self.scope_of(statement)
            for name in (item.name.value for item in statement.names):
                owner = next((s for s in self.scopes_around(scope) if name in self.flow(s).bindings), None)
                ends = tuple(written(self.flow(scope).end.get(name, ())))
                if owner is not None:
                    found[id(owner), name] = found.get((id(owner), name), ()) + ends
        return found

    @once_per_tree
    def global_writes(self) -> dict[str, tuple[Definition, ...]]:
        """For module names that functions assign after `global`: those functions' definitions."""
        found: dict[str, list[Definition]] = {}
        for statement in self.tree.of(cst.Global):
            scope = self.scope_of(statement)
            for item in statement.names:
                ends = self.flow(scope).end.get(item.name.value, ())
                found.setdefault(item.name.value, []).extend(written(ends))
        return {name: tuple(definitions) for name, definitions in found.items()}

    @once_per_tree
    def star_imports(self) -> tuple[str, ...]:
        """Modules of which everything is imported, with the dots of those that are named from here."""
        return tuple(
            "." * len(node.relative) + (dotted(node.module) or "" if node.module else "")
            for node in self.tree.of(cst.ImportFrom)
            if isinstance(node.names, cst.ImportStar)
        )

    # -- calls -------------------------------------------------------------------------------------------------------

    @once_per_tree
    def calls_by_word(self) -> dict[str, list[cst.Call]]:
        """Call nodes by the last part of what is called: of `push = kept.append; push(x)` by both words."""
        return words.calls_by_word(self)

    @once_per_tree
    def bound_methods(self) -> dict[int, cst.Attribute]:
        """For the id of a call of a name or attribute that certainly stands for a method (`push = kept.append`): the
        expression of the method."""
        return words.bound_methods(self)

    def called(self, call: cst.Call) -> cst.BaseExpression:
        """The expression that a call calls: `kept.append`, also where it is called by another name."""
        return self.bound_methods.get(id(call), call.func)

    @once_per_tree
    def renamed(self) -> dict[str, set[str]]:
        """For the last part of an imported or assigned API name: the other words by which this file calls it."""
        return words.renamed(self)
