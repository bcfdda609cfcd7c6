"""Graphs of TensorFlow 1: which expressions add a node to the default graph, and what code has a graph of its own."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Iterator as Iterable
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Api, Array, Const, Function, Instance, Iterator, Method
from tfmemlint.query.calls import calls
from tfmemlint.query.keras.sessions import SESSION, session_runs
from tfmemlint.query.keras.updates import updates_graph
from tfmemlint.query.keras.versions import own_engine
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.ordering.conditions import conditions
from tfmemlint.query.ordering.once import runs_once
from tfmemlint.syntax.scopes import Binds, Definition, dotted, own_nodes, written
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

CLASSES = frozenset({"Variable", "Saver"})
"""Classes whose constructors add nodes; those of others make plain objects."""

OF_ITERATORS = frozenset({"get_next", "make_one_shot_iterator", "make_initializable_iterator"})
OPERATORS = (
    cst.Add, cst.Subtract, cst.Multiply, cst.Divide, cst.Power, cst.MatrixMultiply, cst.FloorDivide, cst.Modulo,
)  # fmt: skip

ENDS = frozenset({"input", "output"})
"""Attributes of models that are tensors."""

WEIGHTS = frozenset({"trainable_variables", "trainable_weights", "non_trainable_weights", "variables", "weights"})
"""Attributes of models that are lists of variables."""

GETS_VARIABLE = ("tf.get_variable", "tf.compat.v1.get_variable")
SCOPES = ("tf.variable_scope", "tf.compat.v1.variable_scope")
REUSES = Api("tf.compat.v1.AUTO_REUSE")

PRIVATE, PRIVATE_OPS = "tf.python.", "tf.python.ops."
"""TensorFlow's own modules, of which only those of the second name are certainly ops: others log, or read files."""

PUBLIC = ("tf", "tf.compat.v1")
"""Where what these modules hold has its public name."""

EMPTIES = ("clear_session", "reset_default_graph")
"""Words of calls after which the default graph is a new one."""

TURNS_EAGER_OFF = frozenset(name.rpartition(".")[2] for name in knowledge.group("turns_eager_off"))
"""Words by which a module has one graph for the whole program."""

OPS = (cst.Call, cst.BinaryOperation, cst.UnaryOperation, cst.Subscript)
"""The classes of expressions that can be ops."""


def ops_built(file: File, part: Node, *, leave_out: Callable[[Node], bool] | None = None) -> Iterable[Node]:
    """The outermost ops that each run of a loop, comprehension or function certainly adds to the default graph, in the
    order of the code, with those of the module's functions that it calls, `FOLLOWED_CALLS` behind each other.

    What `runs_once` or only in eager execution is left out, and so are functions that begin a graph of their own.
    `leave_out` says of ops and calls in the part itself which of them do not count.
    """
    for node in _ops_and_calls(part):
        if leave_out is None or not leave_out(node):
            yield from _ops_of(file, node, part, FOLLOWED_CALLS)


def _ops_and_calls(part: Node) -> Iterable[Node]:
    code = part.body if isinstance(part, (cst.For, cst.While)) else part
    return own_nodes(part, *OPS) if isinstance(part, cst.FunctionDef) else walk(code, *OPS)


def _ops_of(file: File, node: Node, part: Node, left: int) -> Iterable[Node]:
    """What one op or call of a part adds."""
    if not isinstance(node, OPS) or runs_once(file, node, part) or _only_eager(file, node, part):
        return
    if makes_op(file, node):
        if is_outermost_op(file, node):
            yield node
    elif isinstance(node, cst.Call) and left:
        for target in file.call(node).target.options:
            if isinstance(target, Function) and isinstance(target.node, cst.FunctionDef):
                if not begins_graph(file, target.node):
                    for inner in _ops_and_calls(target.node):
                        yield from _ops_of(file, inner, target.node, left - 1)


def begins_graph(file: File, code: Node) -> bool:
    """Whether some code makes or enters a graph of its own, or empties the default one, by a call whose word says so.
    Of functions of the module that it calls only emptying counts: a graph that they make is theirs alone."""
    if any(_begins_graph(call) for call in calls(file, code)):
        return True
    return next(calls(file, code, *EMPTIES, through=FOLLOWED_CALLS), None) is not None


def _only_eager(file: File, node: Node, within: Node) -> bool:
    """Whether an `if` lets code run only where there is no graph: `if tf.executing_eagerly():`."""
    return any(
        isinstance(found, (cst.If, cst.IfExp))
        and isinstance(found.test, cst.Call)
        and file.call(found.test).name == "tf.executing_eagerly"
        and file.tree.contains(found.body, node)
        for found in conditions(file, node, within)
    )


def _begins_graph(call: Call) -> bool:
    if call.method != "as_default":
        return call.method == "Graph" or call.method in EMPTIES
    receiver = call.receiver
    kind = str(receiver.type_name) if isinstance(receiver, Instance) else ""
    return kind != SESSION and "Writer" not in kind  # sessions and summary writers are entered so, too


def graph_runs(file: File) -> list[Call]:
    """The calls that certainly run a graph: those of sessions, and of what is not known but is given an op of version
    1, `self.sess.run(tf.compat.v1.assign(v, x))`, or derivatives that only a graph has, as nothing else takes one; that
    is a session then, in all of its function."""
    known = session_runs(file)
    found = [call for call in map(file.call, file.calls_by_word.get("run", ())) if call not in known]
    others = [call for call in found if call.node.args]
    certain = [call for call in others if _runs_old_op(file, call)]
    sessions = {_session(file, call) for call in certain} - {None}
    return known + [call for call in others if call in certain or (sessions and _session(file, call) in sessions)]


def _session(file: File, call: Call) -> tuple[object, ...] | None:
    """What tells apart the objects whose method is called in a function: the path that is written there, and what binds
    it. None for what is no path."""
    receiver = call.receiver_node
    path = dotted(receiver) if receiver is not None else None
    if receiver is None or path is None:
        return None
    bound = (id(each) for part in walk(receiver, cst.Name, cst.Attribute) for each in file.definitions(part))
    return (file.contexts.function(call.node), path, *bound)


def graph_functions(file: File) -> list[Call]:
    """The calls of `K.function` in a program that certainly has one graph: it differentiates that, is of version 1 or
    turns eager execution off. Each adds to the graph, and gives a function that runs it."""
    found = file.calls("tf.keras.backend.function")
    graph = [*knowledge.group("differentiates_graph"), *knowledge.group("turns_eager_off")]
    if not file.before_version_2 and all(file.contexts.traced(call.node) for call in file.calls(*graph)):
        return []
    return [call for call in found if not file.contexts.traced(call.node)]


def _runs_old_op(file: File, call: Call) -> bool:
    if any(isinstance(target, Function) for target in call.target.options):
        return False
    given = file.written(call.node.args[0].value)
    fetched = [each.value for each in given.elements] if isinstance(given, (cst.List, cst.Tuple)) else [given]
    return any(_is_old_op(file, each) for each in fetched)


def _is_old_op(file: File, node: Node) -> bool:
    name = file.call(node).name if isinstance(node, cst.Call) else None
    old = (name or "").startswith("tf.compat.v1.") and makes_op(file, node)
    return old or knowledge.in_group(name, "differentiates_graph")


def in_graph_program(file: File, function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether the program has one graph, that of sessions, in which a function works: it may be of version 1, a module
    of it turns eager execution off, it trains on Keras's graph, it runs on Keras with an engine of its own, or the
    function or its class makes variables by scopes and names."""
    if file.may_be_version_1 or own_engine(file) or updates_graph(file):
        return True
    if any(file.calls(*knowledge.group("turns_eager_off"))):
        return True
    if any(not text.words.isdisjoint(TURNS_EAGER_OFF) for text in file.around):
        return True
    code = file.class_of(function) or function
    named = (file.call(node).name for node in walk(code, cst.Call))
    return any(knowledge.in_group(name, "makes_graph_variables") for name in named)


def in_own_graph(file: File, node: Node, within: Node) -> bool:
    """Whether code stands in a `with` statement that makes a graph anew each time that `within` around it runs."""
    blocks = (block for block in file.contexts.withs(node) if file.tree.contains(within, block))
    return any(any(calls(file, item.item, "Graph")) for block in blocks for item in block.items)


def makes_op(file: File, node: Node) -> bool:
    """Whether an expression certainly adds a node to the default graph, in a program that builds one: an operator of
    tensors, an item of one, or a call of TensorFlow that is not known to add none. False where it is not known what is
    called."""
    if isinstance(node, cst.BinaryOperation):
        return isinstance(node.operator, OPERATORS) and (_is_tensor(file, node.left) or _is_tensor(file, node.right))
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, cst.Minus) and _is_tensor(file, node.expression)
    if isinstance(node, cst.Subscript):
        return _is_tensor(file, node.value) and not isinstance(file.tree.parent(node), (cst.AssignTarget, cst.Del))
    return isinstance(node, cst.Call) and _call_makes_op(file.call(node)) and not _reuses_variable(file, node)


def _reuses_variable(file: File, node: cst.Call) -> bool:
    """Whether a call asks for a variable in a scope that gives back the one which is there."""
    if file.call(node).name not in GETS_VARIABLE:
        return False
    items = (file.written(item.item) for block in file.contexts.withs(node) for item in block.items)
    scopes = (file.call(item) for item in items if isinstance(item, cst.Call))
    reuses = [call.value_of("reuse") for call in scopes if call.name in SCOPES]
    return any(each == Const(True) or each == REUSES for each in reuses)


def is_outermost_op(file: File, node: Node) -> bool:
    """Whether no op around an op takes it as an argument, as in `reduce_mean(cast(equal(a, b)))`."""
    above = file.tree.parent(node)
    while isinstance(above, (cst.Arg, cst.Element, cst.List, cst.Tuple, cst.Index, cst.SubscriptElement)):
        above = file.tree.parent(above)
    return above is None or not makes_op(file, above)


def _is_tensor(file: File, side: cst.BaseExpression) -> bool:
    value = file.value(side)
    if isinstance(value, Method):  # what a model gives is an attribute of it
        return value.name.startswith("tf.keras.") and value.name.rpartition(".")[2] in ENDS
    return isinstance(value, Array) and value.library == "tf"


def _call_makes_op(call: Call) -> bool:
    name = call.name
    if call.method in OF_ITERATORS and (name is None or name.startswith("tf.")):
        return isinstance(call.receiver, Iterator) or (call.method != "get_next" and name is not None)
    if name is None:
        return knowledge.in_group(call.method, "adds_op") and (_is_listed_variable(call) or _is_of_cell(call))
    if not name.startswith("tf.") or (name.startswith(PRIVATE) and not name.startswith(PRIVATE_OPS)):
        return False
    owner, _, last = name.rpartition(".")
    if owner.rpartition(".")[2][:1].isupper():
        return knowledge.in_group(last, "adds_op") and not knowledge.in_group(name, "adds_no_op")
    public = (name, *(f"{home}.{last}" for home in PUBLIC if name.startswith(PRIVATE_OPS)))
    adds_none = any(knowledge.in_group(each, "adds_no_op") for each in public)
    return not adds_none and (not last[:1].isupper() or last in CLASSES)


def _is_of_cell(call: Call) -> bool:
    """Whether the method of a recurrent cell of version 1 is called that makes its state."""
    file, cell = call.evaluator.file, call.receiver_node
    made = file.written(cell) if call.method == "zero_state" and cell is not None else None
    return isinstance(made, cst.Call) and knowledge.in_group(file.call(made).name, "makes_cells")


def _is_listed_variable(call: Call) -> bool:
    """Whether what a method is called of is certainly an item of a list of variables."""
    file, of = call.evaluator.file, call.receiver_node
    if isinstance(of, cst.Subscript):
        return _lists_variables(file, of.value)
    found = file.definitions(of) if isinstance(of, cst.Name) else ()
    items = [d for d in written(found) if d.binds is Binds.ITEM and isinstance(d.value, cst.BaseExpression)]
    return bool(items) and all(_lists_variables(file, _iterated(file, d)) for d in items)


def _iterated(file: File, d: Definition) -> cst.BaseExpression:
    """What a loop takes a name from: the list at its place in `zip` and `enumerate`."""
    over, path = d.value, d.path
    while isinstance(over, cst.Call) and path and isinstance(path[0], int):
        name = file.call(over).name
        at = path[0] if name == "builtins.zip" else path[0] - 1 if name == "builtins.enumerate" else -1
        if not 0 <= at < len(over.args):
            break
        over, path = over.args[at].value, path[1:]
    assert isinstance(over, cst.BaseExpression)
    return over


def _lists_variables(file: File, expression: cst.BaseExpression) -> bool:
    made = file.written(expression)
    if isinstance(made, cst.Call):
        return knowledge.in_group(file.call(made).name, "lists_variables")
    return isinstance(made, cst.Attribute) and made.attr.value in WEIGHTS
