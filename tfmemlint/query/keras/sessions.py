"""TensorFlow 1 sessions: what makes one, and which calls run one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfmemlint import knowledge
from tfmemlint.model.values import Array, Instance, Value
from tfmemlint.query.flow.uses import Does, uses

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


def runs_graphs(file: File, session: Call) -> bool:
    """Whether the program may build graphs and run them, in this session (a call that makes or sets one) or another:
    True also where something runs that is not known."""
    if any(file.calls(*knowledge.group("builds_graphs"))) or file.before_version_2:
        return True
    if any(use.does is Does.ENTER for use in uses(file, session.node)):
        return True
    receivers = [file.call(node).receiver for node in file.calls_by_word.get("run", ())]
    return any(not each.known or (isinstance(each, Instance) and each.type_name in SESSIONS) for each in receivers)


def _runs(call: Call) -> bool:
    if call.method == "eval":
        return all(isinstance(option, Array) and option.library == "tf" for option in call.receiver.options)
    return is_session(call.receiver)
