"""Where the module's functions are used: who calls them, and what is given them as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import libcst as cst

from tfmemlint.model.binding import takes
from tfmemlint.model.values import Class, Function
from tfmemlint.syntax.names import home_of, is_variable
from tfmemlint.syntax.program import Program
from tfmemlint.syntax.scopes import ScopeNode, parameters

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator

MAPPERS = frozenset(f"tf.data.Dataset.{name}" for name in ("map", "filter", "flat_map", "interleave", "take_while"))
"""Methods that call the function they are given with the parts of each element."""

MOST_ELSEWHERE = 6
"""Calls in other modules that are looked at; of a function with more nothing is told by what they pass."""

CALLED_BY_KERAS = frozenset(
    ("__call__", "build", "call", "compute_output_shape", "from_config", "get_config", "predict_step", "test_step",
     "train_step")
)  # fmt: skip
"""Methods of layers and models that libraries call: what some module passes them tells little."""

_NOT_USED = frozenset((cst.Annotation, cst.ClassDef))
"""What holds a class's name and makes no object of it."""


class _Users:
    """What the uses of one name in a module stand for, found once for all functions of that name."""

    def __init__(self, name: str, evaluator: Evaluator, program: Program) -> None:
        self._evaluator = evaluator
        self._running: dict[int, list[tuple[int, ScopeNode | None, cst.BaseExpression]]] = {}
        self._own: list[tuple[int, ScopeNode | None, cst.BaseExpression]] = []
        file = evaluator.file
        for place, use in enumerate(program.loads(name)):
            parent = file.tree.parent(use)
            if parent is None or parent.__class__ in _NOT_USED or file.tree.parent(parent).__class__ in _NOT_USED:
                continue
            home = home_of(file, use) if is_variable(file, use) else None
            func: cst.BaseExpression = parent if isinstance(parent, cst.Attribute) and parent.attr is use else use
            if isinstance(home, cst.FunctionDef) and home.name.value == name:
                self._own.append((place, home, func))
                continue
            of_class = isinstance(parent, cst.Attribute) and parent.value is use
            for function in self._run_by(func, called=not of_class):
                self._running.setdefault(id(function), []).append((place, home, func))

    def of(self, function: cst.FunctionDef | cst.Lambda) -> list[cst.BaseExpression]:
        """The uses that stand for the function; no local variable of its own that has its name, on whose value this
        very answer may depend."""
        found = [use for use in self._running.get(id(function), ()) if use[1] is not function]
        found += [use for use in self._own if use[1] is not function and function in self._run_by(use[2])]
        return [func for _, _, func in sorted(found, key=lambda use: use[0])]

    def _run_by(self, func: cst.BaseExpression, *, called: bool = True) -> list[ScopeNode]:
        """The functions that calling an expression may run, each once; reading an attribute of a class, as `C.make`,
        makes no object (`called=False`)."""
        found: list[ScopeNode] = []
        for value in self._evaluator.value(func).options:
            node: cst.FunctionDef | cst.Lambda | None = None
            if isinstance(value, Class) and called:
                node = self._evaluator.classes.method(value.node, "__init__")
            elif isinstance(value, Function):
                node = value.node
            if node is not None and node not in found:
                found.append(node)
        return found


class CallGraph:
    """Who calls the module's own functions, and who is given them."""

    def __init__(self, evaluator: Evaluator) -> None:
        self._evaluator = evaluator

    def callers(self, function: ScopeNode) -> tuple[Call, ...] | None:
        """All calls of a function in its module and in this file; None when it may also be called in ways that cannot
        be seen."""
        return self._evaluator.general(("callers", id(function)), self._find_callers, function, start=None)

    def callers_elsewhere(self, function: ScopeNode) -> tuple[Call, ...] | None:
        """Calls of a function of this file in other modules of its project, unit tests left out, which pass what suits
        them; there may be more that nobody sees. None where more than `MOST_ELSEWHERE` are seen."""
        key, none_yet = ("callers elsewhere", id(function)), cast("tuple[Call, ...] | None", ())
        return self._evaluator.general(key, self._find_elsewhere, function, start=none_yet)

    def _find_elsewhere(self, function: ScopeNode) -> tuple[Call, ...] | None:
        file = self._evaluator.file
        siblings = file.siblings
        if siblings is None or not isinstance(function, cst.FunctionDef) or not file.is_own(function):
            return ()
        if function.name.value in CALLED_BY_KERAS and file.class_of(function) is not None:
            return ()
        names = self._names(function)
        found: list[Call] = []
        for path in siblings.callers(names):
            program = file.link(path)
            if program is None or program is file:
                continue
            nodes = {id(node): node for name in names for node in program.calls_by_word.get(name, ())}
            calls = map(self._evaluator.call, nodes.values())
            found += [call for call in calls if self._runs(call, function)]
            if len(found) > MOST_ELSEWHERE:
                return None
        return tuple(found)

    def _runs(self, call: Call, function: cst.FunctionDef) -> bool:
        for target in call.target.options:
            if isinstance(target, Function) and target.node is function:
                return True
            if isinstance(target, Class) and self._evaluator.classes.method(target.node, "__init__") is function:
                return True
        return False

    def once(self, function: ScopeNode, depth: int = 4) -> bool:
        """Whether a function runs once in a program, or once for each object: called from one place, in no loop."""
        callers = self.callers(function)
        if not depth or callers is None or len(callers) != 1:
            return False
        place, contexts = callers[0].node, self._evaluator.file.contexts
        if contexts.loop(place) is not None or contexts.comprehension(place) is not None:
            return False
        outer = contexts.function(place)
        if outer is None or not isinstance(outer, cst.FunctionDef):
            return outer is None
        return outer.name.value == "__init__" or self.once(outer, depth - 1)

    def _find_callers(self, function: ScopeNode) -> tuple[Call, ...] | None:
        if not isinstance(function, (cst.FunctionDef, cst.Lambda)):
            return None
        found = []
        for use in self.uses(function):
            call = self._evaluator.file.tree.parent(use)
            if not isinstance(call, cst.Call) or call.func is not use:
                return None
            found.append(self._evaluator.call(call))
        return tuple(each for each in found if self._takes(each, function))

    def _takes(self, call: Call, function: cst.FunctionDef | cst.Lambda) -> bool:
        """Whether the function takes what a call passes that names it: another one fails, and runs nothing."""
        options = self._evaluator.value(call.node.func).options
        named = [each for each in options if isinstance(each, Function) and each.node is function]
        return not named or any(takes(call, each) for each in named)

    def uses(self, function: cst.FunctionDef | cst.Lambda) -> list[cst.CSTNode]:
        """The expressions that give the function away or call it: its name, `self.f`, a lambda itself.

        An assignment to another name is no use; what reads that name is. For `__init__` it is the class that is used.
        """
        names = self._names(function)
        found: list[cst.CSTNode] = [] if names else [function]
        for name in names:  # grows where the function gets another name
            for func in self._running(name, function):
                outer = self.given_to(func)
                if outer is not None and outer.name == "functools.partial":
                    func = outer.node
                others = self._assigned(func) or self._as_parameter(func, function)
                names += [other for other in others if other not in names]
                if not others:
                    found.append(func)
        return found

    def _running(self, name: str, function: cst.FunctionDef | cst.Lambda) -> list[cst.BaseExpression]:
        """The expressions of this name, or attributes of it, that stand for the function, in source order; of one of
        another module those of this file, too, behind its own."""
        file = self._evaluator.file
        home = file.home(function)
        found = self._in(home, name, function)
        if home is not file:
            imported = (name, *sorted(file.renamed.get(name, ())))
            found += [use for word in imported for use in self._in(file, word, function)]
        return found

    def _in(self, program: Program, name: str, function: cst.FunctionDef | cst.Lambda) -> list[cst.BaseExpression]:
        if not program.loads(name):
            return []
        users = self._evaluator.general(
            ("users", name, id(program)), lambda _: _Users(name, self._evaluator, program), function, start=None
        )
        return users.of(function) if users is not None else []

    def _names(self, function: cst.FunctionDef | cst.Lambda) -> list[str]:
        """The names by which a function is used: for `__init__` also those of the classes that it makes objects of."""
        if isinstance(function, cst.Lambda):
            return self._assigned(function)
        name = function.name.value
        if self._evaluator.file.class_of(function) is None or name not in ("__init__", "__call__"):
            return [name]
        return [name, *self._evaluator.classes.made_by(function)] if name == "__init__" else [name]

    def _assigned(self, value: cst.CSTNode) -> list[str]:
        """The plain names that a statement gives to a value; empty where it goes anywhere else."""
        parent = self._evaluator.file.tree.parent(value)
        if not isinstance(parent, cst.Assign) or parent.value is not value:
            return []
        targets = [target.target for target in parent.targets]
        return [t.value for t in targets if isinstance(t, cst.Name)] if all(
            isinstance(t, cst.Name) for t in targets) else []  # fmt: skip

    def _as_parameter(self, given: cst.CSTNode, function: cst.FunctionDef | cst.Lambda) -> list[str]:
        """The parameter that a function is given as, or is the default of, where all that is done with it is to call
        it, and each call is seen to run the function."""
        evaluator, tree = self._evaluator, self._evaluator.file.tree
        taken = self._taken_by(given)
        if len(taken) != 1:
            return []
        taker, name = taken[0]
        uses = evaluator.file.home(taker).places(name).within(taker)
        above = [(use, tree.parent(use)) for use in uses]
        called = [call.func for use, call in above if isinstance(call, cst.Call) and call.func is use]
        options = (evaluator.value(func).options for func in called)
        runs = [any(isinstance(each, Function) and each.node is function for each in values) for values in options]
        return [name] if runs and all(runs) and len(runs) == len(uses) else []

    def _taken_by(self, given: cst.CSTNode) -> list[tuple[cst.FunctionDef, str]]:
        """The functions of the project that take an expression as a parameter: as its default, or from a call."""
        tree = self._evaluator.file.tree
        parent = tree.parent(given)
        if isinstance(parent, cst.Param) and parent.default is given:
            taker = tree.parent(tree.parent(parent) or parent)
            return [(taker, parent.name.value)] if isinstance(taker, cst.FunctionDef) else []
        call = self.given_to(given)
        if call is None or not isinstance(parent, cst.Arg):
            return []
        nodes = [target.node for target in call.target.options if isinstance(target, Function)]
        takers = [node for node in nodes if isinstance(node, cst.FunctionDef)]
        names = ((taker, each.name.value) for taker in takers for each in parameters(taker))
        return [(taker, name) for taker, name in names if call.receives(name, parent)]

    def mappers(self, function: ScopeNode) -> list[Call]:
        """The calls of `Dataset.map` and its like that are given this function."""
        if not isinstance(function, (cst.FunctionDef, cst.Lambda)):
            return []
        found = []
        for use in self.uses(function):
            call = self.given_to(use)
            if call is not None and call.name in MAPPERS:
                found.append(call)
        return found

    def given_to(self, expression: cst.CSTNode) -> Call | None:
        """The call that an expression is an argument of, or None."""
        tree = self._evaluator.file.tree
        arg = tree.parent(expression)
        call = tree.parent(arg) if type(arg) is cst.Arg else None
        return self._evaluator.call(call) if type(call) is cst.Call else None
