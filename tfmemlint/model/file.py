"""One file as rules see it: tree, calls by API name, values, flow, contexts and places, all made on demand."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Span
from tfmemlint.model import knowledge, versions
from tfmemlint.model.calls import Call
from tfmemlint.model.contexts import Contexts
from tfmemlint.model.effects import Effects
from tfmemlint.model.evaluate import Evaluator
from tfmemlint.model.flow import Flow
from tfmemlint.model.scopes import (
    OUTER,
    Binds,
    Definition,
    Definitions,
    ScopeNode,
    dotted,
    enclosing_scope,
    own_nodes,
)
from tfmemlint.model.source import Source
from tfmemlint.model.spans import Spans
from tfmemlint.model.tree import Node, Tree
from tfmemlint.model.values import Value

if TYPE_CHECKING:
    from tfmemlint.config import Config


GROWS = ("append", "extend", "insert", "pop", "remove", "clear", "appendleft")
"""Methods of a list that change its length."""

_NO_LOADS = (
    cst.FunctionDef, cst.ClassDef, cst.Param, cst.ImportAlias, cst.AsName, cst.AssignTarget, cst.NameItem,
)  # fmt: skip
"""What binds or declares the names directly below it and reads none of them (but a parameter's default)."""

MOST_NAMES = 8
"""Names behind each other that `File.written` looks behind."""


class File:
    """The model of one parsed file. `config` holds the limits that rules ask for (bytes)."""

    def __init__(self, source: Source, module: cst.Module, config: Config) -> None:
        self.source = source
        self.module = module
        self.config = config
        self.tree = Tree(module)
        self.values = Evaluator(self)
        self.contexts = Contexts(self)
        self._flows: dict[int, Flow] = {}
        self._scopes: dict[int, ScopeNode] = {}

    # -- calls -------------------------------------------------------------------------------------------------------

    @cached_property
    def calls_by_word(self) -> dict[str, list[cst.Call]]:
        """Call nodes by the last part of what is called as it is written."""
        found: dict[str, list[cst.Call]] = {}
        for node in self.tree.of(cst.Call):
            func = node.func
            word = (
                func.attr.value if isinstance(func, cst.Attribute) else func.value if isinstance(func, cst.Name) else ""
            )
            found.setdefault(word if isinstance(word, str) else "", []).append(node)
        return found

    @cached_property
    def renamed(self) -> dict[str, set[str]]:
        """For the last part of an imported or assigned API name: the other words by which this file calls it."""
        found: dict[str, set[str]] = {}
        for alias in self.tree.of(cst.ImportAlias):
            if alias.asname is not None and isinstance(alias.asname.name, cst.Name):
                original = dotted(alias.name) or ""
                found.setdefault(original.rpartition(".")[2], set()).add(alias.asname.name.value)
        for assign in self.tree.of(cst.Assign):
            word = (dotted(assign.value) or "").rpartition(".")[2]
            for target in assign.targets if word else ():
                if name := dotted(target.target):
                    found.setdefault(word, set()).add(name.rpartition(".")[2])
        return found

    def calls(self, *names: str) -> Iterator[Call]:
        """All calls of these canonical API names, in source order for each word."""
        wanted = frozenset(names)
        words: dict[str, None] = {}
        for name in names:
            for word in knowledge.words(name):
                words[word] = None
                words.update(dict.fromkeys(self.renamed.get(word, ())))
        for word in words:
            for node in self.calls_by_word.get(word, ()):
                call = self.values.call(node)
                if call.names and wanted.issuperset(call.names):
                    yield call

    def call(self, node: cst.Call) -> Call:
        """The call object of a call expression."""
        return self.values.call(node)

    def value(self, node: Node) -> Value:
        """What an expression can be, over all callers of the code around it."""
        return self.values.value(node)

    # -- scopes and names --------------------------------------------------------------------------------------------

    def scope_of(self, node: Node) -> ScopeNode:
        """The module, function, lambda or class body in which a node is evaluated."""
        key = id(node)
        scope = self._scopes.get(key)
        if scope is None:
            scope = self._scopes[key] = enclosing_scope(self.tree, node)
        return scope

    def scopes_around(self, scope: ScopeNode) -> Iterator[ScopeNode]:
        """The function and module scopes whose names a scope sees, nearest first."""
        while not isinstance(scope, cst.Module):
            scope = self.scope_of(scope)
            if not isinstance(scope, cst.ClassDef):
                yield scope

    def flow(self, scope: ScopeNode) -> Flow:
        """The reaching definitions of a scope."""
        flow = self._flows.get(id(scope))
        if flow is None:
            flow = self._flows[id(scope)] = Flow(scope)
        return flow

    def class_of(self, function: ScopeNode) -> cst.ClassDef | None:
        """The class whose body defines this function, or None."""
        scope = self.scope_of(function) if not isinstance(function, cst.Module) else None
        return scope if isinstance(scope, cst.ClassDef) else None

    @cached_property
    def _loads(self) -> dict[str, list[cst.Name]]:
        found: dict[str, list[cst.Name]] = {}
        for name in self.tree.of(cst.Name):
            parent = self.tree.parent(name)
            if isinstance(parent, _NO_LOADS) and not (isinstance(parent, cst.Param) and parent.default is name):
                continue
            if isinstance(parent, cst.Arg) and parent.keyword is name:
                continue
            found.setdefault(name.value, []).append(name)
        return found

    def loads(self, name: str) -> list[cst.Name]:
        """The Name nodes that read `name` (or an attribute of that name), in source order."""
        return self._loads.get(name, [])

    def definitions(self, use: Node) -> Definitions:
        """What a name, attribute or item may have got its value from where it is read; empty where only scopes around
        its own bind it."""
        return self.flow(self.scope_of(use)).uses.get(id(use), ())

    def definition(self, target: cst.Name) -> Definition | None:
        """The definition that a name makes in the target of an assignment, loop or `with`."""
        made = self.flow(self.scope_of(target)).bindings.get(target.value, ())
        return next((d for d in made if d.node is target), None)

    def uses_of(self, definition: Definition) -> list[cst.Name]:
        """The Name nodes of the definition's own scope that may read it."""
        flow = self.flow(definition.scope)
        return [n for n in self.loads(definition.name) if any(d is definition for d in flow.uses.get(id(n), ()))]

    def readers(self, definition: Definition) -> list[cst.Name]:
        """The Name nodes that may read a definition, in its own scope and in functions inside of it."""
        flow = self.flow(definition.scope)
        return [
            n
            for n in self.loads(definition.name)
            if any(d is definition for d in flow.uses.get(id(n)) or self._from_outside(n, definition.scope))
        ]

    def _from_outside(self, name: cst.Name, home: ScopeNode) -> Definitions:
        """What a name can be that a function inside of `home` reads and does not bind."""
        scope = self.scope_of(name)
        parent = self.tree.parent(name)
        if scope is home or (isinstance(parent, cst.Attribute) and parent.attr is name):
            return ()
        if self.flow(scope).bindings.get(name.value):
            return ()
        for outer in self.scopes_around(scope):
            if outer is home:
                return self.values.functions.visible(name.value, scope, outer, None)
            if self.flow(outer).bindings.get(name.value):
                break
        return ()

    def written(self, expression: cst.BaseExpression) -> cst.BaseExpression:
        """The expression that a name or attribute stands for where a single assignment in its scope gives it that
        value; any other expression as it is."""
        for _ in range(MOST_NAMES):
            if not isinstance(expression, (cst.Name, cst.Attribute)):
                break
            found = self.definitions(expression)
            plain = len(found) == 1 and found[0].binds is Binds.VALUE and not found[0].path
            if not plain or not isinstance(found[0].value, cst.BaseExpression):
                break
            expression = found[0].value
        return expression

    @cached_property
    def before_version_2(self) -> bool:
        """Whether the program is written for TensorFlow 1."""
        return versions.before_version_2(self)

    @cached_property
    def grown(self) -> frozenset[str]:
        """Names and dotted paths of which a method is called that changes how many items a list holds."""
        calls = (node.func for word in GROWS for node in self.calls_by_word.get(word, ()))
        return frozenset(
            name for func in calls if isinstance(func, cst.Attribute) and (name := dotted(func.value)) is not None
        )

    def inner_writes(self, name: str, scope: ScopeNode) -> tuple[Definition, ...]:
        """For a name of a scope: the definitions that functions inside of it make after `global` or `nonlocal`."""
        if isinstance(scope, cst.Module):
            return self.global_writes.get(name, ())
        return self._nonlocal_writes.get((id(scope), name), ())

    @cached_property
    def _nonlocal_writes(self) -> dict[tuple[int, str], tuple[Definition, ...]]:
        found: dict[tuple[int, str], tuple[Definition, ...]] = {}
        for statement in self.tree.of(cst.Nonlocal):
            scope = self.scope_of(statement)
            for name in (item.name.value for item in statement.names):
                owner = next((s for s in self.scopes_around(scope) if name in self.flow(s).bindings), None)
                ends = tuple(d for d in self.flow(scope).end.get(name, ()) if d is not OUTER)
                if owner is not None:
                    found[id(owner), name] = found.get((id(owner), name), ()) + ends
        return found

    @cached_property
    def global_writes(self) -> dict[str, tuple[Definition, ...]]:
        """For module names that functions assign after `global`: those functions' definitions."""
        found: dict[str, list[Definition]] = {}
        for statement in self.tree.of(cst.Global):
            scope = self.scope_of(statement)
            for item in statement.names:
                ends = self.flow(scope).end.get(item.name.value, ())
                found.setdefault(item.name.value, []).extend(d for d in ends if d is not OUTER)
        return {name: tuple(definitions) for name, definitions in found.items()}

    @cached_property
    def star_imports(self) -> tuple[str, ...]:
        """Modules of which everything is imported."""
        return tuple(
            dotted(node.module) or ""
            for node in self.tree.of(cst.ImportFrom)
            if isinstance(node.names, cst.ImportStar) and node.module
        )

    def returns(self, function: cst.FunctionDef) -> list[cst.Return]:
        """The return statements of a function, nested functions left out."""
        return [node for node in own_nodes(function, (cst.Return,)) if isinstance(node, cst.Return)]

    # -- order -------------------------------------------------------------------------------------------------------

    @cached_property
    def effects(self) -> Effects:
        """The order of TensorFlow's effects as the program runs."""
        return Effects(self)

    # -- places ------------------------------------------------------------------------------------------------------

    @cached_property
    def spans(self) -> Spans:
        """Offsets of all nodes; made only for files with findings."""
        return Spans(self.module, self.source.text)

    def span(self, node: Node) -> Span:
        """The characters of a node, without the whitespace around it."""
        return Span(*self.spans[node])

    def text(self, node: Node) -> str:
        """The node's source text."""
        start, end = self.spans[node]
        return self.source.text[start:end]

    def place(self, where: Call | Node | Span) -> Span:
        """Where a finding about something points: a call's method name, a statement's first token, else the node."""
        if isinstance(where, Span):
            return where
        if isinstance(where, Call):
            return self.span(where.name_node)
        span = self.span(where)
        if isinstance(where, (cst.BaseCompoundStatement, cst.SimpleStatementLine, cst.BaseSmallStatement)):
            text = self.source.text
            end = span.start
            while end < span.end and (text[end].isalnum() or text[end] == "_"):
                end += 1
            return Span(span.start, max(end, span.start + 1))
        return span
