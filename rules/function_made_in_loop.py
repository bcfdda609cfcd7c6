from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._function_made_in_loop import (
    made_by_callers,
    made_for_one_call,
    same_each_time,
    sometimes,
    values_closed_over,
)

from tfmemlint.api import Does, File, Finding, Fix, Node, Rule, Safety, Shows, Use, facts, fixes, on, repetition, uses

ANEW = (
    "this makes a new traced function each time it runs: nothing is reused and every call traces again; make it once"
)


class FunctionMadeInLoop(Rule):
    """
    ## What it does
    Reports `tf.function(...)`, or a decorated `def`, that is evaluated in each iteration of a loop, or in a function
    that is called in a loop and uses it itself; and traced methods of objects that a loop makes for one call each.

    ## Why it costs memory
    Each evaluation makes a new traced function with an empty cache: it is traced again in every iteration, and graphs
    that hold an optimizer or a custom gradient are never freed. Where the function closes over a value of the loop, or
    is a method of an object that the loop drops, its graphs are freed, but each call takes the time of a trace: a
    tensor as an argument, or one object, needs one trace for all.

    ## Fix safety
    Unsafe: a function that closes over nothing that the loop makes moves before the loop; traces that are shared then
    see the values that the first one saw. Elsewhere there is no fix.

    ## When not to use it
    One function for each model or key, kept and called often, is right; such loops are not reported.

    ## References
    - https://www.tensorflow.org/guide/function
    """

    code = "TFM502"
    summary = "a traced function made in a loop is traced again in each iteration"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on(facts.functions_given_to("tf.function"))
    def check(self, traced: facts.Wrapped, file: File) -> Iterator[Finding]:
        made = traced.made
        if file.contexts.traced(made):
            return
        if any(self._keeps(use, file) for use in uses(file, made)):
            yield from self._for_one_call(traced, file)
            return
        loop, comprehension = file.contexts.loop(made), file.contexts.comprehension(made)
        inside = loop is not None and not sometimes(file, made, loop) and same_each_time(file, made, loop)
        in_each_item = comprehension is not None and not repetition.bound_anew(file, made, comprehension)
        if inside or in_each_item or made_by_callers(file, made):
            yield self.finding(
                traced.where,
                file,
                ANEW,
                fix=self._hoist(made, file) if inside else None,
                related=[(loop, "the loop")] if loop is not None else [],
                shows=_shows(traced),
            )
        elif names := ", ".join(values_closed_over(file, traced)):
            yield self.finding(
                traced.where,
                file,
                f"this is traced again in each iteration, as it closes over {names}: a trace takes far longer than a "
                "call; pass tensors to one traced function",
                related=[(loop, "the loop")] if loop is not None else [],
                shows=_shows(traced),
            )
        else:
            yield from self._for_one_call(traced, file)

    def _for_one_call(self, traced: facts.Wrapped, file: File) -> Iterator[Finding]:
        one = made_for_one_call(file, traced)
        if one is not None:
            yield self.finding(
                traced.where,
                file,
                "each object traces this method for itself, and a loop makes one for each call: a trace takes far "
                "longer than a call; make one object",
                related=[(one, "made here in each iteration")],
                shows=_shows(traced),
            )

    @on(repetition.imported_functions_given_to("tf.function"))
    def imported(self, traced: facts.Wrapped, file: File) -> Iterator[Finding]:
        made, around = traced.made, file.contexts.function(traced.made)
        kept = any(self._keeps(use, file) for use in uses(file, made))
        if around is None or kept or file.contexts.traced(made) or not made_by_callers(file, made):
            return
        for call in file.call_graph.callers(around) or ():
            loop = file.contexts.loop(call.node)
            if loop is not None and file.is_own(call.node):
                places = [(loop, "the loop"), (traced.where, "made here")]
                yield self.finding(call, file, ANEW, related=places, shows=_shows(traced))

    def _keeps(self, use: Use, file: File) -> bool:
        """Whether the function goes where it is used again: into a container, another place in each iteration, or an
        attribute that lives on after its method."""
        if use.does is Does.RETURN:
            return isinstance(use.place, cst.Yield)
        if use.does is not Does.STORE or not isinstance(use.place, cst.Attribute) or use.call is not None:
            return use.does is Does.STORE
        loop = file.contexts.loop(use.place)
        return loop is None or bool(repetition.bound_anew(file, use.place.value, loop))

    def _hoist(self, made: Node, file: File) -> Fix | None:
        if not isinstance(made, cst.FunctionDef) and not isinstance(file.tree.parent(made), cst.Assign):
            return None  # it is called at once: what it gives is not to move
        fix = fixes.hoist(file, [file.tree.statement(made)], "make it before the loop")
        left = fixes.loops_left(file, fix, made)[:1]
        again = any(same_each_time(file, made, outer) for outer in left) or made_by_callers(file, made)
        return fix if not again else None


def _shows(traced: facts.Wrapped) -> Shows:
    name = traced.function.name.value if isinstance(traced.function, cst.FunctionDef) else ""
    return Shows(metric="traces_slope", function=name)
