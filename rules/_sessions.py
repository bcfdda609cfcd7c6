"""TensorFlow 1 sessions: which calls run one."""

from __future__ import annotations

import libcst as cst

from tfmemlint.api import Call, File, Instance

SESSION = "tf.compat.v1.Session"
SESSIONS = ("tf.Session", "tf.InteractiveSession", SESSION, "tf.compat.v1.InteractiveSession")


def runs_session(call: Call) -> bool:
    """Whether a call is `session.run(...)` of a session that is known to be one."""
    receiver = call.receiver
    if call.method != "run" or not receiver.known:
        return False
    return all(isinstance(option, Instance) and option.type_name == SESSION for option in receiver.options)


def session_runs(file: File) -> list[cst.Call]:
    """All `session.run(...)` calls of a file."""
    return [node for node in file.calls_by_word.get("run", ()) if runs_session(file.call(node))]
