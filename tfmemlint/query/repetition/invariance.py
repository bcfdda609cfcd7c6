"""Whether an expression gives the same in every iteration of a loop, or in every call of a function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.binding import gathers
from tfmemlint.model.values import Api, Class, Const, Function
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition.mutation import mutates, path_at
from tfmemlint.query.repetition.purity import draws_anew, pure
from tfmemlint.query.tracing.python_values import is_python
from tfmemlint.syntax.names import Loop, assigned_names, free_names, home_of, is_variable
from tfmemlint.syntax.scopes import FUNCTIONS, Binds, Definition, own_nodes, parameters, written
from tfmemlint.syntax.tree import Node, children, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

Within = cst.For | cst.While | cst.FunctionDef

Entered = tuple[cst.FunctionDef, Sequence[Node]]
"""A function that is entered on the way to some code, and the parts of it that matter."""


def unchanging(file: File, parts: Sequence[Node], within: Within, *, besides: Sequence[Node] | None = None) -> bool:
    """Whether these expressions certainly give the same in each iteration of a loop.

    For a function: whether they are made of its parameters, of what stands outside and of pure calls only, so that the
    same arguments give the same; all of its own names that they are made of are followed, and nothing that is seen to
    be drawn at random is put into these. What `besides` holds, the expressions themselves if it is not given, is taken
    for pure and is not looked at for changes. False where anything they are made of may change: a name that the loop
    binds to something else, an object that it changes, an impure call. `FOLLOWED_CALLS` names of a loop, and functions,
    are followed into each other.
    """
    asked = _Iterations(file, within, parts if besides is None else besides)
    if not isinstance(within, cst.FunctionDef):
        return asked.same(parts, FOLLOWED_CALLS + 1)
    if not asked.same([*parts, *_made_of(file, parts, within, filled=False).values], FOLLOWED_CALLS + 1):
        return False
    behind = (node for value in _made_of(file, parts, within).values for node in _evaluated(file, value))
    return not any(isinstance(node, cst.Call) and draws_anew(file, node) for node in behind)


def passes_unchanging(
    file: File,
    call: Call,
    function: cst.FunctionDef,
    loop: Loop,
    parts: Sequence[Node],
    *,
    whole: bool,
    inner: Sequence[Entered] = (),
) -> bool:
    """Whether a call in a loop certainly gives a function the same each time, as far as `parts` of its body read it.

    Of the object whose method is called only the attributes count that the method reads; of the arguments those of
    which the parts are made, or all of them where the `whole` result matters. `inner` are the functions that the
    function enters for that, plain ones or methods of its own object, with the parts of them that matter. That the
    parts give the same for the same arguments is another question: `unchanging(file, parts, function)`.
    """
    made = _made_of(file, parts, function)
    if not whole and call.open:
        return False
    given = [arg.value for arg in call.node.args] if whole else passed(call, function, made.parameters)
    if not unchanging(file, given, loop, besides=[call.node]):
        return False
    outer = [*made.outer, *(name for entered, theirs in inner for name in _made_of(file, theirs, entered).outer)]
    if any(mutates(file, loop, name, besides=[call.node]) for name in outer):
        return False
    receiver = call.receiver_node
    if receiver is None or file.class_of(function) is None or next(parameters(function), None) is None:
        return True
    if not isinstance(receiver, cst.Name):
        return False
    methods = [each for each in (function, *(entered for entered, _ in inner)) if file.class_of(each) is not None]
    paths = {receiver.value + path for method in methods for path in paths_of_self(file, method)}
    return not any(mutates(file, loop, receiver, besides=[call.node], path=path) for path in paths)


def given_for(file: File, call: Call, function: cst.FunctionDef, parts: Sequence[Node]) -> list[cst.BaseExpression]:
    """The arguments of a call of which these parts of the function's body are made."""
    return passed(call, function, _made_of(file, parts, function).parameters)


def passed(call: Call, function: cst.FunctionDef, names: Iterable[str]) -> list[cst.BaseExpression]:
    """The arguments of a call that reach parameters of these names, those that `*args` and `**kwargs` gather too."""
    args = [(arg, name) for arg in call.node.args for name in names]
    reach = (arg.value for arg, name in args if call.receives(name, arg) or gathers(function, name, call, arg))
    return list(dict.fromkeys(reach))


def paths_of_self(file: File, method: cst.FunctionDef) -> set[str]:
    """What a method reads of its object: `.x` for `self.x`."""
    owner = next(parameters(method), None)
    own = owner.name.value if owner is not None else ""
    paths = {path_at(file, n) for n in walk(method.body, cst.Name) if n.value == own} - {own}
    return {path.removeprefix(own) for path in paths}


def bound_anew(file: File, code: Node, loop: Node) -> set[str]:
    """The names that some code reads from around it and that a loop or comprehension binds, to another value for all
    that is known. In place of functions that the loop defines count the names which those read so."""
    if isinstance(loop, (cst.For, cst.While)):
        bound = assigned_names(file, loop)
    else:
        bound = {name.value for each in walk(loop, cst.CompFor) for name in walk(each.target, cst.Name)}
    found, waiting, seen = set[str](), [code], set[Node]()
    while waiting:
        code = waiting.pop()
        seen.add(code)
        own = {code.name.value} if isinstance(code, (cst.FunctionDef, cst.ClassDef)) else set()
        for name in free_names(file, code):
            if name.value in bound - own:
                functions = _functions_named(file, name)
                waiting += [each for each in functions if each not in seen]
                found |= set() if functions else {name.value}
    return found


def _functions_named(file: File, name: cst.Name) -> list[Node]:
    """The functions of which a name certainly is one; empty where it may be something else."""
    found = definitions_of(file, name)
    functions = [d.value for d in found if isinstance(d.value, FUNCTIONS)]
    return list(functions) if len(functions) == len(found) else []


def definitions_of(file: File, name: cst.Name) -> Sequence[Definition]:
    """What may give a name its value where it is read; for one of an outer scope, all that binds it there."""
    home = home_of(file, name)
    if file.scope_of(name) is home:
        return written(file.definitions(name))
    return file.flow(home).bindings.get(name.value, ())


def _evaluated(file: File, part: Node) -> Iterator[Node]:
    """The nodes of an expression; of the lambdas in it only the names that they read from outside."""
    if isinstance(part, cst.Lambda):
        yield from free_names(file, part)
        return
    stack = [part]
    while stack:
        node = stack.pop()
        yield node
        for child in reversed(children(node)):
            if isinstance(child, cst.Lambda):
                yield from free_names(file, child)
            else:
                stack.append(child)


@dataclass(frozen=True, slots=True)
class _Iterations:
    """The iterations of a loop or the calls of a function, `besides` some expressions in it."""

    file: File
    within: Within
    besides: Sequence[Node]

    def same(self, parts: Sequence[Node], left: int) -> bool:
        """Whether expressions are the same in all iterations; `left` local names are followed into each other."""
        return left > 0 and all(self._fixed(node, left) for part in parts for node in _evaluated(self.file, part))

    def _fixed(self, node: Node, left: int) -> bool:
        """Whether this one node of an expression does not keep it from being the same each time."""
        if isinstance(node, (cst.Await, cst.Yield, cst.NamedExpr)):
            return False
        if isinstance(node, cst.Call) and node not in self.besides:
            return pure(self.file, node, through=left - 1)
        return not (isinstance(node, cst.Name) and is_variable(self.file, node) and self._changes(node, left))

    def _changes(self, name: cst.Name, left: int) -> bool:
        definitions, contains = definitions_of(self.file, name), self.file.tree.contains
        if any(d.value is part or contains(part, d.node) for d in definitions for part in self.besides):
            return False
        inside = [d for d in definitions if contains(self.within, d.node)]
        if isinstance(self.within, cst.FunctionDef):
            return not all(d.binds is Binds.PARAMETER or self._bound_to_same(d, left) for d in inside)
        if inside:
            return not all(self._bound_to_same(d, left) for d in inside)
        fixed = isinstance(self.file.value(name), (Api, Const))
        return not fixed and mutates(self.file, self.within, name, besides=self.besides)

    def _bound_to_same(self, definition: Definition, left: int) -> bool:
        """Whether a name bound in the loop or function is bound to the same each time."""
        value = definition.value
        if definition.binds is Binds.IMPORT:
            return True
        if definition.binds is Binds.FUNCTION and isinstance(definition.node, cst.FunctionDef):
            return self.same(list(free_names(self.file, definition.node)), left - 1)
        if isinstance(value, cst.AugAssign) and isinstance(self.within, cst.FunctionDef):
            return self._counts_up(definition)  # of its parts `unchanging` asks
        if value is None or isinstance(value, cst.AugAssign):
            return False
        if isinstance(self.within, cst.FunctionDef):
            return True  # `unchanging` asks the value itself
        if definition.binds is not Binds.VALUE or self.file.contexts.loop(definition.node) is not self.within:
            return False
        return self.same([value], left - 1)


    def _counts_up(self, definition: Definition) -> bool:
        """Whether what `name += ...` adds to begins in the function as a number or text of Python: an array that it is
        given would be changed for its callers, too."""
        found = self.file.flow(definition.scope).bindings.get(definition.name, ())
        begins = [d for d in found if d.binds is not Binds.AUGMENTED]
        values = [d.value for d in begins if d.binds is Binds.VALUE and not d.path]
        known = (isinstance(value, cst.BaseExpression) and is_python(self.file, value) for value in values)
        return bool(begins) and len(values) == len(begins) and all(known)


class _Made(NamedTuple):
    """What expressions in a function are made of."""

    parameters: set[str]
    outer: list[cst.Name]
    """One place for each name from outside."""
    values: list[Node]
    """What the names of its own are given, each once; functions in it are not run here, and left out."""


def _made_of(file: File, parts: Sequence[Node], function: cst.FunctionDef, *, filled: bool = True) -> _Made:
    """What expressions in a function are made of; with `filled`, what is put into its own objects is a part of them."""
    found, values = set[str](), dict[int, Node]()
    outer: dict[str, cst.Name] = {}
    waiting = list(parts)
    while waiting:
        for name in (n for n in walk(waiting.pop(), cst.Name) if is_variable(file, n)):
            if not file.tree.contains(function, home_of(file, name)):
                if not isinstance(file.value(name), (Api, Class, Function)):
                    outer[name.value] = name
                continue
            for d in (d for d in definitions_of(file, name) if d.scope is function):
                if d.binds is Binds.PARAMETER:
                    found.add(d.name)
                    continue
                given = [d.value] if d.value is not None else []
                put = _put_into(file, d.name, function) if filled else ()
                new = [value for value in (*given, *put) if id(value) not in values]
                values.update((id(value), value) for value in new)
                waiting += new
    run = [value for value in values.values() if not isinstance(value, cst.FunctionDef)]
    return _Made(found, list(outer.values()), run)


def _put_into(file: File, name: str, function: cst.FunctionDef) -> Iterator[Node]:
    """What a function puts into the object of a name: by `name[i] = x`, `name.append(x)` and their like."""
    for node in own_nodes(function, cst.Assign, cst.Call):
        if isinstance(node, cst.Assign):
            targets = (each.target for each in node.targets if isinstance(each.target, cst.Subscript))
            if any(_owner(target) == name for target in targets):
                yield node.value
        elif isinstance(node.func, cst.Attribute) and _owner(node.func.value) == name:
            if knowledge.in_group(node.func.attr.value, "changes_object"):
                yield from (arg.value for arg in node.args)


def _owner(place: cst.BaseExpression) -> str:
    """The name of the object in which items of items are: `x` of `x[i][0]`."""
    while isinstance(place, cst.Subscript):
        place = place.value
    return place.value if isinstance(place, cst.Name) else ""
