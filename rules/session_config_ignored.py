from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Instance, Rule, dotted, on_call
from tfmemlint.query.runtime import initialises

GRAPH_MODE = (
    "tf.compat.v1.disable_v2_behavior", "tf.compat.v1.disable_eager_execution", "tf.Graph.as_default", "tf.Graph",
    "tf.compat.v1.placeholder", "tf.compat.v1.train.MonitoredSession", "tf.compat.v1.train.MonitoredTrainingSession",
    "tf.compat.v1.train.Supervisor", "tf.estimator.Estimator", "tf.compat.v1.estimator.Estimator",
    "tf.estimator.RunConfig", "tf.compat.v1.global_variables_initializer", "tf.compat.v1.get_variable",
    "tf.compat.v1.import_graph_def", "tf.import_graph_def", "tf.graph_util.import_graph_def", "tf.compat.v1.app.run",
    "tf.compat.v1.Session.run", "tf.compat.v1.get_default_graph",
)  # fmt: skip
SESSIONS = (
    "tf.compat.v1.Session", "tf.compat.v1.InteractiveSession", "tf.keras.backend.set_session",
    "tf.compat.v1.keras.backend.set_session",
)  # fmt: skip


class SessionConfigIgnored(Rule):
    """
    ## What it does
    Reports TensorFlow 1 sessions that carry GPU memory options (`ConfigProto`, `GPUOptions`, `set_session`) in a
    program that runs TensorFlow 2 eagerly.

    ## Why it costs memory
    The options belong to the session. Eager ops and Keras do not run in it: they take nearly all memory of the card
    as if nothing had been said. `set_session` does not exist in Keras 3 at all.

    ## When not to use it
    In programs that build graphs and run them in sessions; they are not reported.

    ## References
    - https://www.tensorflow.org/guide/migrate
    """

    code = "TFM108"
    summary = "session options do not reach eager TensorFlow 2 code"
    no_fix = "fractions of memory and device lists need your numbers"

    @on_call(*SESSIONS)
    def check(self, session: Call, file: File) -> Iterator[Finding]:
        if any(file.calls(*GRAPH_MODE)) or self._runs(session, file) or file.before_version_2:
            return
        config = session.arg("config")
        carried = config is not None and _of_memory(config.expression, file)
        carried = carried or (session.method == "set_session" and self._configured(session))
        if not carried or not (session.method == "set_session" or self._eager(session, file)):
            return
        what = "set_session does not exist in Keras 3, and" if session.method == "set_session" else "these are"
        tail = (
            "session options do not reach eager ops"
            if session.method == "set_session"
            else "options of a session that eager ops and Keras do not run in"
        )
        yield self.finding(session, file, f"{what} {tail}: the card is taken whole; use tf.config")

    def _configured(self, session: Call) -> bool:
        given = session.value_of(0)
        return isinstance(given, Instance) and given.call is not None and given.call.arg("config") is not None

    def _runs(self, session: Call, file: File) -> bool:
        """Whether the session is entered or run: then it is a real graph program."""
        for node in file.calls_by_word.get("run", ()):
            receiver = file.call(node).receiver
            if not receiver.known or (isinstance(receiver, Instance) and receiver.type_name in SESSIONS):
                return True
        return isinstance(file.tree.parent(session.node), cst.WithItem)

    def _eager(self, session: Call, file: File) -> bool:
        """Whether the program certainly runs eager ops or Keras models itself."""
        return any(initialises(file.call(node)) for node in file.tree.of(cst.Call) if node is not session.node)


MEMORY = frozenset({"gpu_options", "device_count"})


def _of_memory(config: cst.BaseExpression, file: File) -> bool:
    """Whether a session's options say something about memory or devices, and not only about placement or logging."""
    name = dotted(config)
    made = [d.value for d in file.definitions(config)] if isinstance(config, cst.Name) else [config]
    if not made or not all(isinstance(node, cst.Call) and file.call(node).method == "ConfigProto" for node in made):
        written = (node.attr.value for node in file.tree.of(cst.Attribute))
        given = (arg.keyword.value for arg in file.tree.of(cst.Arg) if arg.keyword is not None)
        return any(word in MEMORY for word in (*written, *given))  # made elsewhere: by one of these, if at all
    given = (arg.keyword.value for node in made if isinstance(node, cst.Call) for arg in node.args if arg.keyword)
    set_later = (n.attr.value for n in file.tree.of(cst.Attribute) if name is not None and dotted(n.value) == name)
    return any(word in MEMORY for word in (*given, *set_later))
