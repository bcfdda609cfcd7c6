"""Distribution strategies: where they are made, what becomes of them, and what runs under them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Class, Function
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.keras.models import is_model
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.syntax.scopes import dotted

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

ENTERS = frozenset({"scope", "run", "experimental_run_v2", "__enter__"})
"""Methods of a strategy by which something runs under it."""


@dataclass(frozen=True, slots=True)
class Strategy:
    """A strategy that the program makes, with all its uses in the file.

    `made` is its constructor; `given` the same, or the only call of the function that does nothing but give it, where
    the program gets it; `name` how it is called there, None where it is kept in no name or attribute.
    """

    file: File
    made: Call
    given: Call
    name: str | None
    uses: tuple[Use, ...]

    @property
    def entered(self) -> bool:
        """Whether some code that is seen enters its scope or runs something on it."""
        return any(_enters(use) for use in self.uses)

    @property
    def entered_by_hand(self) -> bool:
        """Whether its scope may be entered in another way than by `with`, so that it is not known what is in it."""
        return any(use.word == "__enter__" or (use.word == "scope" and _kept(self.file, use)) for use in self.uses)

    @property
    def leaves(self) -> bool:
        """Whether it goes where code that is not seen may enter it."""
        return any(_leaves(self.file, use) for use in self.uses)

    @property
    def trains(self) -> bool:
        """Whether its program certainly trains while it is the current strategy: code of its function behind it, or
        code of other functions where it is the only strategy of the file."""
        homes, under = _training(self.file)
        alone = len(strategies.of(self.file)) == 1
        return id(self) in under or (alone and bool(homes - {id(self.file.contexts.function(self.given.node))}))

    def builds(self) -> bool:
        """Whether a model may be built in its scope: also where some code in there is not known."""
        scopes = [use.call for use in self.uses if use.word == "scope" and use.call is not None]
        entered = [use.place for scope in scopes for use in uses(self.file, scope.node) if use.does is Does.ENTER]
        inside = (call for block in entered if block is not None for call in _run_in(self.file, block))
        return any(_may_build(self.file, call) for call in inside)


def _strategies(file: File) -> Iterator[Strategy]:
    for made in file.calls(*knowledge.group("makes_strategy")):
        if _only_counts(file, made):
            continue
        given = _given_by(file, made)
        found = uses(file, made.node, attributes=True, through=FOLLOWED_CALLS, returned=True)
        yield Strategy(file, made, given, _name(file, given), tuple(found))


def _only_counts(file: File, made: Call) -> bool:
    """Whether a strategy is made to be asked how many devices there are, and kept nowhere."""
    asked = file.tree.parent(made.node)
    return isinstance(asked, cst.Attribute) and asked.attr.value == "num_replicas_in_sync"


strategies = Fact(_strategies, *knowledge.group("makes_strategy"))
"""Each strategy for several devices that the program makes; the default strategy is none."""


def current_strategy(file: File, node: Node) -> Strategy | None:
    """The strategy that the function around a place made last in the order of the code; None where it made none."""
    made, start = _by_function(file).get(id(file.contexts.function(node)), []), file.tree.order(node)
    at = bisect_left(made, start, key=lambda each: file.tree.order(each.given.node))
    return made[at - 1] if at else None


@once_per_file
def _by_function(file: File) -> dict[int, list[Strategy]]:
    """The strategies that each function gets, in the order of the code."""
    found: dict[int, list[Strategy]] = {}
    for each in sorted(strategies.of(file), key=lambda strategy: file.tree.order(strategy.given.node)):
        found.setdefault(id(file.contexts.function(each.given.node)), []).append(each)
    return found


@once_per_file
def _training(file: File) -> tuple[set[int], set[int]]:
    """The functions that train, and the strategies that are current where they do."""
    trained = [call.node for call in (*file.calls("tf.keras.Model.fit"), *file.calls("tf.GradientTape"))]
    under = (current_strategy(file, node) for node in trained)
    return {id(file.contexts.function(node)) for node in trained}, {id(each) for each in under if each is not None}


def _run_in(file: File, block: Node) -> Iterator[Call]:
    body = block.body if isinstance(block, cst.With) else block
    return calls(file, body, through=FOLLOWED_CALLS)


def _may_build(file: File, call: Call) -> bool:
    if is_model(file, call.value):
        return True
    known = call.names and all(name.startswith(("tf.", "np.", "builtins.")) for name in call.names)
    return not known and not all(isinstance(target, (Function, Class)) for target in call.target.options)


def _given_by(file: File, made: Call) -> Call:
    function = file.contexts.function(made.node)
    if not isinstance(function, cst.FunctionDef) or not isinstance(file.tree.parent(made.node), cst.Return):
        return made
    callers = file.call_graph.callers(function) or ()
    return callers[0] if len(callers) == 1 and len(file.returns(function)) == 1 else made


def _name(file: File, given: Call) -> str | None:
    assign = file.tree.parent(given.node)
    return dotted(assign.targets[0].target) if isinstance(assign, cst.Assign) and len(assign.targets) == 1 else None


def _enters(use: Use) -> bool:
    return use.does is Does.ENTER or (use.does in (Does.METHOD, Does.READ) and use.word in ENTERS)


def _kept(file: File, use: Use) -> bool:
    """Whether a scope is not the object of a `with` statement."""
    return use.call is None or not any(each.does is Does.ENTER for each in uses(file, use.call.node))


def _leaves(file: File, use: Use) -> bool:
    if use.does is Does.STORE:
        return not isinstance(use.place, cst.Name) and not _only_own(file, use.place)
    return use.does in (Does.PASS, Does.RETURN, Does.OTHER, Does.CALL, Does.ITERATE)


def _only_own(file: File, place: Node | None) -> bool:
    """Whether an attribute is one of `self` that no code of the file names outside of the class."""
    name = dotted(place) if place is not None else None
    if place is None or name is None or not name.startswith("self.") or name.count(".") > 1:
        return False
    named = [node for node in file.tree.of(cst.Attribute) if node.attr.value == name.removeprefix("self.")]
    owner = _class_around(file, place)
    return all(dotted(node) == name and _class_around(file, node) is owner for node in named)


def _class_around(file: File, node: Node) -> cst.ClassDef | None:
    return next((above for above in file.tree.ancestors(node) if isinstance(above, cst.ClassDef)), None)


# -- what runs under one ---------------------------------------------------------------------------------------------


def in_scope(file: File, node: Node) -> bool:
    """Whether a place of a function certainly stands in a `with` statement that enters a scope, or may enter one."""
    items = (item.item for block in file.contexts.withs(node) for item in block.items)
    return any(True for entered in items for _ in calls(file, entered, "scope"))


def is_replicated(file: File, node: Node) -> bool:
    """Whether the function around a place certainly runs on replicas: some `run` is given it, or a function that calls
    it, `FOLLOWED_CALLS` deep."""
    return _is_replicated(file, node, FOLLOWED_CALLS)


def _is_replicated(file: File, node: Node, left: int) -> bool:
    function = file.contexts.function(node)
    if function is None:
        return False
    graph = file.call_graph
    takers = (graph.given_to(use) for use in graph.uses(function))
    if any(taker is not None and taker.method == "run" for taker in takers):
        return True
    callers = graph.callers(function) if left else ()
    return any(_is_replicated(file, call.node, left - 1) for call in callers or ())
