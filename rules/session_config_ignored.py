from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Instance, Rule, Shows, keras, on_call, runtime

SETS = ("tf.keras.backend.set_session", "tf.compat.v1.keras.backend.set_session")


class SessionConfigIgnored(Rule):
    """
    ## What it does
    Reports TensorFlow 1 sessions that carry GPU memory options (`ConfigProto`, `GPUOptions`, `set_session`) in a
    program that runs TensorFlow 2 eagerly.

    ## Why it costs memory
    The allocator of a card is made once for a process, with the options of whoever uses the card first. Eager ops and
    Keras do not run in the session: its options count only by accident, where nothing has used the card before it, and
    otherwise nearly all memory of the card is taken as if nothing had been said. Keras 3 has no `set_session` at all.

    ## When not to use it
    In programs that build graphs and run them in sessions; they are not reported, nor are tests.

    ## References
    - https://www.tensorflow.org/guide/migrate
    """

    code = "TFM108"
    summary = "session options do not reach eager TensorFlow 2 code"
    no_fix = "fractions of memory and device lists need your numbers"
    in_tests = False

    @on_call("tf.compat.v1.Session", "tf.compat.v1.InteractiveSession")
    def session(self, session: Call, file: File) -> Iterator[Finding]:
        eager = any(call.node is not session.node for call in runtime.computing_calls(file))
        runs = keras.runs_graphs(file, session)
        if eager and not runs and runtime.session_limits_memory(file, session) and not _is_set(file, session):
            yield self.finding(
                session,
                file,
                "eager ops and Keras do not run in this session: its options count only if it is the first to use the "
                "card; use tf.config",
                shows=Shows(metric="whole_card"),
            )

    @on_call(*SETS)
    def set_session(self, sets: Call, file: File) -> Iterator[Finding]:
        given = sets.value_of(0)
        configured = isinstance(given, Instance) and given.call is not None and given.call.arg("config") is not None
        if configured and not keras.runs_graphs(file, sets):
            yield self.finding(
                sets,
                file,
                "Keras 3 has no set_session, and a session's options count only if it is the first to use the card; "
                "use tf.config",
                shows=Shows(": set_session", "whole_card"),
            )


def _is_set(file: File, session: Call) -> bool:
    """Whether Keras is told to use this session, which is reported there."""
    given = (call.value_of(0) for call in file.calls(*SETS))
    return any(isinstance(each, Instance) and each.call is session for each in given)
