from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, Shows, keras, knowledge, on_call, runtime

SESSIONS = ("tf.compat.v1.Session", "tf.compat.v1.InteractiveSession")


class SessionConfigIgnored(Rule):
    """
    ## What it does
    Reports TensorFlow 1 sessions that carry GPU memory options (`ConfigProto`, `GPUOptions`) where the program has used
    the card before.

    ## Why it costs memory
    The allocator of a card is made once for a process, with the options of its first user. Behind a tensor,
    an optimizer, a model or a pipeline the options of a session change nothing: nearly all memory of the card is taken
    already. A session that is the first to use the card does decide, for eager ops and Keras, too: on a card, 1.1 GiB
    were taken behind it with `allow_growth`, and 139 GiB where a tensor came first.

    ## When not to use it
    Sessions that come first or behind another one, programs that build graphs and run them in sessions, and those that
    configure devices by `tf.config` besides, are not reported, nor are tests.
    Keras 3 has no `set_session`: there `tf.config` is the only way.

    ## References
    - https://www.tensorflow.org/guide/migrate
    """

    code = "TFM108"
    summary = "session options come too late for a card that is in use"
    no_fix = "fractions of memory and device lists need your numbers"
    in_tests = False

    @on_call(*SESSIONS)
    def check(self, session: Call, file: File) -> Iterator[Finding]:
        if not runtime.session_limits_memory(file, session) or keras.runs_graphs(file, session):
            return
        if runtime.hides_cards(file, session.node):
            return
        if any(file.calls_within_reach(*knowledge.group("configures_devices"))):
            return
        user = runtime.devices_made_by(file, session.node)
        if user is not None and user.name not in SESSIONS:
            yield self.finding(
                session,
                file,
                f"{user.method or 'an earlier call'} has made the allocator of the card, so that the options of this "
                "session change nothing; use tf.config before it",
                related=[(user, "uses the card first")],
                shows=Shows(metric="whole_card"),
            )
