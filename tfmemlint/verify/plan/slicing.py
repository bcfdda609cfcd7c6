"""Which statements of one module a flagged place needs.

Statements are kept or dropped whole, by physical lines, so that the program reads as the user wrote it. Definitions
that reach a kept statement are kept, so are statements that change a kept object, and those that use what the flagged
statement makes, since a cost often shows only there.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.project.siblings import Sibling
from tfmemlint.syntax.reaching import is_main_guard
from tfmemlint.syntax.scopes import OUTER, Binds, Definition, dotted, written
from tfmemlint.syntax.tree import Node, children
from tfmemlint.verify.plan import bound_elsewhere
from tfmemlint.verify.plan.runnable import Changes, Runnable
from tfmemlint.verify.plan.statements import asked_of, changed_name, defines_flag, is_load, is_setting, maker_of_part
from tfmemlint.verify.plan.uses import keep_uses

if TYPE_CHECKING:
    from tfmemlint.verify.plan.across import Slices

DEFINITIONS = (cst.FunctionDef, cst.ClassDef)
LOOPS = (cst.For, cst.While)

Unit = cst.SimpleStatementLine | cst.BaseCompoundStatement
Home = File | Sibling
"""A module as it was read: the file itself, or another one of its project."""


class Slice:
    """The kept statements of one module, `home`, and the imported names that they need.

    `sliced` are the functions whose bodies may lose statements; every other function or class is kept or dropped whole.
    """

    def __init__(self, slices: Slices, home: Home, sliced: Iterable[cst.FunctionDef] = ()) -> None:
        self.slices, self.file, self.home = slices, slices.file, home
        self.sliced = {id(function) for function in sliced}
        self.kept: dict[int, Node] = {}
        self.targets: dict[int, Node] = {}
        self.needed: set[int] = set()
        """The `ImportAlias` nodes, by id, whose names are needed."""
        self._pending: list[Node] = []
        self.runnable = Runnable(self)

    @property
    def runs(self) -> bool:
        """Whether this is the module that the program runs, and not one that it imports."""
        return self.home is self.slices.entry

    # -- statements --------------------------------------------------------------------------------------------------

    def unit(self, node: Node) -> Node | None:
        """The statement that stands or falls with this node; None for the module itself."""
        path = [node, *self.file.tree.ancestors(node)]
        start = 0
        for number, above in enumerate(path):
            if isinstance(above, DEFINITIONS) and id(above) not in self.sliced:
                start = number
        return next((above for above in path[start:] if isinstance(above, Unit)), None)

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
            self.keep(unit)

    def keep(self, unit: Node) -> None:
        """Keep a statement and the headers of those around it."""
        for each in (unit, *self.file.tree.ancestors(unit)):
            if isinstance(each, Unit) and id(each) not in self.kept:
                self.kept[id(each)] = each
                self._pending.append(each)

    def keep_around(self, node: Node) -> None:
        """Keep the statement around a node."""
        unit = self.unit(node)
        if unit is not None:
            self.keep(unit)

    def close(self) -> None:
        """Add statements until nothing is missing."""
        self._keep_settings()
        while True:
            self._keep_needed()
            before = len(self.kept)
            if not self.slices.settings_only and self.slices.follows:
                keep_uses(self)
            self._keep_changes()
            if not self._pending and len(self.kept) == before:
                return

    def _keep_needed(self) -> None:
        while self._pending:
            unit = self._pending.pop()
            if id(unit) in self.slices.made:
                continue
            for node in self.header(unit):
                if isinstance(node, cst.Name):
                    found = self.definitions(node)
                    for definition in found:
                        self.need(definition, asked_of(self.file, node))
                    if not found:
                        bound_elsewhere.keep(self, node)
            if isinstance(unit, LOOPS) or id(unit) in self.sliced:
                self._keep_jumps(unit)

    def need(self, definition: Definition, names: tuple[str, ...] = (), whole: bool = True) -> None:
        """Keep what binds a name, and for an import what these names mean that are asked of what it binds."""
        self.keep_around(definition.node)
        if definition.binds is Binds.IMPORT:
            self.needed.add(id(definition.node))
            self.slices.demand(definition, names, whole)
            self._need_below(definition, names)

    def _need_below(self, definition: Definition, names: tuple[str, ...]) -> None:
        """Keep `import a.b` beside `import a.c` where `a.b.x` is asked for: both bind the same name."""
        home = self.file.flow(definition.scope)
        for other in written(home.bindings.get(definition.name, ())):
            alias = other.node
            path = dotted(alias.name) if isinstance(alias, cst.ImportAlias) and alias.asname is None else None
            if path is None or "." not in path or isinstance(self.file.tree.parent(alias), cst.ImportFrom):
                continue
            below = tuple(path.split(".")[1:])
            if other is definition or names[: len(below)] == below:
                self.slices.demand(other, below, whole=False)
                self.needed.add(id(alias))
                self.keep_around(alias)

    def name(self, word: str, names: tuple[str, ...] = ()) -> bool:
        """Keep what binds a name at module level, star imports left out; whether anything does. `names` are asked of
        what it stands for."""
        bindings = self.file.flow(self.home.module).bindings
        found = [*bindings.get(word, ()), *self.home.inner_writes(word, self.home.module)]
        bound = [each for each in written(found) if self.runs or not self._is_guarded(each.node)]
        for each in bound:
            self.need(each, names)
        return bool(bound)

    def keep_all(self) -> None:
        """Keep all of a module that can run here, as nobody knows what is asked of it."""
        for statement in self.home.module.body:
            for unit in [] if self._is_guarded(statement) else self._parts(statement):
                if self.runnable.runs(unit):
                    self.keep(unit)
        for found in self.file.flow(self.home.module).bindings.values():
            for definition in written(found):
                if self.holds(definition.node):
                    self.need(definition)

    def keep_import(self, statement: cst.Import | cst.ImportFrom) -> None:
        """Keep an import for what it runs: with the first of its names, if none is needed."""
        self.keep_around(statement)
        bound = self.home.bound_within(statement)
        if not any(id(each.node) in self.needed for each in bound):
            for definition in bound[:1]:
                self.need(definition, whole=False)

    def holds(self, node: Node) -> bool:
        """Whether the statement of a node is kept."""
        unit = self.unit(node)
        return unit is not None and id(unit) in self.kept

    def _is_guarded(self, node: Node) -> bool:
        """Whether code runs only in the program itself, and in no module that is imported."""
        around = (node, *self.file.tree.ancestors(node))
        return any(isinstance(above, cst.If) and is_main_guard(above.test) for above in around)

    def definitions(self, name: cst.Name) -> list[Definition]:
        """The definitions that may give a name its value, in its own scope or around it."""
        scope = self.file.scope_of(name)
        flow = self.file.flow(scope)
        # A name that its own scope binds and that reads nothing is one that is written.
        found = list(flow.uses.get(id(name), () if name.value in flow.bindings else (OUTER,)))
        if OUTER in found and is_load(self.file, name):
            for outer in self.file.scopes_around(scope):
                there = self.file.flow(outer).bindings.get(name.value)
                if there:
                    found.extend(there)
                    break
        return written(found)

    def _keep_jumps(self, unit: Node) -> None:
        """`break`, `continue`, `return` and the like decide what else runs, and stay with what they leave."""
        leaving = (cst.Return,) if isinstance(unit, DEFINITIONS) else (cst.Break, cst.Continue, cst.Return)
        stack = children(unit)
        while stack:
            node = stack.pop()
            if isinstance(node, DEFINITIONS):
                continue
            if isinstance(node, (*leaving, cst.Global, cst.Nonlocal)):
                self.keep_around(node)
            stack.extend(children(node))

    def target_rest(self, flagged: Node) -> None:
        """Keep what the module does after a setting, as far as it runs here: a setting shows in nothing else."""
        start = self.file.span(flagged).start
        for statement in self.home.module.body:
            if isinstance(statement, DEFINITIONS) or self.file.span(statement).start <= start:
                continue
            for unit in self._parts(statement):
                if self.runnable.runs(unit):
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
        statements = self.home.tree.of(cst.SimpleStatementLine)
        yield from (each for each in statements if id(each) not in self.kept and self.unit(each) is each)

    def _last(self) -> float:
        """Where the last target stands; no end for a module all of which runs before that, as one that is imported, and
        for all that makes a model."""
        if not self.runs or self.slices.models_only or self.slices.to_the_end:
            return math.inf
        return max((self.file.span(unit).start for unit in self.targets.values()), default=0)

    def _keep_changes(self) -> None:
        """Statements before the last use that change a kept object: `model.compile(...)`, `x[0] = 1`, `d.y = 2`."""
        last, changes = self._last(), Changes(self)
        for statement in self._candidates():
            root, flag = changed_name(statement), defines_flag(self.file, statement)
            if root is None or self.file.span(statement).start > last:
                continue
            if not changes.run(statement, found := self.definitions(root)):
                continue
            names = asked_of(self.file, root)
            changed = names[:-1] if isinstance(statement.body[0], cst.Expr) else names  # without the method's name
            if any(self._is_kept(each, changed, flag) for each in found):
                self.keep(statement)

    def _is_kept(self, definition: Definition, names: tuple[str, ...], flag: bool) -> bool:
        """Whether what a name stands for is kept; for an import, what these names mean, or what makes a `flag`."""
        if definition.binds is Binds.IMPORT:
            led = self.slices.leads(definition, names) or ()
            if flag and (id(definition.node) in self.needed or self._asks_flags()):
                return True
            return any(id(unit) in other.kept for other, unit in led)
        whole = maker_of_part(self.file, definition)
        return any(self.holds(each.node) for each in (definition, *(self.definitions(whole) if whole else ())))

    def _asks_flags(self) -> bool:
        """Whether the flags of absl are needed by a name of their own: `from absl.flags import FLAGS`."""
        bound = (each for found in self.file.flow(self.home.module).bindings.values() for each in written(found))
        return any(each.api.endswith(".flags.FLAGS") and id(each.node) in self.needed for each in bound)

    def _keep_settings(self) -> None:
        """Calls before the flagged place that set something for all of TensorFlow or Keras, devices left out."""
        last = self._last()
        for statement in self._candidates():
            if self.file.span(statement).start > last or not is_setting(self.file, statement):
                continue
            scope = self.file.scope_of(statement)
            if isinstance(scope, cst.Module) or id(scope) in self.sliced:
                self.keep(statement)
