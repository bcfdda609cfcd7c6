"""Distribution strategies: where they are made, what becomes of them, and what runs under them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.uses import Does, Use, uses
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
        """Whether its program certainly trains: its function, or the file where it is the only strategy."""
        trained = [*self.file.calls("tf.keras.Model.fit"), *self.file.calls("tf.GradientTape")]
        if len(strategies.of(self.file)) == 1:
            return bool(trained)
        home = self.file.contexts.function(self.given.node)
        return any(self.file.contexts.function(call.node) is home for call in trained)


def _strategies(file: File) -> Iterator[Strategy]:
    for made in file.calls(*knowledge.group("makes_strategy")):
        given = _given_by(file, made)
        found = uses(file, made.node, attributes=True, through=FOLLOWED_CALLS, returned=True)
        yield Strategy(file, made, given, _name(file, given), tuple(found))


strategies = Fact(_strategies, *knowledge.group("makes_strategy"))
"""Each strategy for several devices that the program makes; the default strategy is none."""


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
