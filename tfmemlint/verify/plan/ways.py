"""How a program comes to a flagged place: through which calls, and in which module of the project it begins."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from tfmemlint.model.file import File
from tfmemlint.model.values import Class, Function, Value
from tfmemlint.syntax.program import names_in
from tfmemlint.syntax.scopes import decorated
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.child.usual import holds_settings, words_of
from tfmemlint.verify.plan import constructors
from tfmemlint.verify.plan.examples import Example
from tfmemlint.verify.plan.made_up import argument_for
from tfmemlint.verify.plan.misfits import Made, code_of
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.roles import asked, is_no_array, is_unread, stored_as, suggested
from tfmemlint.verify.plan.slicing import Home
from tfmemlint.verify.plan.solving import Free, Solved, Solver, unpassed
from tfmemlint.verify.plan.standing import Standing
from tfmemlint.verify.plan.statements import owner
from tfmemlint.verify.plan.switches import is_refused, switched

DEEPEST = 5
CALLBACK = "tf.keras.callbacks.Callback"
SIZE = 10
"""Each size of an array that is made up of its name: numbers that are suggested are the same."""
ARRAY = re.compile(r"(\w+)\[.*\]")
STRICT, LIGHT, ALL = range(3)
"""What is made up: what its use tells, also numbers, texts and settings, also models, data and other objects."""

STARTERS = ("absl.app.run", "tf.compat.v1.app.run")


@dataclass(frozen=True)
class Way:
    """What makes a program come to a place: calls to keep, functions to slice, lines to add at its end. `entry` is the
    module that it runs."""

    entry: Home
    calls: tuple[Node, ...] = ()
    functions: tuple[cst.FunctionDef, ...] = ()
    lines: tuple[str, ...] = field(default=())


class Ways:
    """The ways to places of a file. `examples` gives those of a module; what is made up is noted in `replaced`."""

    def __init__(
        self,
        file: File,
        examples: Callable[[Home], dict[str, Example]],
        solver: Solver,
        about: Node,
        kinds: Mapping[int, str] | None = None,
        near: Sequence[Node] = (),
    ) -> None:
        """`solver` makes up what nobody passes, with sizes that make the statement `about` large enough. Parameters (by
        the id of their nodes) that are known to be of a kind are made up as one of that. Of calls those inside the
        statements `near` are taken first."""
        self.file, self.solver, self._flagged, self._near = file, solver, about, near
        self.replaced: list[str] = []
        self.guessed = ""
        """What to say about the parameters that are made up of little more than their names."""
        self.made: dict[int, Made] = {}
        """The parameters that are made up, by the id of their nodes."""
        self._examples, self._kinds = examples, kinds or {}
        self._rank: int | None = None
        self._bold = STRICT

    def called(self, node: Node, traced: bool, rank: int | None) -> Way:
        """The way to a node by calls of its function alone, whoever else calls it: twice, or `traced` to a graph. With
        a `rank`, parameters of which too little is known are made up of their names, arrays with that many axes, as
        it does where no size counts. Raises PlanError."""
        self._rank, self._bold = rank, ALL
        function = owner(self.file, node)
        if not isinstance(function, cst.FunctionDef):
            raise PlanError("the finding stands in no function")
        made, name, arguments = self._made(function)
        use = f"it{name}({arguments})"
        return Way(
            self.file.home(function),
            (function,),
            (),
            (f"tfmemlint_called(lambda: {made}, lambda it: {use}, {traced})",),
        )

    def to(self, node: Node) -> Way:
        """The way to a node: one that needs nothing but what is known or solved, else one that needs numbers, texts and
        settings, else a call of its own function with stand-ins for all that nobody passes. Raises PlanError."""
        before = len(self.replaced), self.guessed, self.solver.used
        for self._bold in (STRICT, LIGHT, ALL):
            try:
                return self._to(node)
            except PlanError:
                if self._bold == ALL:
                    raise
                del self.replaced[before[0] :]
                self.guessed, self.solver.used = before[1:]
        raise AssertionError

    def _to(self, node: Node, depth: int = 0) -> Way:
        function = owner(self.file, node)
        if not isinstance(function, cst.FunctionDef):
            return Way(self.file.home(node))
        sliced = (function,) if isinstance(self.file.scope_of(function), cst.Module) and node is not function else ()
        for call in self._callers(function) if self._bold != ALL else ():
            if depth >= DEEPEST or owner(self.file, call) is function:
                continue
            try:
                way = self._to(call, depth + 1)
            except PlanError:
                continue
            return replace(way, calls=(call, *way.calls), functions=(*sliced, *way.functions))
        return Way(self.file.home(function), (function,), (), (self._call(function),))

    def _callers(self, function: cst.FunctionDef) -> Iterator[cst.Call]:
        """The calls of a function: those of its own module before those of others."""
        graph, within = self.file.call_graph, self.file.tree.contains
        here = [call.node for call in graph.callers(function) or ()]
        yield from sorted(here, key=lambda call: not any(within(each, call) for each in self._near))
        yield from (call.node for call in graph.callers_elsewhere(function) or ())
        calls = self.file.home(function).calls_by_word
        yield from (node for node in calls.get("run", ()) if self._starts(node, function))
        made = self.file.class_of(function)
        if made is not None and self.file.values.classes.derives(made, CALLBACK):  # whose methods training calls
            of_class = calls.get(made.name.value, ())
            yield from (node for node in of_class if _class_of(self.file.value(node.func)) is made)

    def _starts(self, node: cst.Call, function: cst.FunctionDef) -> bool:
        """Whether a call parses the flags of the command line and then calls a function: `app.run(main)`."""
        if self.file.call(node).name not in STARTERS:
            return False
        if not node.args:
            return function.name.value == "main" and isinstance(self.file.scope_of(function), cst.Module)
        value = self.file.value(node.args[0].value)
        return isinstance(value, Function) and value.node is function

    def _call(self, function: cst.FunctionDef) -> str:
        """A line that calls a function which the file itself does not call, with what is known of its parameters."""
        made, name, arguments = self._made(function)
        return f"tfmemlint_consume({made})" if name == ".__init__" else f"tfmemlint_consume({made}{name}({arguments}))"

    def _made(self, function: cst.FunctionDef) -> tuple[str, str, str]:
        """Code that makes what is called, the attribute of it, and the arguments."""
        scope = self.file.scope_of(function)
        if isinstance(scope, cst.Module):
            (arguments,) = self._arguments([(function, False)])
            return function.name.value, "", arguments
        if not isinstance(scope, cst.ClassDef) or not isinstance(self.file.scope_of(scope), cst.Module):
            raise PlanError(
                f"nothing in the file calls {function.name.value}, which is defined inside another function"
            )
        name = function.name.value
        static = decorated(function, "staticmethod")
        if static or decorated(function, "classmethod"):
            return scope.name.value, f".{name}", self._arguments([(function, not static)])[0]
        make = self.file.values.classes.method(scope, "__init__")
        called = [(each, True) for each in (make, function if function is not make else None) if each is not None]
        given = self._arguments(called)
        library = constructors.handed_on(self.file, make) if make else constructors.of_base(self.file, scope)
        if library is not None:
            self.replaced.append(f"{library} is given to {scope.name.value}: nothing in the project makes one")
        made = f"{scope.name.value}({', '.join(filter(None, (given[0] if make else '', library)))})"
        if self.file.values.classes.derives(scope, CALLBACK) and name != "__init__":
            made = f"tfmemlint_callback({made})"
        return made, "" if name in ("call", "__call__") else f".{name}", given[-1]

    def _arguments(self, called: Sequence[tuple[cst.FunctionDef, bool]]) -> list[str]:
        """The arguments of functions that are called together, a constructor and a method; each with whether it is a
        method. Raises PlanError that names all parameters of which too little is known."""
        given: dict[int, str] = {}
        unknown: list[tuple[cst.FunctionDef, cst.Param]] = []
        for function, method in called:
            for parameter in unpassed(function, method):
                code = self._known(parameter, function)
                if code is not None:
                    given[id(parameter)] = code
                elif is_refused(self.file, parameter, function) or id(parameter) in self._kinds:
                    unknown.append((function, parameter))
                elif parameter.default is not None and self.file.text(parameter.default) == "None":
                    self.made[id(parameter)] = Made(parameter.name.value, frozenset(), "None")
        if unknown and self._rank is not None:
            self._make_up(unknown, self._reached([function for function, _ in called]), self._rank, given)
        elif unknown:
            self._solve([function for function, _ in called], unknown, given)
        words = ([(each.name.value, given.get(id(each))) for each in unpassed(*function)] for function in called)
        return [", ".join(f"{name}={code}" for name, code in each if code is not None) for each in words]

    def _solve(
        self,
        functions: Sequence[cst.FunctionDef],
        unknown: Sequence[tuple[cst.FunctionDef, cst.Param]],
        given: dict[int, str],
    ) -> None:
        """Make up what the use of parameters tells. Raises PlanError where that is not all of them."""
        methods = self._reached(functions)
        idle = [each for each in unknown if is_unread(self.file, each[1], functions, methods)]
        used = [each for each in unknown if each not in idle]
        standing = Standing(self.file, methods, self.solver.target)
        models = standing.tell([parameter for _, parameter in used], self.solver) if self._bold == ALL else []
        data = [each for _, each in used if not holds_settings(each.name.value)]
        arrays = [each for each in data if each in models or not is_no_array(self.file, each, methods)]
        asked_for = [each for each in arrays if id(each) not in self._kinds]
        parts = {id(each): standing.parts(each) for _, each in used} if self._bold != STRICT else {}
        free = {path: Free(path) for each in parts.values() for path in each}
        solved = self.solver.solve(functions, [*asked_for, *free.values()], self._flagged)
        by_name = self.solver.by_name
        unsure = by_name | self._kinds.keys()
        left = [each for each in used if id(each[1]) not in solved or id(each[1]) in unsure or each[1] in models]
        firm = [each for each in left if id(each[1]) not in self._kinds]
        too_bold = [each for each in firm if self._bold == STRICT or not standing.is_light(each[1])]
        if too_bold and self._bold != ALL:
            raise PlanError(asked(self.file, left, methods))
        if left:
            self.guessed = asked(self.file, left, methods)
            self.solver.used |= any(standing.is_sized(each) for _, each in left if id(each) not in self._kinds)
        for function, parameter in used:
            known = {
                path: solved[id(free[word])]
                for word, path in parts.get(id(parameter), {}).items()
                if id(free[word]) in solved and "(" in solved[id(free[word])].code
            }
            found = solved.get(id(parameter)) or standing.made(parameter, {at: each.code for at, each in known.items()})
            found = self._of_kind(parameter) or found
            self.replaced += [each.words for each in known.values()]
            given[id(parameter)] = found.code
            stored = stored_as(self.file, parameter, methods)
            self.made[id(parameter)] = Made(parameter.name.value, stored, found.code)
            self.replaced.append(found.words.replace(" is", f" of {function.name.value} is", 1))
        for function, parameter in idle:
            given[id(parameter)] = "None"
            self.replaced.append(f"{parameter.name.value} of {function.name.value} is None: nothing reads it here")

    def _of_kind(self, parameter: cst.Param) -> Solved | None:
        """What stands for a parameter of which an error has told the kind."""
        kind, name = self._kinds.get(id(parameter)), parameter.name.value
        if kind is None:
            return None
        return Solved(code_of(kind, name), f"{name} is made up as {kind}: something else did not fit")

    def _make_up(
        self,
        unknown: Sequence[tuple[cst.FunctionDef, cst.Param]],
        methods: Sequence[cst.FunctionDef],
        rank: int,
        given: dict[int, str],
    ) -> None:
        """Make up parameters of their names and use. All sizes are the same, so that they fit each other. Raises
        PlanError for objects."""
        for function, parameter in unknown:
            value = suggested(self.file, parameter, methods)
            if not value:
                raise PlanError(asked(self.file, unknown, methods))
            array = ARRAY.fullmatch(value)
            is_mask = (words_of(parameter.name.value) or [""])[-1] == "mask"  # Keras has one for each step
            axes = max(1, rank - 1) if is_mask else rank
            code = f'tfmemlint_array("{array[1]}", {(SIZE,) * axes})' if array is not None else value
            given[id(parameter)] = code
            self.replaced.append(f"{parameter.name.value} of {function.name.value} is made up: {code}")

    def _reached(self, functions: Sequence[cst.FunctionDef]) -> list[cst.FunctionDef]:
        """The functions with the methods of their class that they name."""
        owner = self.file.class_of(functions[-1])
        inside = owner.body.body if owner is not None else ()
        methods = {each.name.value: each for each in inside if isinstance(each, cst.FunctionDef)}
        found = list(functions)
        for function in found:
            for word in names_in(function):
                method = methods.get(word)
                if method is not None and method not in found:
                    found.append(method)
        return found

    def _known(self, parameter: cst.Param, function: cst.FunctionDef) -> str | None:
        example = self._examples(self.file.home(function)).get(parameter.name.value)
        if example is not None:
            self.replaced.append(f"{example.words} is given to {function.name.value}")
            return example.code
        code = switched(self.file, parameter, function, self._flagged)
        if code is not None:
            word = parameter.name.value
            self.replaced.append(f"{word} of {function.name.value} is {code}, as the flagged place asks")
        if code is not None or parameter.default is not None:
            return code
        return argument_for(self.file.values.functions.parameter(parameter, function, None))


def _class_of(value: Value) -> Node | None:
    return value.node if isinstance(value, Class) else None
