"""Which statements of a module a flagged place needs, and the text of a program with only those.

Statements are kept or dropped whole, by physical lines, so that the program reads as the user wrote it. Definitions
that reach a kept statement are kept, so are statements that change a kept object, and those that use what the flagged
statement makes, since a cost often shows only there.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.model.values import Dataset
from tfmemlint.syntax.scopes import OUTER, Binds, Definition, written
from tfmemlint.syntax.tree import Node, children
from tfmemlint.verify.plan.statements import changed_name, is_setting

DEFINITIONS = (cst.FunctionDef, cst.ClassDef)
LOOPS = (cst.For, cst.While)
LIBRARIES = frozenset(("tensorflow", "keras", "tf_keras", "numpy", "tf", "np")) | sys.stdlib_module_names
NOT_REPEATED = ("save", "export", "write", "to_csv", "dump", "upload", "push")

Unit = cst.SimpleStatementLine | cst.BaseCompoundStatement


class Slice:
    """The kept statements of one file.

    `sliced` are the functions whose bodies may lose statements; every other function or class is kept or dropped whole.
    With `data_only` a data set that the flagged statement makes is not followed to where it is trained on.
    """

    def __init__(self, file: File, sliced: Iterable[cst.FunctionDef] = (), data_only: bool = False) -> None:
        self.file = file
        self.data_only = data_only
        self.sliced = {id(function) for function in sliced}
        self.kept: dict[int, Node] = {}
        self.targets: dict[int, Node] = {}
        self._pending: list[Node] = []
        self._runnable: dict[int, bool] = {}

    # -- statements --------------------------------------------------------------------------------------------------

    def unit(self, node: Node) -> Node | None:
        """The statement that stands or falls with this node; None for the module itself."""
        path = [node, *self.file.tree.ancestors(node)]
        start = 0
        for number, above in enumerate(path):
            if isinstance(above, DEFINITIONS) and id(above) not in self.sliced:
                start = number
        return next((above for above in path[start:] if isinstance(above, Unit)), None)

    def _around(self, unit: Node) -> Iterator[Node]:
        for above in self.file.tree.ancestors(unit):
            if isinstance(above, Unit):
                yield above

    def header(self, unit: Node) -> Iterator[Node]:
        """The nodes of a statement, without the suites of a compound one, whose statements stand for themselves."""
        whole = isinstance(unit, DEFINITIONS) and id(unit) not in self.sliced
        stack: list[Node] = [unit]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(child for child in children(node) if whole or not isinstance(child, cst.IndentedBlock))

    # -- growing the slice -------------------------------------------------------------------------------------------

    def target(self, node: Node) -> None:
        """Keep the statement around a node, and afterwards what it needs and what uses what it makes."""
        unit = self.unit(node)
        if unit is not None:
            self.targets[id(unit)] = unit
            self._keep(unit)

    def _keep(self, unit: Node) -> None:
        for each in (unit, *self._around(unit)):
            if id(each) not in self.kept:
                self.kept[id(each)] = each
                self._pending.append(each)

    def close(self) -> None:
        """Add statements until nothing is missing."""
        self._keep_settings()
        while True:
            self._keep_needed()
            before = len(self.kept)
            self._keep_uses()
            self._keep_changes()
            if not self._pending and len(self.kept) == before:
                return

    def _keep_needed(self) -> None:
        while self._pending:
            unit = self._pending.pop()
            for node in self.header(unit):
                if isinstance(node, cst.Name):
                    for definition in self.definitions(node):
                        found = self.unit(definition.node)
                        if found is not None:
                            self._keep(found)
            if isinstance(unit, LOOPS) or id(unit) in self.sliced:
                self._keep_jumps(unit)

    def definitions(self, name: cst.Name) -> list[Definition]:
        """The definitions that may give a name its value, in its own scope or around it."""
        scope = self.file.scope_of(name)
        flow = self.file.flow(scope)
        # A name that its own scope binds and that reads nothing is one that is written.
        found = list(flow.uses.get(id(name), () if name.value in flow.bindings else (OUTER,)))
        if OUTER in found and self._is_load(name):
            for outer in self.file.scopes_around(scope):
                there = self.file.flow(outer).bindings.get(name.value)
                if there:
                    found.extend(there)
                    break
        return written(found)

    def _is_load(self, name: cst.Name) -> bool:
        parent = self.file.tree.parent(name)
        if isinstance(parent, cst.Attribute):
            return parent.value is name
        return not (isinstance(parent, cst.Arg) and parent.keyword is name)

    def _keep_jumps(self, unit: Node) -> None:
        """`break`, `continue`, `return` and the like decide what else runs, and stay with what they leave."""
        leaving = (cst.Return,) if isinstance(unit, DEFINITIONS) else (cst.Break, cst.Continue, cst.Return)
        stack = children(unit)
        while stack:
            node = stack.pop()
            if isinstance(node, DEFINITIONS):
                continue
            if isinstance(node, (*leaving, cst.Global, cst.Nonlocal)):
                found = self.unit(node)
                if found is not None:
                    self._keep(found)
            stack.extend(children(node))

    def _keep_uses(self) -> None:
        """Statements that use what a flagged statement makes, and what those make in turn."""
        done: set[int] = set()
        pending = list(self.targets.values())
        while pending:
            unit = pending.pop()
            if id(unit) in done:
                continue
            done.add(id(unit))
            for definition in self.made_by(unit):
                for use in self.file.uses_of(definition):
                    user = self.unit(use)
                    if user is None or id(user) in self.targets or not self._runs_here(user):
                        continue
                    if self.data_only and self.is_data(definition) and not self._hands_on(user):
                        continue
                    self.targets[id(user)] = user
                    self._keep(user)
                    pending.append(user)

    def made_by(self, unit: Node) -> list[Definition]:
        """The definitions of a statement, functions, classes and imports left out."""
        scope = self.file.scope_of(unit)
        return [
            definition
            for bindings in self.file.flow(scope).bindings.values()
            for definition in bindings
            if definition.binds not in (Binds.IMPORT, Binds.FUNCTION, Binds.CLASS, Binds.PARAMETER)
            and self.unit(definition.node) is unit
        ]

    def is_data(self, definition: Definition) -> bool:
        """Whether a definition is a data set."""
        value = self.file.values.definition(definition, None)
        return any(isinstance(option, Dataset) for option in value.options)

    def _hands_on(self, user: Node) -> bool:
        """Whether a statement returns the data set or makes another one of it."""
        if isinstance(user, cst.SimpleStatementLine) and isinstance(user.body[0], cst.Return):
            return True
        return any(self.is_data(made) for made in self.made_by(user))

    def name(self, word: str) -> None:
        """Keep what binds a name at module level, as a repair that uses it needs."""
        for definition in self.file.flow(self.file.module).bindings.get(word, ()):
            unit = self.unit(definition.node)
            if unit is not None:
                self._keep(unit)

    def _runs_here(self, unit: Node) -> bool:
        """Whether a statement, with all that it needs, uses only libraries that are there and writes no result."""
        known = self._runnable.get(id(unit))
        if known is None:
            self._runnable[id(unit)] = True  # while it is looked at: a loop of needs adds nothing
            known = self._runnable[id(unit)] = self._looks_runnable(unit)
        return known

    def _looks_runnable(self, unit: Node) -> bool:
        for node in self.header(unit):
            if isinstance(node, cst.Call):
                called = node.func.attr.value if isinstance(node.func, cst.Attribute) else ""
                if called.startswith(NOT_REPEATED):
                    return False
            if isinstance(node, cst.Name):
                for definition in self.definitions(node):
                    if definition.binds is Binds.IMPORT:
                        if definition.api.partition(".")[0] not in LIBRARIES:
                            return False
                        continue
                    found = self.unit(definition.node)
                    if found is not None and found is not unit and not self._runs_here(found):
                        return False
        return True

    def target_rest(self, flagged: Node) -> None:
        """Keep what the module does after a setting, as far as it runs here: a setting shows in nothing else."""
        start = self.file.span(flagged).start
        for statement in self.file.module.body:
            if isinstance(statement, DEFINITIONS) or self.file.span(statement).start <= start:
                continue
            for unit in self._parts(statement):
                if self._runs_here(unit):
                    self.target(unit)

    def _parts(self, statement: Node) -> Iterator[Node]:
        """A statement and those of its suites."""
        stack = [statement]
        while stack:
            node = stack.pop()
            if isinstance(node, Unit) and self.unit(node) is node:
                yield node
            stack.extend(children(node))

    def _candidates(self) -> Iterator[cst.SimpleStatementLine]:
        for statement in self.file.tree.of(cst.SimpleStatementLine):
            if id(statement) not in self.kept and self.unit(statement) is statement:
                yield statement

    def _last(self) -> int:
        return max((self.file.span(unit).start for unit in self.targets.values()), default=0)

    def _keep_changes(self) -> None:
        """Statements before the last use that change a kept object: `model.compile(...)`, `x[0] = 1`, `d.y = 2`."""
        last = self._last()
        for statement in self._candidates():
            root = changed_name(statement)
            if root is None or self.file.span(statement).start > last or not self._runs_here(statement):
                continue
            found = self.definitions(root)
            units = [self.unit(definition.node) for definition in found if definition.binds is not Binds.IMPORT]
            if any(unit is not None and id(unit) in self.kept for unit in units):
                self._keep(statement)

    def _keep_settings(self) -> None:
        """Calls before the flagged place that set something for all of TensorFlow or Keras, devices left out."""
        last = self._last()
        for statement in self._candidates():
            if self.file.span(statement).start > last or not is_setting(self.file, statement):
                continue
            if (
                isinstance(self.file.scope_of(statement), cst.Module)
                or id(self.file.scope_of(statement)) in self.sliced
            ):
                self._keep(statement)
