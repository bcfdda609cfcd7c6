"""Processes that a program starts beside its own, and whether what they run touches TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Api, Array, Class, Const, Function, Mapping, Sequence, Value
from tfmemlint.query.calls import calls
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.uses import Does, uses
from tfmemlint.syntax.scopes import FUNCTIONS
from tfmemlint.syntax.tree import Node, walk

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

TAKES = frozenset({
    "map", "map_async", "imap", "imap_unordered", "starmap", "starmap_async", "apply", "apply_async", "submit",
})  # fmt: skip
"""Methods by which the processes of a pool get a function, as their first argument."""

RUNS_GIVEN = frozenset({"builtins.map", "builtins.filter"})
"""What calls a function that it is given, as its first argument."""

WITHOUT_OPS = (
    *("builtins.", "base64.", "collections.", "copy.", "csv.", "datetime.", "glob.", "hashlib.", "io.", "itertools."),
    *("json.", "logging.", "math.", "os.", "pathlib.", "random.", "re.", "shutil.", "socket.", "string.", "struct."),
    *("sys.", "time.", "zlib.", "np.", "scipy.", "pandas.", "h5py.", "PIL.", "cv2.", "imageio.", "skimage."),
    *("pycocotools.", "librosa.", "soundfile.", "tqdm."),
    *("tf.io.gfile.", "tf.compat.v1.gfile.", "tf.io.TFRecord", "tf.train.Example", "tf.train.SequenceExample"),
    *("tf.train.Feature", "tf.train.BytesList", "tf.train.FloatList", "tf.train.Int64List"),
)
"""Beginnings of the names of what runs no op: Python's own, libraries of arrays, tables, pictures and sounds, files
and records."""

PLAIN_METHODS = frozenset(
    {word for kind in (str, bytes, list, dict, set) for word in dir(kind) if not word.startswith("_")}
    | {"read", "readline", "readlines", "write", "close", "flush", "SerializeToString"}
) - {"decode", "translate"}
"""Words of methods of texts, lists, dictionaries and files, without those that models have, too."""


def _forks(file: File) -> Iterator[Call]:
    starts = file.calls(*knowledge.group("forks"))
    for start in sorted(starts, key=lambda call: file.tree.order(call.node)):
        if start.arg("mp_context") is None and not _spawns(file):
            yield start


forks = Fact(_forks, *knowledge.group("forks"))
"""Each call that starts processes by fork where that is the system's default, as on Linux: no other start method is
chosen for the call or anywhere for the program. A context that the call is a method of may choose another."""


def _spawns(file: File) -> bool:
    """Whether another start method than fork may be chosen for the whole program."""
    return any(call.value_of(0) != Const("fork") for call in file.calls("multiprocessing.set_start_method"))


def runs_no_op(file: File, start: Call) -> bool:
    """Whether the processes that a call starts certainly run no op: a `Process` or all that a pool is given runs
    functions of the module that call Python's own, files, records, pictures and arrays alone, and read no tensor.

    False where it is not known what they run.
    """
    run = list(_given_to(file, start))
    entered: set[int] = set()
    return bool(run) and all(_is_without_ops(file, each, entered) for each in run)


def _given_to(file: File, start: Call) -> Iterator[Value | None]:
    """What the processes run that a call starts; None for what is not seen, and for what is handed a tensor."""
    if start.method == "Process":
        handed = start.arg("target") is None or _reads_tensor(file, start.node)
        yield None if handed else start.given("target")
        return
    if start.arg("initializer") is not None:
        yield start.given("initializer")
    for use in uses(file, start.node):
        taken = use.call is not None and use.does is Does.METHOD and use.word in TAKES
        if taken and use.call is not None and use.call.node.args and not _reads_tensor(file, use.call.node):
            yield file.value(use.call.node.args[0].value)
        elif taken or use.does not in (Does.METHOD, Does.ENTER, Does.DELETE):
            yield None


def _is_without_ops(file: File, run: Value | None, entered: set[int]) -> bool:
    options = run.options if run is not None and run.known else ()
    return bool(options) and all(_runs_without_ops(file, option, entered) for option in options)


def _runs_without_ops(file: File, run: Value, entered: set[int]) -> bool:
    if isinstance(run, Api):
        return run.name.startswith(WITHOUT_OPS)
    node = _function(file, run)
    return node is not None and _runs_none(file, node, entered)


def _function(file: File, run: Value) -> Node | None:
    """The function that a call of something runs; of a class its `__init__`."""
    if isinstance(run, Class):
        return file.values.classes.method(run.node, "__init__")
    return run.node if isinstance(run, Function) and isinstance(run.node, FUNCTIONS) else None


def _runs_none(file: File, function: Node, entered: set[int]) -> bool:
    if id(function) in entered:
        return True
    entered.add(id(function))
    if _reads_tensor(file, function):
        return False
    return all(_makes_no_op(file, call, entered) for call in calls(file, function))


def _reads_tensor(file: File, code: Node) -> bool:
    """Whether some code certainly reads a tensor or variable, under a name or in an attribute."""
    values = map(file.value, walk(code, cst.Name, cst.Attribute))
    return any(isinstance(option, Array) and option.library != "np" for value in values for option in value.options)


def _makes_no_op(file: File, call: Call, entered: set[int]) -> bool:
    if call.names:
        if set(call.names) & RUNS_GIVEN and not _is_without_ops(file, call.value_of(0), entered):
            return False
        return all(name.startswith(WITHOUT_OPS) for name in call.names)
    if call.target.known:
        return _is_without_ops(file, call.target, entered)
    receiver = call.receiver_node
    if receiver is None:
        return False
    made = file.written(receiver)
    of = file.call(made) if isinstance(made, cst.Call) else None
    if of is not None and of.names and all(name.startswith(WITHOUT_OPS) for name in of.names):
        return True
    return isinstance(file.value(receiver), (Const, Sequence, Mapping)) or call.method in PLAIN_METHODS
