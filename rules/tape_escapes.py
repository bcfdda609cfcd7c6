from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._escapes import escape, is_global
from tfmemlint_rules._tapes import CONSUMES, Tape, tape_of

from tfmemlint.api import Call, Const, File, Finding, Node, Rule, constant, dotted, on_call


class TapeEscapes(Rule):
    """
    ## What it does
    Reports gradient tapes that are stored on an object, in a container or a global, or returned or yielded, while they
    still hold what they recorded.

    ## Why it costs memory
    A tape holds every activation of its forward pass until its gradient is taken; a persistent one until it goes.
    Stored, it keeps them from step to step; in a list, those of all steps.

    ## When not to use it
    For helpers that hand a tape to their caller on purpose; say so with a comment.

    ## References
    - https://www.tensorflow.org/guide/autodiff
    """

    code = "TFM405"
    summary = "a stored tape keeps all activations of its forward pass"
    no_fix = "the program's structure must change"

    @on_call("tf.GradientTape")
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        if file.contexts.traced(made.node):
            return
        persistent = constant(made.value_of("persistent")) is True
        item = file.tree.parent(made.node)
        if isinstance(item, cst.WithItem) and item.asname is not None and isinstance(item.asname.name, cst.Attribute):
            if persistent or not self._consumed_here(item.asname.name, made, file):
                yield self._report(made, "an attribute", file)
            return
        if isinstance(item, cst.Assign) and isinstance(kept := item.targets[0].target, cst.Attribute):
            if (persistent or self._left_open(kept, file)) and not self._dropped(kept, file):
                yield self._report(item, "an attribute", file)
            return
        tape = tape_of(made, file)
        if tape is not None and isinstance(item, cst.WithItem) and item.asname is not None and not tape.gradients:
            if is_global(item.asname.name, file):
                yield self._report(made, "a global", file)
                return
        if tape is None or (tape.gradients and not persistent):
            return
        if tape.deleted:
            return
        for use in tape.uses:
            where, place = escape(use, file)
            if where is not None:
                yield self._report(where, place, file)
                return
        leaving = self._closure(tape, file)
        if leaving is not None:
            yield self._report(leaving, "a function that is returned", file)

    def _closure(self, tape: Tape, file: File) -> cst.Return | None:
        """The statement that returns a nested function which reads the tape."""
        home = file.contexts.function(tape.block)
        if not isinstance(home, cst.FunctionDef):
            return None
        scopes = [file.scope_of(use) for use in file.places(tape.name).captured(home)]
        readers = {s.name.value for s in scopes if isinstance(s, cst.FunctionDef) and file.scope_of(s) is home}
        for leaving in file.returns(home) if scopes else ():
            if isinstance(leaving.value, cst.Name) and leaving.value.value in readers:
                return leaving
            if any(leaving.value is made for made in scopes):
                return leaving
        return None

    def _dropped(self, attribute: cst.Attribute, file: File) -> bool:
        """Whether the attribute is deleted or set to something else anywhere: then the tape goes."""
        name = attribute.attr.value
        for node in file.tree.of(cst.Attribute):
            if node is not attribute and node.attr.value == name and isinstance(file.tree.parent(node), cst.Del):
                return True
        others = [a for a in file.tree.of(cst.Assign) if file.contexts.function(a) is not None]
        return any(
            isinstance(t.target, cst.Attribute) and t.target is not attribute and t.target.attr.value == name
            and file.value(a.value) == Const(None) and not _initialises(a, file)
            for a in others for t in a.targets
        )  # fmt: skip

    def _left_open(self, attribute: cst.Attribute, file: File) -> bool:
        """Whether methods enter the tape of an attribute, and only others take its gradient."""
        uses = [n for n in file.tree.of(cst.Attribute) if isinstance(n.value, cst.Attribute)]
        uses = [n for n in uses if dotted(n.value) == dotted(attribute)]
        entering = {file.contexts.function(n) for n in uses if n.attr.value == "__enter__"}
        entering |= {file.contexts.function(b) for b in file.tree.of(cst.With) if self._enters(b, attribute)}
        taking = {file.contexts.function(n) for n in uses if n.attr.value in CONSUMES}
        return bool(entering) and bool(taking) and not entering & taking

    def _enters(self, block: cst.With, attribute: cst.Attribute) -> bool:
        return any(dotted(item.item) == dotted(attribute) for item in block.items)

    def _consumed_here(self, attribute: cst.Attribute, made: Call, file: File) -> bool:
        """Whether the function that enters the tape also takes its gradient."""
        function = file.contexts.function(made.node)
        return any(
            isinstance(call.func, cst.Attribute) and file.contexts.function(call) is function
            and isinstance(call.func.value, cst.Attribute) and call.func.value.attr.value == attribute.attr.value
            for method in CONSUMES for call in file.calls_by_word.get(method, ())
        )  # fmt: skip

    def _report(self, where: Node | Call, place: str, file: File) -> Finding:
        return self.finding(
            where,
            file,
            f"this tape goes into {place} while it holds all activations of its forward pass; take its gradient first",
        )


def _initialises(assign: cst.Assign, file: File) -> bool:
    function = file.contexts.function(assign)
    return isinstance(function, cst.FunctionDef) and function.name.value == "__init__"
