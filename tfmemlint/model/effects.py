"""The order of effects: what has certainly, perhaps or not yet happened when the program reaches a place.

The walk follows the program as it runs: module level in order, into functions of the module where they are called,
branches joined. A function that nothing in the module calls is entered after the module has run, for nobody can call
it earlier. Rules choose the effects they care about by a classifier that labels calls and statements.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.done_elsewhere import DoneElsewhere
from tfmemlint.model.functions import Frame
from tfmemlint.model.happened import Happened, State, added, join
from tfmemlint.model.values import Class, Function
from tfmemlint.syntax.reaching import always, exhaustive, is_main_guard
from tfmemlint.syntax.scopes import COMPREHENSIONS, parameters
from tfmemlint.syntax.tree import Node, children

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

MOST_STEPS = 20_000
"""Calls that one walk passes, and statements of functions that it passes again; beyond, nothing more is certain."""

MOST_NESTED = 6

EXITS = frozenset({"sys.exit", "os._exit", "builtins.exit", "builtins.quit"})

_PLAIN = frozenset((cst.Name, cst.Integer, cst.Float, cst.SimpleString, cst.AsName, cst.ImportAlias, cst.ImportStar))
_PERHAPS = frozenset((cst.IfExp, cst.BooleanOperation, *COMPREHENSIONS))
"""Expressions of which some part may not run."""

Classifier = Callable[["Call | cst.BaseSmallStatement"], "str | None"]


class Order:
    """The result of one walk: for each call and simple statement, what happened before it."""

    def __init__(self, file: File, name: str, classify: Classifier) -> None:
        self._file = file
        self._name = name
        self._classify = classify
        self._before: dict[int, State] = {}
        self._steps = 0
        self._again = 0
        """How many of the functions on the stack were passed before."""
        self._stack: list[Node] = []
        self._returns: list[list[State | None]] = []
        self._loops: list[list[State | None]] = []
        self._state: State | None = {}
        self._visited: set[int] = set()
        self._imported: State | None = None
        self._others = DoneElsewhere(file, name)
        self._elsewhere = 0
        """How many calls and imports lead from the file to the code that is walked, if that is another module's."""
        self._program()

    def before(self, node: Node, label: str) -> Happened | None:
        """The effect `label` if it happened before the node on some path; `certain` if on every path."""
        return self._before.get(id(node), {}).get(label)

    def _program(self) -> None:
        self._block(self._file.module.body, None)
        end = self._imported if self._imported is not None else self._state or {}
        for function in self._file.tree.of(cst.FunctionDef):
            if id(function) not in self._visited:
                # One inside a function is called, if at all, some time after its `def` has been passed.
                self._state = dict(self._before.get(id(function), end))
                self._enter(function, None)

    # -- states ------------------------------------------------------------------------------------------------------

    def _record(self, node: Node) -> None:
        if self._state is None or self._elsewhere:
            return
        known = self._before.get(id(node))
        self._before[id(node)] = dict(self._state) if known is None else join([known, self._state]) or {}

    def _happens(self, label: str | None, node: Node) -> None:
        if label is not None and self._state is not None:
            known = self._state.get(label)
            if known is None or not known.certain:
                self._state = {**self._state, label: Happened(label, node, True)}

    # -- expressions -------------------------------------------------------------------------------------------------

    def _expression(self, node: Node | None, frame: Frame | None) -> None:
        if node is None or self._state is None:
            return
        if node.__class__ in _PLAIN or node.__class__ is cst.Lambda:
            return
        if node.__class__ in _PERHAPS:
            before = self._state
            for child in children(node):
                self._expression(child, frame)
            if not self._whole(node):
                self._state = join([before, self._state])
            return
        for child in children(node):
            self._expression(child, frame)
        if node.__class__ is cst.Call:
            assert isinstance(node, cst.Call)
            self._call(node, frame)

    def _whole(self, node: Node) -> bool:
        """Whether this is a comprehension that certainly runs its element: a generator may never be asked for one."""
        if not isinstance(node, (cst.ListComp, cst.SetComp, cst.DictComp)):
            return False
        return not node.for_in.ifs and node.for_in.inner_for_in is None and self._file.contexts.turns(node.for_in.iter)

    def _call(self, node: cst.Call, frame: Frame | None) -> None:
        self._steps += 1
        self._record(node)
        if self._steps > MOST_STEPS or self._state is None:
            return
        call = self._file.values.call(node, frame)
        self._happens(self._classify(call), node)
        each = call.name == "builtins.map" and bool(node.args)  # done if anybody asks for what comes of the items
        targets, before = (self._file.value(node.args[0].value) if each else call.target).options, self._state
        target = targets[0] if len(targets) == 1 else None
        if isinstance(target, Function):
            self._enter(target.node, None if each else self._file.values.functions.frame(target, call))
        elif isinstance(target, Class):
            init = self._file.values.classes.method(target.node, "__init__")
            if init is not None:
                self._enter(init, None)
        self._state = join([before, self._state]) if each else self._state

    def _enter(self, function: cst.FunctionDef | cst.Lambda, frame: Frame | None) -> None:
        if self._file.is_own(function):
            self._within(function, frame)
            return
        self._does(self._others.by_function(function, lambda: self._alone(lambda: self._within(function, frame))))

    def _alone(self, run: Callable[[], None]) -> State:
        """What some code elsewhere does, whatever happened before."""
        before, loops, self._loops, self._state = self._state, self._loops, [], {}
        self._elsewhere += 1
        run()
        self._elsewhere -= 1
        done, self._state, self._loops = self._state or {}, before, loops
        return done

    def _does(self, done: State) -> None:
        self._state = added(self._state, done) if self._state is not None else None

    def _within(self, function: cst.FunctionDef | cst.Lambda, frame: Frame | None) -> None:
        again = id(function) in self._visited
        if not self._elsewhere or not self._file.is_own(function):
            self._visited.add(id(function))
        inside = len(self._stack) >= MOST_NESTED or any(above is function for above in self._stack)
        if inside or (again and self._steps > MOST_STEPS):
            return
        self._again += again
        self._stack.append(function)
        self._returns.append([])
        loops, self._loops = self._loops, []
        if isinstance(function, cst.Lambda):
            self._expression(function.body, frame)
        else:
            self._block(function.body.body, frame)
        self._loops = loops
        self._state = join([self._state, *self._returns.pop()])
        self._stack.pop()
        self._again -= again

    # -- statements --------------------------------------------------------------------------------------------------

    def _block(self, statements: Iterable[Node], frame: Frame | None) -> None:
        for statement in statements:
            if self._state is None:
                return
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    self._small(small, frame)
            elif isinstance(statement, cst.BaseSmallStatement):
                self._small(statement, frame)
            else:
                self._compound(statement, frame)

    def _small(self, node: cst.BaseSmallStatement, frame: Frame | None) -> None:
        self._steps += bool(self._again)
        for child in children(node):
            self._expression(child, frame)
        if self._state is None:
            return
        self._record(node)
        self._happens(self._classify(node), node)
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            self._import(node)
        elif isinstance(node, cst.Return):
            if self._returns:
                self._returns[-1].append(self._state)
            self._state = None
        elif isinstance(node, cst.Raise) or self._exits(node, frame):
            self._state = None
        elif isinstance(node, (cst.Break, cst.Continue)):
            if self._loops:
                self._loops[-1].append(self._state)
            self._state = None

    def _import(self, node: cst.Import | cst.ImportFrom) -> None:
        """Importing a module of the project runs it, the first time."""
        for program in self._file.values.imports.run_by(node):
            self._does(self._others.by_import(program, partial(self._module, program.module)))

    def _module(self, module: cst.Module) -> State:
        return self._alone(lambda: self._block(module.body, None))

    def _exits(self, node: cst.BaseSmallStatement, frame: Frame | None) -> bool:
        """Whether the statement ends the program."""
        if not isinstance(node, cst.Expr) or not isinstance(node.value, cst.Call):
            return False
        return self._file.values.call(node.value, frame).name in EXITS

    def _compound(self, node: Node, frame: Frame | None) -> None:
        if isinstance(node, cst.FunctionDef):
            if self._stack:
                self._record(node)
            self._defined(node, frame)
        elif isinstance(node, cst.ClassDef):
            if self._stack:
                self._record(node)
            for outer in (*node.decorators, *node.bases, *node.keywords):
                self._expression(outer, frame)
            for statement in node.body.body:
                if isinstance(statement, cst.FunctionDef):
                    self._defined(statement, frame)
                else:
                    self._block([statement], frame)
        elif isinstance(node, cst.If):
            self._if(node, frame)
        elif isinstance(node, (cst.For, cst.While)):
            self._loop(node, frame)
        elif isinstance(node, (cst.Try, cst.TryStar)):
            self._try(node, frame)
        elif isinstance(node, cst.With):
            for item in node.items:
                self._expression(item.item, frame)
            self._block(node.body.body, frame)
        elif isinstance(node, cst.Match):
            before, ends = self._state, []
            for case in node.cases:
                self._state = before
                self._block(case.body.body, frame)
                ends.append(self._state)
            self._state = join(ends if exhaustive(node) else [before, *ends])

    def _defined(self, function: cst.FunctionDef, frame: Frame | None) -> None:
        """What runs where a function is defined: its decorators, and the defaults of its parameters."""
        for decorator in function.decorators:
            self._expression(decorator.decorator, frame)
        for parameter in parameters(function):
            self._expression(parameter.default, frame)

    def _if(self, node: cst.If, frame: Frame | None) -> None:
        self._expression(node.test, frame)
        before = self._state
        if is_main_guard(node.test) and self._others.importing:
            return
        if is_main_guard(node.test) and not self._stack:
            self._imported = before  # what follows does not happen to those who import the module
        never_runs = self._file.contexts.never_runs
        self._state = None if never_runs(node.body) else before
        self._block(node.body.body, frame)
        if always(node.test):
            return
        taken, self._state = self._state, before
        if node.orelse is not None and never_runs(node.orelse):
            self._state = None
        elif isinstance(node.orelse, cst.If):
            self._if(node.orelse, frame)
        elif node.orelse is not None:
            self._block(node.orelse.body.body, frame)
        self._state = join([taken, self._state])

    def _loop(self, node: cst.For | cst.While, frame: Frame | None) -> None:
        self._expression(node.iter if isinstance(node, cst.For) else node.test, frame)
        before = self._state
        self._loops.append([])
        self._block(node.body.body, frame)
        left = self._loops.pop()
        entered = always(node.test) if isinstance(node, cst.While) else self._file.contexts.turns(node.iter)
        self._state = join([*([] if entered else [before]), self._state, *left])
        if node.orelse is not None:
            self._block(node.orelse.body.body, frame)

    def _try(self, node: cst.Try | cst.TryStar, frame: Frame | None) -> None:
        before = self._state
        self._block(node.body.body, frame)
        raised = join([before, self._state])
        if node.orelse is not None:
            self._block(node.orelse.body.body, frame)
        ends = [self._state]
        for handler in node.handlers:
            self._state = raised
            self._block(handler.body.body, frame)
            ends.append(self._state)
        self._state = join(ends)
        if node.finalbody is not None:
            dead = self._state is None
            self._state = raised if dead else self._state
            self._block(node.finalbody.body.body, frame)
            self._state = None if dead else self._state


class Effects:
    """Walks made on demand and remembered by the classifier's name."""

    def __init__(self, file: File) -> None:
        self._file = file
        self._orders: dict[str, Order] = {}

    def order(self, name: str, classify: Classifier) -> Order:
        """The order of the effects that `classify` labels; `name` stands for the classifier in the memory."""
        if name not in self._orders:
            self._orders[name] = Order(self._file, name, classify)
        return self._orders[name]
