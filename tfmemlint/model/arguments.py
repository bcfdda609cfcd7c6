"""Defaults of the command line's arguments: what a program uses as long as nobody says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.model.values import Api, Const, Instance, Unknown, Value, one_of

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.evaluate import Evaluator
    from tfmemlint.syntax.program import Program

NAMESPACE = "argparse.Namespace"
PARSER = "argparse.ArgumentParser"
FLAGS = tuple(
    Api(f"{module}.FLAGS")
    for module in ("absl.flags", "tf.compat.v1.flags", "tf.compat.v1.app.flags", "tf.flags", "tf.app.flags")
)
MAKES_FLAGS = ("DEFINE_integer", "DEFINE_float", "DEFINE_string", "DEFINE_enum")


def default(evaluator: Evaluator, namespace: Instance, name: str) -> Value:
    """The default of the argument that `parse_args` stores as `name`; flags that are on or off are not known."""
    file = evaluator.file
    program = file if namespace.call is None else file.home(namespace.call.node)
    if changed(evaluator, name) or (program is not file and _sets(program, name)):
        return Unknown(f"{name} is set to something else")
    adding = _calls(evaluator, program, "add_argument")
    found = [call.arg("default") for call in adding if _stored_as(call) == name]
    values = [Unknown("no default") if argument is None else argument.value for argument in found]
    known = one_of(values) if values else Unknown(f"argument {name} is not added in this file")
    return Unknown("a flag of the command line") if _is_flag(known) else known


def changed(evaluator: Evaluator, name: str) -> bool:
    """Whether something but a method's own object gets another attribute `name` somewhere in the file."""
    return _sets(evaluator.file, name)


def _sets(program: Program, name: str) -> bool:
    return any(path.rpartition(".")[0] != "self" for path in program.set_attributes.get(name, ()))


def flag(evaluator: Evaluator, name: str) -> Value:
    """The default of a flag that is defined with absl."""
    calls = [call for word in MAKES_FLAGS for call in _calls(evaluator, evaluator.file, word)]
    found = [call.value_of(1, "default", "default_value") for call in calls if call.value_of(0) == Const(name)]
    return one_of(found) if found else Unknown(f"flag {name} is not defined in this file")


def _calls(evaluator: Evaluator, program: Program, word: str) -> Iterator[Call]:
    return (evaluator.call(node) for node in program.calls_by_word.get(word, ()))


def _is_flag(value: Value) -> bool:
    return any(isinstance(option, Const) and isinstance(option.value, (bool, type(None))) for option in value.options)


def _stored_as(call: Call) -> str | None:
    """The attribute in which an argument is stored: `dest`, else its first long name, else its only one."""
    if call.arg("dest") is not None:
        value = call.value_of("dest")
        return str(value.value) if isinstance(value, Const) else None
    words = [call.evaluator.value(arg.value, call.frame) for arg in call.node.args if arg.keyword is None]
    names = [str(word.value) for word in words if isinstance(word, Const)]
    long = next((word for word in names if word.startswith("--")), names[0] if names else "")
    return long.lstrip("-").replace("-", "_") or None


def namespace(call: Call) -> Value:
    """What `parse_args` gives."""
    return Instance(NAMESPACE, call)
