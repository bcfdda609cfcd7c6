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

from tfmemlint.model.control_flow import passed
from tfmemlint.model.done_elsewhere import DoneElsewhere
from tfmemlint.model.functions import Frame
from tfmemlint.model.happened import Happened, State, added, join
from tfmemlint.model.values import Class, Function
from tfmemlint.syntax.scopes import COMPREHENSIONS
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
        self.file = file
        self._classify = classify
        self._before: dict[int, State] = {}
        self._steps = 0
        self._again = 0
        """How many of the functions on the stack were passed before."""
        self.stack: list[Node] = []
        """The functions that the walk is in, outermost first."""
        self._returns: list[list[State | None]] = []
        self.loops: list[list[State | None]] = []
        """For each loop around, the states in which `break` and `continue` leave its body."""
        self.state: State | None = {}
        """What has happened where the walk stands; None where no path leads."""
        self._visited: set[int] = set()
        self.guarded = False
        """Whether what is looked at stands below a main guard."""
        self.imported: State | None = None
        """What has happened once the module is imported, if a main guard tells that from running it."""
        self.others = DoneElsewhere(file, name)
        self._elsewhere = 0
        """How many calls and imports lead from the file to the code that is walked, if that is another module's."""
        self._program()

    def before(self, node: Node, label: str) -> Happened | None:
        """The effect `label` if it happened before the node on some path; `certain` if on every path."""
        return self._before.get(id(node), {}).get(label)

    def _program(self) -> None:
        self.block(self.file.module.body, None)
        end = self.imported if self.imported is not None else self.state or {}
        for function in self.file.tree.of(cst.FunctionDef):
            if id(function) not in self._visited:
                # One inside a function is called, if at all, some time after its `def` has been passed.
                self.state = dict(self._before.get(id(function), end))
                self._enter(function, None)

    # -- states ------------------------------------------------------------------------------------------------------

    def record(self, node: Node) -> None:
        """Note what has happened before a place of the file, on this path as on those that led there before."""
        if self.state is None or self._elsewhere:
            return
        known = self._before.get(id(node))
        self._before[id(node)] = dict(self.state) if known is None else join([known, self.state]) or {}

    def _happens(self, label: str | None, node: Node) -> None:
        if label is not None and self.state is not None:
            known = self.state.get(label)
            if known is None or not known.certain:
                self.state = {**self.state, label: Happened(label, node, True)}

    # -- expressions -------------------------------------------------------------------------------------------------

    def expression(self, node: Node | None, frame: Frame | None) -> None:
        """Go through an expression, innermost calls first."""
        if node is None or self.state is None:
            return
        if node.__class__ in _PLAIN or node.__class__ is cst.Lambda:
            return
        if node.__class__ in _PERHAPS:
            before = self.state
            for child in children(node):
                self.expression(child, frame)
            if not self._whole(node):
                self.state = join([before, self.state])
            return
        for child in children(node):
            self.expression(child, frame)
        if node.__class__ is cst.Call:
            assert isinstance(node, cst.Call)
            self._call(node, frame)

    def _whole(self, node: Node) -> bool:
        """Whether this is a comprehension that certainly runs its element: a generator may never be asked for one."""
        if not isinstance(node, (cst.ListComp, cst.SetComp, cst.DictComp)):
            return False
        return not node.for_in.ifs and node.for_in.inner_for_in is None and self.file.contexts.turns(node.for_in.iter)

    def _call(self, node: cst.Call, frame: Frame | None) -> None:
        self._steps += 1
        self.record(node)
        if self._steps > MOST_STEPS or self.state is None:
            return
        call = self.file.values.call(node, frame)
        self._happens(self._classify(call), node)
        each = call.name == "builtins.map" and bool(node.args)  # done if anybody asks for what comes of the items
        targets, before = (self.file.value(node.args[0].value) if each else call.target).options, self.state
        target = targets[0] if len(targets) == 1 else None
        if isinstance(target, Function):
            self._enter(target.node, None if each else self.file.values.functions.frame(target, call))
        elif isinstance(target, Class):
            init = self.file.values.classes.method(target.node, "__init__")
            if init is not None:
                self._enter(init, None)
        self.state = join([before, self.state]) if each else self.state

    def _enter(self, function: cst.FunctionDef | cst.Lambda, frame: Frame | None) -> None:
        if self.file.is_own(function):
            self._within(function, frame)
            return
        self._does(self.others.by_function(function, lambda: self._alone(lambda: self._within(function, frame))))

    def _alone(self, run: Callable[[], None]) -> State:
        """What some code elsewhere does, whatever happened before."""
        before, loops, self.loops, self.state = self.state, self.loops, [], {}
        self._elsewhere += 1
        run()
        self._elsewhere -= 1
        done, self.state, self.loops = self.state or {}, before, loops
        return done

    def _does(self, done: State) -> None:
        self.state = added(self.state, done) if self.state is not None else None

    def _within(self, function: cst.FunctionDef | cst.Lambda, frame: Frame | None) -> None:
        again = id(function) in self._visited
        if not self._elsewhere or not self.file.is_own(function):
            self._visited.add(id(function))
        inside = len(self.stack) >= MOST_NESTED or any(above is function for above in self.stack)
        if inside or (again and self._steps > MOST_STEPS):
            return
        self._again += again
        self.stack.append(function)
        self._returns.append([])
        loops, self.loops = self.loops, []
        if isinstance(function, cst.Lambda):
            self.expression(function.body, frame)
        else:
            self.block(function.body.body, frame)
        self.loops = loops
        self.state = join([self.state, *self._returns.pop()])
        self.stack.pop()
        self._again -= again

    # -- statements --------------------------------------------------------------------------------------------------

    def block(self, statements: Iterable[Node], frame: Frame | None) -> None:
        """Go through statements in order, as far as they are reached."""
        for statement in statements:
            if self.state is None:
                return
            if isinstance(statement, cst.SimpleStatementLine):
                for small in statement.body:
                    self._small(small, frame)
            elif isinstance(statement, cst.BaseSmallStatement):
                self._small(statement, frame)
            else:
                passed(self, statement, frame)

    def _small(self, node: cst.BaseSmallStatement, frame: Frame | None) -> None:
        self._steps += bool(self._again)
        for child in children(node):
            self.expression(child, frame)
        if self.state is None:
            return
        self.record(node)
        self._happens(self._classify(node), node)
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            self._import(node)
        elif isinstance(node, cst.Return):
            if self._returns:
                self._returns[-1].append(self.state)
            self.state = None
        elif isinstance(node, cst.Raise) or self._exits(node, frame):
            self.state = None
        elif isinstance(node, (cst.Break, cst.Continue)):
            if self.loops:
                self.loops[-1].append(self.state)
            self.state = None

    def _import(self, node: cst.Import | cst.ImportFrom) -> None:
        """Importing a module of the project runs it, the first time."""
        for program in self.file.values.imports.run_by(node):
            self._does(self.others.by_import(program, partial(self._module, program.module)))

    def _module(self, module: cst.Module) -> State:
        return self._alone(lambda: self.block(module.body, None))

    def _exits(self, node: cst.BaseSmallStatement, frame: Frame | None) -> bool:
        """Whether the statement ends the program."""
        if not isinstance(node, cst.Expr) or not isinstance(node.value, cst.Call):
            return False
        return self.file.values.call(node.value, frame).name in EXITS


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
