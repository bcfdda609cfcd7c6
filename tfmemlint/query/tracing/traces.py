"""Traced functions: where they are called, what is unrolled in them, which traces run what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.transfer.table import elements
from tfmemlint.model.values import Array, Dataset, Function, Instance, Method, Value
from tfmemlint.model.values import Iterator as Items
from tfmemlint.query.facts import TRACES, Fact, functions_given_to
from tfmemlint.query.limits import FOLLOWED_CALLS
from tfmemlint.query.repetition.repeats import Repetition, repetitions
from tfmemlint.query.tracing.compiled import compiled_functions
from tfmemlint.query.tracing.eager import runs_eagerly
from tfmemlint.syntax.scopes import ScopeNode, parameters
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

TRACER = "tf.function"
KERAS_RUNS = frozenset({"call", "__call__", "build", "train_step", "test_step", "predict_step", "compute_loss"})
"""Methods that Keras runs in a trace of its own."""

EAGER_OR_NOT = frozenset({"call", "__call__"})
"""Methods that run eagerly where a model is called eagerly."""

LOSS, LOSS_OF = "compute_loss", "y_pred"
"""A method that Keras runs in each step, and a parameter by which it is not one of the module's own of this name."""

RUNS_MODELS = ("fit", "compile", "predict", "evaluate", "fit_generator")
"""Methods by which Keras runs a model in a trace of its own."""

TRACES_WORDS = frozenset({"compile", "fit", "fit_generator", "function"})
"""Words of modules in which Keras or `tf.function` may trace what they train."""


@dataclass(frozen=True, slots=True)
class TracedCall:
    """A call of a traced function of the file; of several that it may go to, `function` is one."""

    call: Call
    function: Function


def _traced_calls(file: File) -> Iterator[TracedCall]:
    for node in file.tree.of(cst.Call):
        call = file.call(node)
        targets = call.target.options
        traced = all(isinstance(target, Function) and target.traced for target in targets)
        if traced and not runs_eagerly(file, node):
            assert isinstance(targets[0], Function)
            yield TracedCall(call, targets[0])


traced_calls = Fact(_traced_calls, TRACER)
"""Each call of which what is called is certainly a function of the file that `tf.function` traces; none where all
functions run eagerly."""


def _unrolled_loops(file: File) -> Iterator[Repetition]:
    for node in (*file.tree.of(cst.For, cst.While), *file.tree.of(cst.ListComp, cst.GeneratorExp)):
        body = node.body if isinstance(node, (cst.For, cst.While)) else node.elt
        run = next(repetitions(file, body, calls=0), None)
        if run is None or run.place is not node or not file.contexts.traced(node) or runs_eagerly(file, node):
            continue
        over = run.over
        of_graph = isinstance(over, Dataset) or (isinstance(over, Array) and over.library != "np")
        items = elements(over.item) if isinstance(over, Items) else ()
        if not of_graph and not any(isinstance(item, Instance) for item in items):
            yield run


unrolled_loops = Fact(_unrolled_loops, *TRACES)
"""Each loop or comprehension that Python runs while code is traced, so that the graph gets all iterations: none over
tensors and pipelines, which become loops of the graph, nor over a list of objects, of which each has ops of its own."""


def tracing_options(file: File, function: Function) -> set[str]:
    """The keywords that `tf.function` is given for a function: as its decorator, and where it is wrapped.

    Options in a dictionary (`tf.function(f, **options)`) are not seen.
    """
    decorators = [d.decorator for d in getattr(function.node, "decorators", ())]
    makers = (*decorators, *_wrapping(file).get(function.node, ()))
    arguments = [arg for maker in makers if isinstance(maker, cst.Call) for arg in maker.args]
    return {arg.keyword.value for arg in arguments if arg.keyword is not None}


@once_per_file
def _wrapping(file: File) -> dict[ScopeNode, list[cst.Call]]:
    """The calls of `tf.function` that are given each function."""
    found: dict[ScopeNode, list[cst.Call]] = {}
    for call in file.calls(TRACER):
        for function in {o.node for o in call.value_of("func").options if isinstance(o, Function)}:
            found.setdefault(function, []).append(call.node)
    return found


def is_bound_method(value: Value) -> bool:
    """Whether a value is certainly a bound method, which each access makes anew, so that each is traced again. False
    for traced methods and `__call__` of Keras objects, which are the same each time."""
    if isinstance(value, Function):
        return value.receiver is not None and not value.traced
    if not isinstance(value, Method) or not isinstance(value.receiver, Instance):
        return False
    ours = value.name.startswith(("tf.keras.", "np.random.")) and not value.name.endswith(".__call__")
    return ours and knowledge.signature(value.name) is not None


def parameter_of(call: Call, arg: cst.Arg) -> str:
    """The parameter that takes an argument of a call; "" where it is not known, or where it takes several (`*args`)."""
    if arg.keyword is not None:
        return arg.keyword.value
    index = call.node.args.index(arg)
    return call.parameter_names[index] if index < len(call.parameter_names) and not arg.star else ""


def runs_traced(file: File, function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether some traced code certainly runs a function, whoever else calls it: it is traced itself, a loss or metric
    of a model, or a method that is called by its word from such a function, `FOLLOWED_CALLS` deep."""
    if function in compiled_functions(file) or _is_loss_of_model(file, function):
        return True
    return _runs_traced(file, function, FOLLOWED_CALLS)


def _is_loss_of_model(file: File, function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether a function is the method of a model that Keras asks for the loss of each step."""
    owner = file.class_of(function)
    if owner is None or not isinstance(function, cst.FunctionDef) or function.name.value != LOSS:
        return False
    named = any(each.name.value == LOSS_OF for each in parameters(function))
    return named and file.values.classes.derives(owner, "tf.keras.Model")


def is_traced_somewhere(file: File, function: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether anything in the module shows that a traced function is traced: the `call` of a model that only a training
    loop of one's own calls runs eagerly, until something has Keras or `tf.function` run it, by a method that the module
    does not define itself. True for layers, of which models are made elsewhere, unless the module has such a loop."""
    owner = file.class_of(function)
    if owner is None or getattr(getattr(function, "name", None), "value", "") not in EAGER_OR_NOT:
        return True
    own = {function.name.value for function in file.tree.of(cst.FunctionDef)}
    words = [word for word in RUNS_MODELS if word not in own]
    runs = (file.call(node).name or "tf.keras." for word in words for node in file.calls_by_word.get(word, ()))
    if any(name.startswith("tf.keras.") for name in runs) or any(functions_given_to(TRACER).of(file)):
        return True
    if any(node.name.value in KERAS_RUNS - EAGER_OR_NOT - {"build"} for node in walk(owner, cst.FunctionDef)):
        return True
    return not file.values.classes.derives(owner, "tf.keras.Model") and not _has_loop(file)


def has_own_loop(file: File) -> bool:
    """Whether the program is seen to train eagerly: by a tape that is not traced, in the file or in a module around it
    which names neither `tf.function` nor Keras' training."""
    words = (text.words for text in file.around)
    return _has_loop(file) or any("GradientTape" in each and each.isdisjoint(TRACES_WORDS) for each in words)


def _has_loop(file: File) -> bool:
    return any(not file.contexts.traced(tape.node) for tape in file.calls("tf.GradientTape"))


def in_one_trace(file: File, function: cst.FunctionDef | cst.Lambda, other: cst.FunctionDef | cst.Lambda) -> bool:
    """Whether one trace may run both functions: False only where both certainly run in functions alone that
    `tf.function` traces, each in others."""
    found = [_trace_roots(file, each, FOLLOWED_CALLS) for each in (function, other)]
    return None in found[0] | found[1] or not found[0].isdisjoint(found[1])


@once_per_file
def _runs_traced(file: File, function: cst.FunctionDef | cst.Lambda, left: int) -> bool:
    body = function.body.body[0] if isinstance(function, cst.FunctionDef) else function.body
    if file.contexts.traced(body):
        return True
    if not left or not isinstance(function, cst.FunctionDef) or file.class_of(function) is None:
        return False
    callers = _traced_callers(file, function.name.value, left - 1)
    return len(callers) > (function in callers)


@once_per_file
def _traced_callers(file: File, method: str, left: int) -> frozenset[cst.FunctionDef | cst.Lambda]:
    found = (each for each in _callers_by_name(file, method) if each is not None)
    return frozenset(each for each in found if _runs_traced(file, each, left))


@once_per_file
def _callers_by_name(file: File, method: str) -> tuple[cst.FunctionDef | cst.Lambda | None, ...]:
    """The functions in which an attribute of this name is read, each once; None for code of the module."""
    named = (use for use in file.loads(method) if isinstance(file.tree.parent(use), cst.Attribute))
    return tuple(dict.fromkeys(file.contexts.function(use) for use in named))


@once_per_file
def _given_to_tracer(file: File) -> frozenset[Node | None]:
    return frozenset(wrapped.function for wrapped in functions_given_to(TRACER).of(file))


@once_per_file
def _trace_roots(file: File, function: cst.FunctionDef | cst.Lambda, left: int) -> set[Node | None]:
    """The functions that `tf.function` is given in whose traces a function runs; None among them for what is not seen:
    Keras, other modules."""
    if function in _given_to_tracer(file):
        return {function}
    if not left or not isinstance(function, cst.FunctionDef) or file.class_of(function) is None:
        return {None}
    callers = _callers_by_name(file, function.name.value)
    if not callers or function.name.value in KERAS_RUNS:
        return {None}
    roots = [_trace_roots(file, c, left - 1) if c is not None and c is not function else {None} for c in callers]
    return set[Node | None]().union(*roots)
