"""Gradient tapes: the block that records, the gradients that are taken of the record, and what else has the tape."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import constant
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.ordering.order import exclusive, needed_statements
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

TAPE = "tf.GradientTape"

TAKES = frozenset({"gradient", "jacobian", "batch_jacobian"})
"""Methods that read the record; a tape that is not persistent lets it go with the first of them."""

KEEPS_NOTHING = frozenset({"watch", "stop_recording", "reset", "watched_variables"})
"""Methods that give nothing away by which the record could be reached."""


@dataclass(frozen=True, eq=False)
class Tape:
    """The tape that one `with` statement enters and a name holds.

    `made` is the call that makes it, `block` the statement, `name` the name by which the block knows it, `uses`
    everything that the code does with it.
    """

    file: File
    made: Call
    block: cst.With
    name: str
    uses: tuple[Use, ...]

    @cached_property
    def persistent(self) -> bool | None:
        """Whether it keeps its record when a gradient is taken; None where that is not known."""
        if self.made.lacks("persistent"):
            return False
        value = constant(self.made.value_of("persistent"))
        return value if isinstance(value, bool) else None

    @cached_property
    def names(self) -> tuple[str, ...]:
        """All names that hold it, in the order in which they are used: `recorder` of `with recorder as tape`, too."""
        return tuple(dict.fromkeys(use.node.value for use in self.uses if isinstance(use.node, cst.Name)))

    @cached_property
    def traced(self) -> bool:
        """Whether the block runs in traced code, where the record is a part of the graph and costs nothing."""
        return self.file.contexts.traced(self.made.node)

    @cached_property
    def gradients(self) -> tuple[Call, ...]:
        """The calls that take a gradient or Jacobian of it, in source order; those of functions inside left out."""
        found = [use.call for use in self.uses if takes_gradient(use) and not use.captured and use.call is not None]
        return tuple(sorted(found, key=lambda call: self.file.tree.order(call.node)))

    @cached_property
    def deleted(self) -> tuple[cst.Del, ...]:
        """The `del` statements of its name."""
        places = (use.place for use in self.uses if use.does is Does.DELETE)
        return tuple(place for place in places if isinstance(place, cst.Del))

    @cached_property
    def escapes(self) -> bool:
        """Whether something else than its name may hold it: it is passed, stored, returned, or read by a function
        inside, or a method is called that is not known. Where it is False, the record goes with the name."""
        return any(use.captured or not _harmless(use) for use in self.uses)

    # -- gradients ---------------------------------------------------------------------------------------------------

    @cached_property
    def of_one_run(self) -> tuple[Call, ...]:
        """The first gradients that one run of the code may take, two at most: of those in branches that exclude each
        other only the first."""
        found: list[Call] = []
        for gradient in self.gradients:
            if len(found) < 2 and not any(exclusive(self.file, gradient.node, other.node) for other in found):
                found.append(gradient)
        return tuple(found)

    @cached_property
    def several(self) -> bool:
        """Whether more than one gradient may be taken of one record."""
        return len(self.of_one_run) > 1 or any(map(self._again, self.gradients))

    def _again(self, gradient: Call) -> bool:
        """Whether a gradient is taken in a loop or comprehension that does not make the tape anew."""
        contexts, tree = self.file.contexts, self.file.tree
        loops = (loop for loop in contexts.loops(gradient.node) if not tree.contains(loop, self.block))
        return contexts.comprehension(gradient.node) is not None or next(loops, None) is not None

    @cached_property
    def targets(self) -> frozenset[str]:
        """The names in what its gradients differentiate."""
        given = (gradient.arg("target") for gradient in self.gradients)
        return frozenset(n.value for arg in given if arg is not None for n in walk(arg.expression, cst.Name))

    @cached_property
    def _differentiated(self) -> tuple[Node, ...]:
        """The code that says what its gradients are taken of: their arguments, and what loops around them run over."""
        found: list[Node] = []
        for gradient in self.gradients:
            if self.file.contexts.comprehension(gradient.node) is not None:
                found.append(self.file.tree.statement(gradient.node))
            else:
                found += [arg.value for arg in gradient.node.args]
            found += [loop.iter for loop in self.file.contexts.loops(gradient.node) if isinstance(loop, cst.For)]
        return tuple(found)

    @cached_property
    def of_higher_order(self) -> bool:
        """Whether what is computed of its gradients, in the same function, is differentiated by it again."""
        return not self.targets.isdisjoint(self._computed())

    def _computed(self) -> set[str]:
        """The names that hold its gradients or something computed from them, within its function."""
        file, scope = self.file, self.file.scope_of(self.block)
        above = (node for gradient in self.gradients for node in file.tree.ancestors(gradient.node))
        pending = [node for node in above if isinstance(node, cst.Assign) and file.scope_of(node) is scope]
        found: set[str] = set()
        while pending:
            new = {name for target in pending.pop().targets for name in _names(target.target)} - found
            found |= new
            pending += [assign for name in new for assign in file.assigned(scope).reading.get(name, ())]
        return found

    # -- the block ---------------------------------------------------------------------------------------------------

    @cached_property
    def body(self) -> list[Node]:
        """The statements of the block; none for one on the line of its header."""
        return list(self.block.body.body) if isinstance(self.block.body, cst.IndentedBlock) else []

    @cached_property
    def recorded(self) -> list[Node]:
        """The statements of the block that are recorded: of a tape that is not persistent only those before its first
        gradient, which ends the recording."""
        if self.persistent is True:
            return self.body
        places = [self.file.tree.holding(self.body, gradient.node) for gradient in self.gradients]
        return self.body[: min((place for place in places if place is not None), default=len(self.body))]

    @cached_property
    def together(self) -> tuple[Tape, ...]:
        """All tapes that the statement enters, this one among them, in their order; empty where one is kept in a way
        that `tape_of` does not know."""
        found = _entered_by(self.file, self.block)
        return () if found is None else found or (self,)

    @cached_property
    def needed(self) -> frozenset[Node]:
        """The statements of the block on which depends what the gradients of its tapes are taken of."""
        first = next(iter(self.together), self)
        if first is not self:  # what one of them needs, all do
            return first.needed
        code = [code for tape in self.together for code in tape._differentiated]
        return frozenset(needed_statements(self.file, self.block, code, but=[tape.name for tape in self.together]))

    @cached_property
    def inside_another(self) -> bool:
        """Whether the block stands in that of another tape of the same function, which records it as well."""
        return self.file.contexts.entered(self.block, TAPE) is not None

    @cached_property
    def holds_another(self) -> bool:
        """Whether the block makes another tape."""
        return any(calls(self.file, self.block.body, TAPE))

    def lines(self, statement: Node) -> Iterator[cst.SimpleStatementLine]:
        """The lines of a statement of the block that are recorded: those of functions inside, and where recording is
        stopped, are not."""
        scope = self.file.scope_of(self.block)
        for line in walk(statement, cst.SimpleStatementLine):
            if self.file.scope_of(line) is scope and not self.stopped(line):
                yield line

    def stopped(self, node: Node) -> bool:
        """Whether a node of the block stands in `with tape.stop_recording()`."""
        inner = (block for block in self.file.contexts.withs(node) if block is not self.block)
        return any(any(calls(self.file, item, "stop_recording")) for block in inner for item in block.items)

    @cached_property
    def last_use(self) -> Node | None:
        """The statement, of those among which the block stands, that uses the tape last; None where one uses it that
        stands elsewhere."""
        siblings = list(getattr(self.file.tree.parent(self.block), "body", ()))
        places = [self.file.tree.holding(siblings, node) for node in (self.block, *(use.node for use in self.uses))]
        known = [place for place in places if place is not None]
        return siblings[max(known)] if len(known) == len(places) else None

    @cached_property
    def rebound(self) -> bool:
        """Whether the name is bound to something else after the last gradient, which lets the tape go."""
        last = self.file.tree.order(self.gradients[-1].node) if self.gradients else 0
        bindings = self.file.flow(self.file.scope_of(self.block)).bindings.get(self.name, ())
        return any(self.file.tree.order(definition.node) > last for definition in bindings)


def tape_of(file: File, made: Call) -> Tape | None:
    """The tape that a call of `tf.GradientTape` makes, where exactly one `with` statement enters it and a name holds it
    (`with GradientTape() as tape`, or `tape = GradientTape()` and `with tape`); None where it is kept otherwise."""
    return _by_making(file).get(made.node)


def tape_of_gradient(file: File, gradient: Call) -> Tape | None:
    """The tape of which a call takes a gradient or Jacobian; None where it is not one of `tape_of`."""
    return _by_gradient(file).get(gradient.node)


@once_per_file
def _entered_by(file: File, block: cst.With) -> tuple[Tape, ...] | None:
    """The tapes that a statement enters by making them; None where one is kept in a way that is not known."""
    items = [item.item for item in block.items if isinstance(item.item, cst.Call)]
    found = [tape_of(file, made) for made in map(file.call, items) if made.name == TAPE]
    known = tuple(tape for tape in found if tape is not None)
    return known if len(known) == len(found) else None


@once_per_file
def _by_making(file: File) -> dict[Node, Tape]:
    return {tape.made.node: tape for tape in tapes.of(file)}


@once_per_file
def _by_gradient(file: File) -> dict[Node, Tape]:
    return {gradient.node: tape for tape in tapes.of(file) for gradient in tape.gradients}


def _tapes(file: File) -> Iterator[Tape]:
    for made in file.calls(TAPE):
        tape = _made_by(file, made)
        if tape is not None:
            yield tape


tapes = Fact(_tapes, TAPE)
"""Each gradient tape that one `with` statement enters and a name holds: see `tape_of`."""


def _made_by(file: File, made: Call) -> Tape | None:
    found = tuple(uses(file, made.node))
    entered = [use for use in found if use.does is Does.ENTER]
    if len(entered) != 1 or not isinstance(entered[0].place, cst.With):
        return None
    node, block = entered[0].node, entered[0].place
    item = next(item for item in block.items if item.item is node)
    name = item.asname.name if item.asname is not None else node
    return Tape(file, made, block, name.value, found) if isinstance(name, cst.Name) else None


def takes_gradient(use: Use) -> bool:
    """Whether a use of a tape takes a gradient or Jacobian of its record, which lets the record go if the tape is not
    persistent."""
    return use.does is Does.METHOD and use.word in TAKES


def _harmless(use: Use) -> bool:
    if use.does is Does.METHOD:
        return use.word in TAKES or use.word in KEEPS_NOTHING
    return use.does in (Does.ENTER, Does.DELETE)


def _names(target: Node) -> list[str]:
    """The names that an assignment binds; what stands before a dot or bracket is none of them."""
    if isinstance(target, cst.Name):
        return [target.value]
    elements = target.elements if isinstance(target, (cst.Tuple, cst.List)) else ()
    return [name for element in elements for name in _names(element.value)]
