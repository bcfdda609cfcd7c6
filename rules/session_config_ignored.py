from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Instance, Rule, Shows, keras, on_call, runtime, uses

OF_MEMORY = frozenset({"gpu_options", "device_count"})
"""Options of a session that say something about memory or devices, not only about placement or logging."""

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
        if eager and not runs and _limits_memory(file, session) and not _is_set(file, session):
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


def _limits_memory(file: File, session: Call) -> bool:
    """Whether a session's options say something about memory or devices."""
    config = session.arg("config")
    if config is None:
        return False
    made = [option.call for option in config.value.options if isinstance(option, Instance) and option.call is not None]
    if not made or len(made) < len(config.value.options) or any(call.method != "ConfigProto" for call in made):
        given = (arg.keyword.value for arg in file.tree.of(cst.Arg) if arg.keyword is not None)
        written = (node.attr.value for node in file.tree.of(cst.Attribute))
        return not OF_MEMORY.isdisjoint((*given, *written))  # made elsewhere: by one of these, if at all
    passed = [arg.keyword.value for call in made for arg in call.node.args if arg.keyword is not None]
    later = [use.word for call in made for use in uses(file, call.node)]
    return not OF_MEMORY.isdisjoint((*passed, *later))
