"""Which calls give the same for the same arguments."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Binds, Call, File, Function, own_nodes
from tfmemlint.model.mapped import READS, draws

PURE = (
    "np.", "builtins.", "os.path.", "os.listdir", "glob.", "pathlib.", "pandas.read_", "tf.data.", "tf.keras.datasets.",
    "tf.keras.utils.", "tf.keras.preprocessing.", "tf.keras.applications.", "tf.io.", "tf.math.", "tf.strings.",
    "tf.image.", "tf.nest.", "tf.ragged.", "tf.sparse.", "tf.cast", "tf.constant", "tf.convert_to_tensor",
    "tf.expand_dims", "tf.squeeze", "tf.reshape", "tf.transpose", "tf.TensorSpec", "tf.TensorShape", "tf.one_hot",
    "tf.zeros", "tf.ones", "tf.fill", "tf.range", "tf.stack", "tf.concat", "tf.split", "tf.gather", "tf.identity",
    "tf.reduce_", "tf.size", "tf.shape", "tf.Tensor.", "tf.float", "tf.int", "tensorflow_datasets.",
)  # fmt: skip
"""Beginnings of names of calls that give the same for the same arguments."""

IMPURE = frozenset({"builtins.input", "builtins.next", "builtins.iter", "builtins.open"})

PURE_METHODS = frozenset({
    "astype", "reshape", "to_numpy", "tolist", "copy", "drop", "items", "keys", "values", "format", "join", "strip",
    "lower", "upper", "replace", "glob", "transpose", "squeeze", "flatten", "ravel", "numpy", "to_dict", "split",
    "toarray", "todense", "union", "mean", "std", "sum", "min", "max", "round", "clip", "head", "exists", "resolve",
})  # fmt: skip
"""Methods that give the same for the same object, of whichever library it is."""

DEEP = 4
"""Functions of the module that are followed into each other."""


def pure(node: cst.Call, file: File, depth: int = DEEP) -> bool:
    """Whether a call gives the same for the same arguments."""
    call = file.call(node)
    if call.names:
        return all(_pure_name(name) for name in call.names)
    functions = [t for t in call.target.options if isinstance(t, Function)]
    if functions:
        return len(functions) == len(call.target.options) and all(_pure_body(f, file, depth - 1) for f in functions)
    return call.receiver_node is not None and pure_method(call)


def pure_method(call: Call) -> bool:
    """Whether a method, of whichever library, is known by its word to give the same for the same object, which it
    leaves as it is."""
    if call.method == "get":  # of a dictionary, not of a queue
        return any(arg.keyword is None for arg in call.node.args)
    return call.method in PURE_METHODS


def draws_inside(function: cst.FunctionDef, file: File) -> bool:
    """Whether a function itself draws at random, the functions in it left out."""
    return any(draws(name) for node in _calls(function) for name in file.call(node).names)


def _calls(function: cst.FunctionDef | cst.Lambda) -> list[cst.Call]:
    return list(own_nodes(function, cst.Call))


def _pure_name(name: str) -> bool:
    return name not in IMPURE and not draws(name) and (name.startswith(PURE) or name in READS)


def _pure_body(function: Function, file: File, depth: int) -> bool:
    """Whether a function of the module gives what it computes of its arguments by pure calls, and writes nothing."""
    if depth <= 0 or any(own_nodes(function.node, cst.Global, cst.Nonlocal, cst.Yield, cst.Await)):
        return False
    return all(pure(node, file, depth) or _fills(node, function, file) for node in _calls(function.node))


def _fills(node: cst.Call, function: Function, file: File) -> bool:
    """Whether a call fills a list or dictionary that the function made itself."""
    call = file.call(node)
    receiver = call.receiver_node
    if not isinstance(receiver, cst.Name) or call.names or not isinstance(function.node, cst.FunctionDef):
        return False
    made = file.definitions(receiver)
    displays = (cst.List, cst.Dict, cst.Set)
    return bool(made) and all(d.binds is Binds.VALUE and isinstance(d.value, displays) for d in made)
