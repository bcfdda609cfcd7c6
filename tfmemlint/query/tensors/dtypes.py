"""Where dtypes are written: arguments that say float64, dtype policies, and modules that want float64 on purpose."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.calls import Argument
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Api, Array, Const, Instance
from tfmemlint.query.facts import Fact
from tfmemlint.query.flow.uses import Does, uses
from tfmemlint.query.keras.policies import dtype_policy, policies_set
from tfmemlint.syntax.scopes import dotted, written
from tfmemlint.syntax.tree import Node

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

WORDS = ("float64", "double")
FLOAT64 = frozenset(f"{module}.{word}" for module in ("tf", "np", "tf.dtypes") for word in WORDS)
CASTS = ("tf.compat.v1.to_double", "tf.to_double")
POLICY = "tf.keras.mixed_precision.Policy"

DEFAULTS = frozenset({"default_float", "default_int", "default_jitter"})
"""What modules import to compute in the dtypes of GPflow's configuration, which are float64 unless changed."""


def says_float64(argument: Argument) -> bool:
    """Whether an argument says float64 in so many words at the call itself: `tf.float64`, `"double"`.

    False for a name of the module that stands for it, such as `DTYPE`: that is a decision made in one place.
    """
    if isinstance(argument.expression, cst.Name) and not isinstance(argument.value, Api):
        return False
    value = argument.value
    if isinstance(value, Instance) and value.type_name == POLICY and value.call is not None:
        value = value.call.value_of(0)
    if isinstance(value, Api):
        return value.name in FLOAT64 and _last_word(argument.expression) in WORDS
    return isinstance(value, Const) and value.value in WORDS


@dataclass(frozen=True, slots=True)
class GivenDtype:
    """A TensorFlow call that makes something and the argument that says in which dtype."""

    made: Call
    dtype: Argument


@dataclass(frozen=True, slots=True)
class Division:
    """A quotient: the expression, the dtype of what is divided, and what it gives."""

    node: cst.BinaryOperation
    dtype: str
    result: Array


def _given_float64(file: File) -> Iterator[GivenDtype]:
    for node in file.tree.of(cst.Call):
        if any(_mentions_float64(arg.value) for arg in node.args):
            call = file.call(node)
            dtype = call.arg("dtype", "out_type")
            makes = (call.name or "").startswith("tf.") and not knowledge.in_group(call.name, "describes_dtype")
            if makes and dtype is not None and says_float64(dtype):
                yield GivenDtype(call, dtype)
    for call in file.calls(*CASTS):
        given = call.arg(0)
        if given is not None:
            yield GivenDtype(call, given)


given_float64 = Fact(_given_float64, *WORDS, *CASTS)
"""Each TensorFlow call that makes something and is given a dtype that says float64.

Calls that only describe data (`tf.TensorSpec`, `tf.io`, metrics) are left out; `tf.compat.v1.to_double`, which says it
by its own name, comes with what it casts.
"""


def _mentions_float64(node: cst.BaseExpression) -> bool:
    """Whether an expression names float64 itself or in a policy that it makes."""
    if isinstance(node, cst.SimpleString):
        return any(word in node.value for word in WORDS)
    if isinstance(node, cst.Call):
        return any(_mentions_float64(arg.value) for arg in node.args)
    return _last_word(node) in WORDS


def _last_word(node: cst.BaseExpression) -> str:
    return (dotted(node) or "").rpartition(".")[2]


def float64_asked_for(file: File, node: Node) -> bool:
    """Whether code around a node has asked for float64 before it gets there: `if K.floatx() == "float64"`, also where a
    name has the answer."""
    below = node
    for above in file.tree.ancestors(node):
        if isinstance(above, (cst.If, cst.IfExp)) and below is above.body and _asks_float64(file, above.test):
            return True
        below = above
    return False


def dtype_compared(file: File, made: Node) -> bool:
    """Whether code compares the dtype of what an expression makes, `assert x.dtype == np.float64`: it may stop at
    another one."""
    read = [use.place for use in uses(file, made) if use.does is Does.READ and use.word == "dtype"]
    above = (file.tree.parent(place) for place in read if place is not None)
    return any(isinstance(each, (cst.Comparison, cst.ComparisonTarget)) for each in above)


def _asks_float64(file: File, test: cst.BaseExpression) -> bool:
    if isinstance(test, cst.Comparison):
        equal = (c for c in test.comparisons if isinstance(c.operator, (cst.Equal, cst.In, cst.Is)))
        return any(_compares_float64(test.left, part.comparator) for part in equal)
    for answer in written(file.definitions(test)) if isinstance(test, cst.Name) else ():
        value = answer.value
        compared = isinstance(value, cst.Comparison) and _asks_float64(file, value)
        if compared or (isinstance(value, cst.Name) and value.value == "True" and float64_asked_for(file, answer.node)):
            return True
    return False


def _compares_float64(*sides: cst.BaseExpression) -> bool:
    items = (e.value for side in sides for e in getattr(side, "elements", ()))
    return any(_mentions_float64(side) for side in (*sides, *items))


def _divided_integers(file: File) -> Iterator[Division]:
    for node in file.tree.of(cst.BinaryOperation):
        if isinstance(node.operator, cst.Divide):
            left, result = file.value(node.left), file.value(node)
            whole = isinstance(left, Array) and left.library == "tf" and left.dtype in ("int32", "int64")
            if whole and isinstance(left, Array) and isinstance(result, Array) and result.dtype == "float64":
                yield Division(node, left.dtype or "", result)


divided_integers = Fact(_divided_integers, "/")
"""Each quotient of a tensor of whole numbers that is float64, as TensorFlow makes it of `int32` and `int64`."""


@once_per_file
def float64_by_design(file: File) -> bool:
    """Whether the module computes in float64 on purpose: it sets a float64 policy, imports a library whose numerics
    are built on float64, or is part of one. False where nothing shows it."""
    if any(dtype_policy(call) == "float64" for call in policies_set(file)):
        return True
    scopes = {file.scope_of(node) for node in file.tree.of(cst.ImportFrom)}
    bound = (found for scope in scopes for found in file.flow(scope).bindings.values())
    names = {d.api for found in bound for d in found}
    names |= {dotted(alias.name) or "" for node in file.tree.of(cst.Import) for alias in node.names}
    return any(map(_built_on_float64, names)) or _part_of_one(file)


def _built_on_float64(api: str) -> bool:
    libraries = knowledge.group("built_on_float64")
    return api.rpartition(".")[2] in DEFAULTS or any(api == each or api.startswith(f"{each}.") for each in libraries)


def _part_of_one(file: File) -> bool:
    """Whether the module lies in a package of such a library's name and imports from that package."""
    folders = file.source.path.replace("\\", "/").split("/")[:-1]
    relative = any(statement.relative for statement in file.tree.of(cst.ImportFrom))
    return relative and not knowledge.group("built_on_float64").isdisjoint(folders)
