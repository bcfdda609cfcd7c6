"""Method calls that carry one pipeline on, as they are written: which follow each other, which may trade places."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.inferred_by_use import chain
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import MOST_STEPS, Dataset
from tfmemlint.syntax.scopes import FUNCTIONS, Binds, dotted, written

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

ENDS = frozenset({
    "as_numpy_iterator", "reduce", "cardinality", "save", "get_single_element", "make_one_shot_iterator",
    "make_initializable_iterator", "__iter__", "__len__", "options",
})  # fmt: skip
"""Methods of a pipeline that give something else than a pipeline."""

GOES_ON = frozenset({"batch", "padded_batch", "shuffle", "repeat", "cache"})
"""Steps by which a pipeline is made ready for a model."""


def is_step(call: Call) -> bool:
    """Whether a call certainly makes a pipeline of the pipeline before the dot."""
    name = call.name or ""
    last = name.rpartition(".")[2]
    return name.startswith("tf.data.Dataset.") and last not in ENDS and isinstance(call.node.func, cst.Attribute)


def chain_root(node: cst.BaseExpression) -> cst.BaseExpression:
    """What stands before the first dot of a chain of method calls: `ds` of `ds.map(f).batch(2)`."""
    while isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute):
        node = node.func.value
    return node


def chain_end(file: File, node: cst.Call) -> cst.Call:
    """The whole chain of method calls that goes on from a call; the call itself where none follows it."""
    while (after := called_on(file, node)) is not None:
        node = after
    return node


def thrown_away(file: File, call: Call) -> bool:
    """Whether nothing takes the pipeline that a chain of steps makes: `ds.shuffle(100)` as a statement leaves `ds` as
    it was, and nothing ever runs the step."""
    return isinstance(file.tree.parent(chain_end(file, call.node)), cst.Expr)


def called_on(file: File, node: Node) -> cst.Call | None:
    """The call of a method of what an expression gives, where one stands right behind it."""
    attribute = file.tree.parent(node)
    above = file.tree.parent(attribute) if isinstance(attribute, cst.Attribute) else None
    return above if isinstance(above, cst.Call) and above.func is attribute else None


# -- links that may trade places -------------------------------------------------------------------------------------


def links(file: File, calls: Iterable[Call | None]) -> list[Call] | None:
    """The calls, if each certainly hands its pipeline on to the next alone, so that links may trade places; else None,
    as where one of the calls is None."""
    found: list[Call] = []
    for call in calls:
        if call is None or (found and not hands_on(file, found[-1], call)):
            return None
        found.append(call)
    return found


def hands_on(file: File, first: Call, second: Call) -> bool:
    """Whether `second` is the only thing that takes what `first` gives, in the same chain or the next statement."""
    receiver = second.receiver_node
    if receiver is first.node:
        return True
    made = file.only_definition(receiver) if isinstance(receiver, cst.Name) else None
    if made is None or made.value is not first.node or made.path:
        return False
    if made.binds is not Binds.VALUE or len(file.readers(made)) != 1:
        return False
    return _adjacent(file, file.tree.statement(first.node), file.tree.statement(second.node))


def _adjacent(file: File, first: Node, second: Node) -> bool:
    block = file.tree.parent(first)
    if block is None or block is not file.tree.parent(second) or isinstance(second, (cst.FunctionDef, cst.While)):
        return False
    body = list(getattr(block, "body", ()))
    places = [i for i, statement in enumerate(body) if statement is first or statement is second]
    return len(places) == 2 and places[1] - places[0] == 1


def last_call(file: File, ds: Dataset) -> Call | None:
    """The last call that made a pipeline: of its last step, of `apply` for what that was given, or the source's; None
    where it is not seen."""
    last = ds.steps[-1].call if ds.steps else ds.call
    argument = file.tree.parent(last.node) if last is not None else None
    outer = file.tree.parent(argument) if isinstance(argument, cst.Arg) else None
    applying = file.call(outer) if isinstance(outer, cst.Call) else None
    return applying if applying is not None and applying.name == "tf.data.Dataset.apply" else last


def following(file: File, call: Call) -> list[Call]:
    """The steps that the pipeline takes after this call, as far as each is certainly handed to the next alone."""
    found: list[Call] = []
    while len(found) < MOST_STEPS:
        after = _next(file, found[-1] if found else call)
        if after is None:
            break
        found.append(after)
    return found


def _next(file: File, call: Call) -> Call | None:
    node: Node = call.node
    assign = file.tree.parent(node)
    if isinstance(assign, cst.Assign):
        target = assign.targets[0].target
        made = file.definition(target) if isinstance(target, cst.Name) and len(assign.targets) == 1 else None
        uses = file.uses_of(made) if made is not None else []
        if len(uses) != 1:
            return None
        node = uses[0]
    called = called_on(file, node)
    after = file.call(called) if called is not None else None
    return after if after is not None and is_step(after) and hands_on(file, call, after) else None


def keeps_names(file: File, chain: Sequence[Call]) -> bool:
    """Whether links of a chain can change places and each name that the module keeps is the same pipeline afterwards:
    they stand in one statement, in statements that rebind one name, or in a function."""
    statements = {id(line): line for line in (file.tree.statement(call.node) for call in chain)}
    if len(statements) == 1 or isinstance(file.scope_of(chain[0].node), FUNCTIONS):
        return True
    names: set[str | None] = set()
    for line in statements.values():
        small = line.body[0] if isinstance(line, cst.SimpleStatementLine) else None
        targets = small.targets if isinstance(small, cst.Assign) else ()
        names.add(dotted(targets[0].target) if len(targets) == 1 else None)
    return len(names) == 1 and None not in names


# -- the same pipeline, further on -----------------------------------------------------------------------------------


def later_steps(file: File, call: Call, *names: str) -> list[Call]:
    """The steps of these names that certainly go on with the pipeline which a step gives, wherever they stand: in the
    same chain, on the name that it is bound to, or in the functions that it is given to or returned from.

    Left out are steps that derive another pipeline beside it, and those of a caller where other callers do not go on.
    """
    possible = possible_later_steps(file, call, *names)
    later = [each for each in possible if not _runs_earlier(file, each, call) and _same(file, call, each)]
    return [each for each in later if _of_all_callers(file, call, each, later)]


def possible_later_steps(file: File, call: Call, *names: str) -> list[Call]:
    """The steps of these names whose pipeline may have come through this step, in any of the file's ways."""
    return _later(file, names).get(call.node, [])


@once_per_file
def _later(file: File, names: tuple[str, ...]) -> dict[Node, list[Call]]:
    """The steps of these names that may come after a step, by the node of the earlier one's call."""
    found: dict[Node, list[Call]] = {}
    for call in file.calls(*(f"tf.data.Dataset.{name}" for name in names)):
        for step in (step for ds in call.datasets() for step in ds.steps):
            if step.call is not None and call not in found.setdefault(step.call.node, []):
                found[step.call.node].append(call)
    return found


def _runs_earlier(file: File, step: Call, call: Call) -> bool:
    """Whether a step stands before a call in the same function and no loop goes round both: then it only goes on with
    what the call gives where the function runs again, as on an attribute that the last run has set."""
    if file.scope_of(step.node) is not file.scope_of(call.node):
        return False
    again = any(file.tree.contains(loop, step.node) for loop in file.contexts.loops(call.node))
    return not again and file.tree.order(step.name_node) < file.tree.order(call.name_node)


def _same(file: File, first: Call, later: Call) -> bool:
    """Whether a step goes on with what the first gives, and not with a pipeline that is derived beside it or that
    others read too."""
    between = [later]
    for ds in later.datasets():
        made = [step.call for step in ds.steps if step.call is not None]
        start = next((i for i, each in enumerate(made) if each.node is first.node), len(made))
        between += [each for each in made[start + 1 :] if isinstance(each.receiver_node, cst.Name)]
    if not all(file.tree.contains(each.node, first.node) or same_pipeline(file, each) for each in between):
        return False
    return not _lent(file, first, later)


def _lent(file: File, first: Call, later: Call) -> bool:
    """Whether a step stands in a function that is given the pipeline by a name which others read too."""
    function, root = file.contexts.function(later.node), chain_root(later.node)
    if function is None or function is file.contexts.function(first.node) or not isinstance(root, cst.Name):
        return False
    if not any(d.binds is Binds.PARAMETER for d in file.definitions(root)):
        return False
    callers = file.call_graph.callers(function) or ()
    given = [arg.value for caller in callers for arg in caller.node.args if isinstance(arg.value, cst.Name)]
    return any(len(file.readers(d)) > 1 for name in given for d in written(file.definitions(name)))


def _of_all_callers(file: File, first: Call, later: Call, all_later: list[Call]) -> bool:
    """Not a caller that repeats what a function gives, or goes on where other callers do not."""
    function = file.contexts.function(first.node)
    if function is None or function is file.contexts.function(later.node):
        return True
    callers = file.call_graph.callers(function)
    if later.method == "repeat" or not callers:
        return False
    starts = {id(other.receiver_node) for other in all_later if other.method in ("batch", "padded_batch")}
    return len(callers) == 1 or all(id(caller.node) in starts for caller in callers)


@once_per_file
def same_pipeline(file: File, call: Call) -> bool:
    """Whether a step certainly carries on with the pipeline before it and does not derive another beside it.

    It stands in the chain, takes what a function gives, rebinds the name, or everything else that is made of the name
    is a pipeline that goes on from there too, as the parts of a split are.
    """
    receiver = call.receiver_node
    while isinstance(receiver, cst.Call) and isinstance(receiver.func, cst.Attribute) and is_step(file.call(receiver)):
        if not file.call(receiver).datasets():
            return True
        receiver = receiver.func.value
    if receiver is None or isinstance(receiver, cst.Call):
        return receiver is not None
    assign = file.tree.parent(chain_end(file, call.node))
    if isinstance(assign, cst.Assign) and any(file.text(t.target) == file.text(receiver) for t in assign.targets):
        return True
    return isinstance(receiver, cst.Name) and not _derived_beside(file, call, receiver)


def _derived_beside(file: File, call: Call, name: cst.Name) -> bool:
    """Whether something else than pipelines that go on from there is made of a name, or several of it in a loop."""
    found = file.definitions(name)
    definitions = written(found)
    if not definitions or len(definitions) < len(found) or any(d.binds is not Binds.VALUE for d in definitions):
        return True
    loop = file.contexts.loop(call.node)
    if loop is not None and any(not file.tree.contains(loop, d.node) for d in definitions):
        return True
    readers = [file.readers(d) for d in definitions]
    return any(len(each) != 1 and not all(_goes_on(file, use) for use in each) for each in readers)


def _goes_on(file: File, use: cst.Name) -> bool:
    """Whether a use starts a chain that makes a pipeline of its own for a model."""
    words = {call.func.attr.value for call in chain(file.values, use) if isinstance(call.func, cst.Attribute)}
    return bool(words & GOES_ON) and "unbatch" not in words


# -- the statements of a pipeline ------------------------------------------------------------------------------------


def pipeline_parts(file: File, source: Call, within: Node, *, derived: bool = True) -> list[Node]:
    """The chain that starts at a source, and those in `within` that carry it on: `ds = ds.batch(32)` and, with
    `derived`, those under other names, `batches = ds.batch(32)`."""
    end = chain_end(file, source.node)
    parts: list[Node] = [end]
    assign = file.tree.parent(end)
    target = assign.targets[0].target if isinstance(assign, cst.Assign) else None
    waiting = [target.value] if isinstance(target, cst.Name) else []
    made = [d for found in file.flow(file.scope_of(end)).bindings.values() for d in found]
    followed: set[str] = set()
    while waiting:
        name = waiting.pop()
        followed.add(name)
        for d in made:
            if d.value is None or any(d.value is part for part in parts) or not file.tree.contains(within, d.node):
                continue
            if not (isinstance(d.value, cst.BaseExpression) and dotted(chain_root(d.value)) == name):
                continue
            if d.name == name or (derived and isinstance(file.value(d.value), Dataset)):
                parts.append(d.value)
                if d.name not in followed:
                    waiting.append(d.name)
    return parts
