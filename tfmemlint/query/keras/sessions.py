"""TensorFlow 1 sessions: what makes one, and which calls run one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint.model.values import Array, Instance, Value

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File

SESSION = "tf.compat.v1.Session"
"""The type of a session, however it was made."""

SESSIONS = ("tf.Session", "tf.InteractiveSession", SESSION, "tf.compat.v1.InteractiveSession")


def is_session(value: Value) -> bool:
    """Whether a value is certainly a session, whichever of its alternatives it is."""
    return all(isinstance(option, Instance) and option.type_name == SESSION for option in value.options)


def session_runs(file: File) -> list[Call]:
    """The calls that certainly run a session: `session.run(...)` of what is known to be one, and `tensor.eval(...)`."""
    found = (file.call(node) for word in ("run", "eval") for node in file.calls_by_word.get(word, ()))
    return [call for call in found if _runs(call)]


def _runs(call: Call) -> bool:
    if call.method == "eval":
        return all(isinstance(option, Array) and option.library == "tf" for option in call.receiver.options)
    return is_session(call.receiver)
