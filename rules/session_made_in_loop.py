from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._sessions import SESSIONS

from tfmemlint.api import Call, File, Finding, Rule, on_call


class SessionMadeInLoop(Rule):
    """
    ## What it does
    Reports TensorFlow 1 sessions that are made in a loop and neither entered by `with` nor closed.

    ## Why it costs memory
    A session holds its variables' memory and its own copy of the graph until it is closed.

    ## Example
    ```python
    for batch in batches:
        session = tf.compat.v1.Session()
        session.run(step, {x: batch})
    ```
    Make one, and close it:
    ```python
    with tf.compat.v1.Session() as session:
        for batch in batches:
            session.run(step, {x: batch})
    ```

    ## Fix safety
    No fix: whether the sessions can be one depends on their variables.

    ## When not to use it
    Never.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/compat/v1/Session
    """

    code = "TFM902"
    summary = "a session made in a loop and not closed keeps its variables and graph"

    @on_call(*SESSIONS)
    def check(self, made: Call, file: File) -> Iterator[Finding]:
        loop = file.contexts.loop(made.node)
        if loop is None or isinstance(file.tree.parent(made.node), cst.WithItem):
            return
        if self._closed(made, file):
            return
        yield self.finding(
            made,
            file,
            "each iteration makes a session that is never closed: its variables and graph stay in memory",
            related=[(loop, "the loop")],
        )

    def _closed(self, made: Call, file: File) -> bool:
        """Whether the session is closed, entered, returned or stored somewhere."""
        assign = file.tree.parent(made.node)
        if not isinstance(assign, cst.Assign) or not isinstance(assign.targets[0].target, cst.Name):
            return not isinstance(assign, cst.Attribute)
        target = assign.targets[0].target
        for definition in file.flow(file.scope_of(target)).bindings.get(target.value, ()):
            for use in file.uses_of(definition) if definition.node is target else ():
                parent = file.tree.parent(use)
                if isinstance(parent, cst.Attribute) and parent.attr.value in ("close", "__enter__", "as_default"):
                    return True
                if isinstance(parent, (cst.WithItem, cst.Return, cst.Yield)):
                    return True
                if isinstance(parent, cst.Arg):
                    call = file.tree.parent(parent)
                    if (
                        isinstance(call, cst.Call)
                        and isinstance(call.func, cst.Attribute)
                        and call.func.attr.value in ("append", "closing")
                    ):
                        return True
        return False
