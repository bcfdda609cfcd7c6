"""TensorFlow 1 sessions: which calls run one."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Array, Call, File, Instance

SESSION = "tf.compat.v1.Session"
SESSIONS = ("tf.Session", "tf.InteractiveSession", SESSION, "tf.compat.v1.InteractiveSession")


def runs_session(call: Call) -> bool:
    """Whether a call is `session.run(...)` of a session that is known to be one, or `tensor.eval(...)`."""
    receiver = call.receiver
    if call.method == "eval":
        return all(isinstance(option, Array) and option.library == "tf" for option in receiver.options)
    if call.method != "run" or not receiver.known:
        return False
    return all(isinstance(option, Instance) and option.type_name == SESSION for option in receiver.options)


def session_runs(file: File) -> list[cst.Call]:
    """All calls of a file that run a session."""
    found = (node for word in ("run", "eval") for node in file.calls_by_word.get(word, ()))
    return [node for node in found if runs_session(file.call(node))]
