"""The places that read one name, sorted by the scope in which they stand and by the scope that binds the name for them.

Made once for each name that something asks for: functions that share the names of their variables would else look at
each other's, every one at all of them.
"""

from __future__ import annotations

import bisect
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

import libcst as cst

from tfmemlint.syntax.names import Scopes, home_of, is_variable
from tfmemlint.syntax.scopes import Definition, Definitions, Further, Reaching, ScopeNode
from tfmemlint.syntax.tree import Node

CHANGES = frozenset({"update", "setdefault", "pop", "popitem", "clear"})
"""Methods that set or drop entries of a dictionary."""


class Places:
    """Where one file reads one name, of all the `loads` of that name; all lists are in source order."""

    def __init__(self, loads: list[cst.Name], scopes: Scopes) -> None:
        self._scopes = scopes
        self._loads = loads
        self._readers: dict[int, dict[int, list[cst.Name]]] = {}

    def within(self, scope: ScopeNode) -> list[cst.Name]:
        """Where the name is read in a scope itself, scopes inside of it left out."""
        return self._by_scope.get(id(scope), [])

    def below(self, node: Node) -> list[cst.Name]:
        """Where the name is read in a node or below it."""
        tree = self._scopes.tree
        first = bisect.bisect_left(self._loads, tree.order(node), key=tree.order)
        return self._loads[first : bisect.bisect_right(self._loads, tree.last(node), key=tree.order)]

    @cached_property
    def changes_entries(self) -> bool:
        """Whether somewhere entries of a dictionary of this name are set or dropped."""
        parent = self._scopes.tree.parent
        for use in self._loads:
            above = parent(use)
            if isinstance(above, cst.Attribute) and above.value is use and above.attr.value in CHANGES:
                return True
            if isinstance(above, cst.Subscript) and isinstance(parent(above), (cst.AssignTarget, cst.Del)):
                return True
        return False

    def bound_in(self, home: ScopeNode) -> list[cst.Name]:
        """Where a variable is read that this scope binds, in the scope itself and in those inside of it."""
        return self._by_home.get(id(home), [])

    def captured(self, home: ScopeNode) -> list[cst.Name]:
        """Where scopes inside of this one read a variable that it binds."""
        return self._captured.get(id(home), [])

    def reading(self, definition: Definition) -> list[cst.Name]:
        """Where the definition's own scope may read it."""
        scope = definition.scope
        readers = self._readers.get(id(scope))
        if readers is None:
            readers = self._readers[id(scope)] = self._by_definition(scope)
        return readers.get(id(definition), [])

    def _by_definition(self, scope: ScopeNode) -> dict[int, list[cst.Name]]:
        found: dict[int, list[cst.Name]] = defaultdict(list)
        flow = self._scopes.flow(scope)
        for use in self.within(scope):
            for definition in _told_apart(flow.uses.get(id(use), ()), flow.bindings.get(use.value, [])):
                found[id(definition)].append(use)
        return found

    @cached_property
    def _by_scope(self) -> dict[int, list[cst.Name]]:
        found: dict[int, list[cst.Name]] = defaultdict(list)
        for use in self._loads:
            found[id(self._scopes.scope_of(use))].append(use)
        return found

    @cached_property
    def _by_home(self) -> dict[int, list[cst.Name]]:
        found: dict[int, list[cst.Name]] = defaultdict(list)
        for use in self._loads:
            if is_variable(self._scopes, use):
                found[id(home_of(self._scopes, use))].append(use)
        return found

    @cached_property
    def _captured(self) -> dict[int, list[cst.Name]]:
        found: dict[int, list[cst.Name]] = defaultdict(list)
        for home, uses in self._by_home.items():
            found[home] = [use for use in uses if id(self._scopes.scope_of(use)) != home]
        return found


def _told_apart(reaching: Definitions, all_of_name: list[Definition]) -> Iterable[Reaching]:
    """The definitions that reach a place: any of the scope where more reach it than are told apart."""
    return all_of_name if any(isinstance(definition, Further) for definition in reaching) else reaching
