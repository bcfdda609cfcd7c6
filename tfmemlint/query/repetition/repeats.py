"""What runs code again and again: a loop, a comprehension, `map`, a server, or one of these around a call of its
function."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model import decided
from tfmemlint.model.contexts import MAPS
from tfmemlint.model.values import Value
from tfmemlint.query.facts import Fact
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition import counts
from tfmemlint.query.repetition.chosen import let_through
from tfmemlint.query.repetition.may_repeat import may_run_again
from tfmemlint.query.repetition.servers import handles_requests
from tfmemlint.syntax.scopes import COMPREHENSIONS, FUNCTIONS, SCOPE_CLASSES, parameters
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File


@dataclass(frozen=True, slots=True)
class Repetition:
    """What runs some code again.

    `place` is the `for` or `while` statement, the comprehension, the call of `map`, or the function that handles
    requests; `chain` begins with the code that was asked about, and then has the calls through which it is reached,
    outwards; `calls` says how many functions it is left for.
    """

    place: Node
    chain: tuple[Node, ...]
    calls: int
    file: File = field(repr=False)

    @property
    def inside(self) -> Node:
        """What stands in the place itself: the code that was asked about, or the last of the calls."""
        return self.chain[-1]

    @property
    def in_file(self) -> Node | None:
        """The innermost part of the chain that stands in the file itself, where the place does; None for what another
        module runs again by itself."""
        if not self.file.is_own(self.place):
            return None
        return next((node for node in self.chain if self.file.is_own(node)), None)

    @property
    def levels(self) -> Iterator[tuple[Node, Node]]:
        """Each part of the chain with what it stands in: the function that is left for the next, at last the place."""
        functions = (self.file.contexts.function(node) or self.file.module for node in self.chain[:-1])
        return zip(self.chain, (*functions, self.place), strict=True)

    @property
    def handler(self) -> bool:
        """Whether it is a function that a server runs for each request."""
        return isinstance(self.place, FUNCTIONS)

    @property
    def count(self) -> int | None:
        """The most iterations there can be that come to the code, where the program says it; None says nothing about
        their number."""
        if isinstance(self.place, cst.Call):
            return counts.items_in(self.file, self.place.args[-1].value)
        found = counts.count(self.file, self.place)
        let = let_through(self.file, self.place, self.inside) if isinstance(self.place, cst.For) else None
        return found if let is None else let if found is None else min(found, let)

    def few(self, most: int) -> bool:
        """Whether there are certainly at most so many iterations."""
        count = self.count
        return count is not None and count <= most

    @property
    def items(self) -> set[str]:
        """The names that each iteration binds to its item: the target of a `for`, or of all of a comprehension's."""
        return {n.value for each in self.each for n in walk(each.target) if isinstance(n, cst.Name)}

    @property
    def bound(self) -> set[str]:
        """The names that may be bound anew in each iteration: its items and what the body of a loop assigns; for `map`
        and request handlers the parameters of the function."""
        if isinstance(self.place, (cst.For, cst.While)):
            return {definition.name for definition in self.file.bound_within(self.place)}
        function = self.file.contexts.function(self.inside) if not self.each else None
        return self.items if function is None else {each.name.value for each in parameters(function)}

    @property
    def over(self) -> Value | None:
        """What it runs over, `enumerate` and its like taken off; None for a `while`, `map` or request handler."""
        return self.file.contexts.iterated(self.each[0]) if self.each else None

    @property
    def over_data(self) -> bool:
        """Whether it certainly runs over the elements of a tf.data pipeline."""
        return any(self.file.contexts.over_data(each) for each in self.each)

    @property
    def each(self) -> list[cst.For | cst.CompFor]:
        """The `for` statement, or all `for` of a comprehension; empty for what has none."""
        if isinstance(self.place, cst.BaseComp):
            return [each for each in walk(self.place.for_in) if isinstance(each, cst.CompFor)]
        return [self.place] if isinstance(self.place, cst.For) else []


def repeats(file: File, node: Node, *, calls: int = FOLLOWED_CALLS, beyond: int = 0) -> Repetition | None:
    """What runs a node again, unless it is known to run at most `beyond` times: the innermost repetition that may have
    more iterations, or the innermost of several short loops in each other that have more together.

    None where none is seen: the code may be run again by what is in no way visible in this file. Loops whose body
    always leaves them are none. With `calls=0` only what stands in the node's own function counts.
    """
    together, first = 1, None
    for found in repetitions(file, node, calls=calls):
        count = found.count
        if count is None or count > beyond:
            return found
        if not found.calls:
            first, together = first or found, together * count
    return first if together > beyond else None


def repetitions(file: File, node: Node, *, calls: int = FOLLOWED_CALLS) -> Iterator[Repetition]:
    """All that runs a node again, innermost first: comprehensions and loops around it, the server or `map` that its
    function is for, then the same around each call of that function, up to `calls` functions further out.

    Where a function is also called in ways that are not seen, its calls are passed over, and so is a call that does not
    come to the node: `if scores is None:` stands around it, and the call passes scores.
    """
    yield from _repetitions(file, (node,), 0, calls)


def _repetitions(file: File, chain: tuple[Node, ...], between: int, left: int) -> Iterator[Repetition]:
    node = chain[-1]
    for place in (*_comprehensions(file, node), *file.contexts.loops(node)):
        yield Repetition(place, chain, between, file)
    function = file.contexts.function(node)
    if function is None:
        return
    if handles_requests(file, function):
        yield Repetition(function, chain, between, file)
    if not may_run_again(file, function, left):
        return  # and who uses it need not be found
    graph = file.call_graph
    for taker in (graph.given_to(use) for use in graph.uses(function)):
        if taker is not None and _maps(taker):
            yield Repetition(taker.node, chain, between, file)
            if isinstance(function, cst.Lambda):
                yield from _repetitions(file, (*chain, taker.node), between, left)
    for caller in (graph.callers(function) or ()) if left else ():
        further = (*chain, caller.node)
        if decided.reached(file.values, further):
            yield from _repetitions(file, further, between + 1, left - 1)


def _comprehensions(file: File, node: Node) -> Iterator[Node]:
    """The comprehensions of the same statement that evaluate a node for each item, innermost first."""
    for above in file.tree.ancestors(node):
        if above.__class__ in SCOPE_CLASSES or isinstance(above, cst.BaseSmallStatement):
            return
        if isinstance(above, COMPREHENSIONS) and not file.tree.contains(above.for_in.iter, node):
            yield above


def _maps(call: Call) -> bool:
    """Whether a call runs what it is given for each item, in Python: `Dataset.map` traces it, once."""
    return call.method in MAPS and len(call.node.args) > 1 and not (call.name or "").startswith("tf.")


def _repeated_calls(file: File) -> Iterator[Call]:
    for node in file.tree.of(cst.Call):
        if next(_comprehensions(file, node), None) is not None or file.contexts.loop(node) is not None:
            yield file.call(node)


repeated_calls = Fact(_repeated_calls, "for", "while")
"""Each call that a loop or comprehension of the same function runs again."""
