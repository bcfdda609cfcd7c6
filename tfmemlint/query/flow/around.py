"""What the code around a place does with the value that stands there: one function for each kind of code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint.model.records import RECORD
from tfmemlint.model.values import Class, Function, Instance
from tfmemlint.query.flow.use import Does, Use
from tfmemlint.query.limits import RUN_THROUGH
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.query.flow.following import At, Search

PUTS = frozenset({
    "append", "appendleft", "add", "extend", "insert", "put", "put_nowait", "setdefault", "update", "push",
})  # fmt: skip
"""Methods by which Python's containers take a value; a library's method of such a name is a call like others."""

VIEWS: dict[str, tuple[int, ...]] = {"items": (1,), "values": ()}
"""Methods by which dictionaries give their values, and where in each item these are."""

TAKES_OUT = frozenset({"get", "pop", "popleft", "get_nowait"})
"""Methods by which containers give one of their values."""


# -- other names -----------------------------------------------------------------------------------------------------


def _assigned(search: Search, at: At, parent: Any) -> Iterator[Use]:
    if parent.value is at.node:
        targets = [t.target for t in parent.targets] if isinstance(parent, cst.Assign) else [parent.target]
        for target in targets:
            yield from search.bind(at, target)
        if isinstance(parent, cst.NamedExpr):
            search.go_on(at, parent)


def _chosen(search: Search, at: At, parent: Any) -> Iterator[Use]:
    """Expressions whose value may be this one: `a if c else b`, `a or b`."""
    if isinstance(parent, cst.IfExp) and parent.test is at.node:
        yield at.use(Does.COMPUTE, parent)
    else:
        search.go_on(at, parent)


def _entered(search: Search, at: At, parent: cst.WithItem) -> Iterator[Use]:
    yield at.use(Does.ENTER, search.tree.parent(parent))
    if parent.asname is not None:
        yield from search.bind(at, parent.asname.name)


# -- parts -----------------------------------------------------------------------------------------------------------


def _attribute(search: Search, at: At, parent: cst.Attribute) -> Iterator[Use]:
    word, above = parent.attr.value, search.tree.parent(parent)
    if isinstance(above, cst.Call) and above.func is parent:
        yield at.use(Does.METHOD, above, word, call=search.file.call(above))
        if (at.held or search.follow.parts) and word in VIEWS:
            search.go_on(at, above, path=VIEWS[word], spot=())
        elif (at.held or search.follow.parts) and word in TAKES_OUT:
            search.go_on(at, above, held=False, part=at.part or not at.held, spot=())
        elif search.follow.parts and word in RUN_THROUGH:
            search.go_on(at, above)
    else:
        yield at.use(Does.SET if _is_target(parent, above) else Does.READ, parent, word)


def _subscript(search: Search, at: At, parent: cst.Subscript) -> Iterator[Use]:
    if _is_target(parent, search.tree.parent(parent)):
        yield at.use(Does.SET, parent)
    elif at.spot and (index := _index(parent)) is not None:
        if index == at.spot[0]:
            search.go_on(at, parent, held=len(at.spot) > 1, spot=at.spot[1:])
    elif at.held or search.follow.parts:
        search.go_on(at, parent, held=False, part=at.part or not at.held, spot=())
    else:
        yield at.use(Does.ITEM, parent)


def _index(item: cst.Subscript) -> int | None:
    """The number between the brackets, where one is written there."""
    index = item.slice[0].slice if len(item.slice) == 1 else None
    return int(index.value.value) if isinstance(index, cst.Index) and isinstance(index.value, cst.Integer) else None


def _is_target(node: Node, above: Node | None) -> bool:
    """Whether a statement sets or deletes this attribute or item."""
    if isinstance(above, (cst.AugAssign, cst.AnnAssign)):
        return above.target is node
    return isinstance(above, (cst.AssignTarget, cst.Del))


def _iterated(search: Search, at: At, parent: Any) -> Iterator[Use]:
    """A `for` statement or a comprehension's `for`."""
    if at.held or search.follow.parts:
        part = at.part or not at.held
        yield from search.bind(replace(at, held=False, spot=(), part=part, unpacked=at.unpacked or part), parent.target)
    else:
        yield at.use(Does.ITERATE, parent)


# -- containers ------------------------------------------------------------------------------------------------------


def _element(search: Search, at: At, parent: Node) -> Iterator[Use]:
    """An item of a display, or what a comprehension makes of each item."""
    display = parent if isinstance(parent, cst.BaseComp) else search.tree.parent(parent)
    above = search.tree.parent(display) if display is not None else None
    targets = _same_places(parent, display, above)
    if isinstance(above, cst.Del):
        yield at.use(Does.DELETE, above)
    elif targets:
        for target in targets:
            yield from search.bind(at, target)
    elif isinstance(above, cst.AugAssign) and isinstance(above.operator, cst.AddAssign):
        yield at.use(Does.STORE, above.target)
    elif search.follow.containers and display is not None and display is not parent:
        search.go_on(at, display, held=True, spot=_spot(parent, display, at))
    else:
        yield at.use(Does.STORE, display)


def _spot(element: Node, display: Node, at: At) -> tuple[int, ...]:
    """Where in a tuple or list an item stands, as long as that is known for what it is in turn."""
    fixed = isinstance(display, (cst.Tuple, cst.List)) and (bool(at.spot) or not at.held)
    if not fixed or not isinstance(display, (cst.Tuple, cst.List)):
        return ()
    if any(isinstance(each, cst.StarredElement) for each in display.elements):
        return ()
    return (next(i for i, each in enumerate(display.elements) if each is element), *at.spot)


def _same_places(element: Node, display: Node | None, above: Node | None) -> list[Node]:
    """The targets that `a, b = x, y` binds to an item of the display; none where it is not taken apart at once."""
    found: list[Node] = []
    if isinstance(display, (cst.Tuple, cst.List)) and isinstance(above, cst.Assign):
        for target in (t.target for t in above.targets):
            if not isinstance(target, (cst.Tuple, cst.List)) or len(target.elements) != len(display.elements):
                return []
            if any(isinstance(e, cst.StarredElement) for e in (*target.elements, *display.elements)):
                return []
            pairs = zip(display.elements, target.elements, strict=True)
            found += [to.value for each, to in pairs if each is element]
    return found


# -- calls -----------------------------------------------------------------------------------------------------------


def _called(search: Search, at: At, parent: cst.Call) -> Iterator[Use]:
    yield at.use(Does.CALL, parent, call=search.file.call(parent))


def _argument(search: Search, at: At, parent: cst.Arg) -> Iterator[Use]:
    node = search.tree.parent(parent)
    if not isinstance(node, cst.Call):
        yield at.use(Does.OTHER, node)  # a keyword of a class
        return
    call = search.file.call(node)
    taking = _taking(call, parent) if at.left and not parent.star else []
    if isinstance(node.func, cst.Attribute) and node.func.attr.value in PUTS and not call.names:
        yield at.use(Does.STORE, node.func.value, node.func.attr.value, call=call, argument=parent)
    elif (at.held or search.follow.parts) and _runs_through(search, at, parent, call):
        pass
    elif taking:
        for param in taking:
            search.enter(at, call, param)
    elif search.follow.containers and _makes_record(call):
        search.go_on(at, node, held=True)
    else:
        yield at.use(Does.PASS, node, call.method or "", call=call, argument=parent)


def _runs_through(search: Search, at: At, argument: cst.Arg, call: Call) -> bool:
    """Go on at `enumerate(value)`, `zip(value, other)` and their like, whose items are the value's."""
    word, position = call.method or "", call.node.args.index(argument)
    if argument.star or not (word == "zip" or (word in RUN_THROUGH and position == 0)):
        return False
    inside = {"zip": (position,), "enumerate": (1,)}.get(word, ())
    search.go_on(at, call.node, path=(*inside, *at.path), spot=())
    return True


def _taking(call: Call, argument: cst.Arg) -> list[cst.Param]:
    """The parameters that get an argument, of each function of the module that may be called; none where something
    else may be called, too."""
    found: list[cst.Param] = []
    for target in call.target.options:
        function: Node | None = target.node if isinstance(target, Function) else None
        if isinstance(target, Class):
            function = call.evaluator.classes.method(target.node, "__init__")
        if not isinstance(function, (cst.FunctionDef, cst.Lambda)):
            return []
        taking = [param for param in parameters(function) if call.receives(param.name.value, argument)]
        if not taking:
            return []
        found += taking
    return found


def _makes_record(call: Call) -> bool:
    """Whether a call makes an object of named fields: a data class's, a named tuple's, `dict(...)`."""
    made = call.value
    if call.name == "builtins.dict":
        return True
    if not isinstance(made, Instance):
        return False
    return made.type_name == RECORD or (made.class_node is not None and call.evaluator.classes.is_data(made.class_node))


def _returned(search: Search, at: At, parent: Node) -> Iterator[Use]:
    function = parent if isinstance(parent, cst.Lambda) else search.file.contexts.function(parent)
    callers = None
    if function is None or isinstance(parent, (cst.Yield, cst.From)) or search.file.yields(function):
        yield at.use(Does.RETURN, parent)
        return
    if at.entered:
        search.go_on(at, at.entered[-1][0].node, entered=at.entered[:-1], captured=False)
        return
    if search.follow.returned:
        callers = search.file.call_graph.callers(function)
    for call in callers or ():
        search.go_on(at, call.node, captured=False)
    if not callers:
        yield at.use(Does.RETURN, parent)


# -- ends ------------------------------------------------------------------------------------------------------------


def _deleted(search: Search, at: At, parent: Node) -> Iterator[Use]:
    yield at.use(Does.DELETE, parent)


def _computed(search: Search, at: At, parent: Node) -> Iterator[Use]:
    yield at.use(Does.COMPUTE, parent)


AROUND: dict[type[Node], Callable[[Search, At, Any], Iterator[Use]]] = {
    **dict.fromkeys((cst.Assign, cst.AnnAssign, cst.NamedExpr), _assigned),
    **dict.fromkeys((cst.IfExp, cst.BooleanOperation), _chosen),
    cst.WithItem: _entered,
    cst.Attribute: _attribute,
    cst.Subscript: _subscript,
    **dict.fromkeys((cst.For, cst.CompFor), _iterated),
    **dict.fromkeys((cst.Element, cst.DictElement, cst.StarredElement, cst.StarredDictElement), _element),
    **dict.fromkeys((cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp), _element),
    cst.Call: _called,
    cst.Arg: _argument,
    **dict.fromkeys((cst.Return, cst.Yield, cst.From, cst.Lambda), _returned),
    cst.Del: _deleted,
    **dict.fromkeys(
        (cst.BinaryOperation, cst.UnaryOperation, cst.Comparison, cst.ComparisonTarget, cst.AugAssign, cst.Index,
         cst.Slice, cst.FormattedStringExpression, cst.If, cst.While, cst.Assert, cst.CompIf),
        _computed,
    ),
}  # fmt: skip
