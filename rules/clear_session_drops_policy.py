from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import policy_name

from tfmemlint.api import (
    Binds,
    Call,
    Class,
    File,
    Finding,
    Fix,
    Function,
    Node,
    Rule,
    Safety,
    home_of,
    insert_after,
    is_variable,
    on_call,
    walk,
)

CLEAR = "tf.keras.backend.clear_session"
POLICIES = ("tf.keras.mixed_precision.set_global_policy", "tf.keras.config.set_dtype_policy")
MIXED = frozenset({"mixed_float16", "mixed_bfloat16", "float16", "bfloat16"})


class ClearSessionDropsPolicy(Rule):
    """
    ## What it does
    Reports `clear_session()` after a 16 bit dtype policy was set, with no policy set again after it.

    ## Why it costs memory
    In Keras 3 the global dtype policy is part of the state that `clear_session()` drops. Models built afterwards are
    float32: activations take twice the memory that the program was tuned for.

    ## Fix safety
    Unsafe: models built after it compute in 16 bits, as the policy said.

    ## When not to use it
    With Keras 2 (`tf_keras`), which keeps the policy; it is not reported there.

    ## References
    - https://keras.io/api/mixed_precision/
    """

    code = "TFM209"
    summary = "clear_session() makes Keras 3 forget the dtype policy"
    fix_safety = (Safety.UNSAFE,)

    @on_call(CLEAR)
    def check(self, clear: Call, file: File) -> Iterator[Finding]:
        if self._keras_2(file):
            return
        order = file.effects.order("dtype policy", _classify)
        policy = order.before(clear.node, "policy")
        if (
            policy is None
            or not policy.certain
            or not isinstance(policy.node, cst.Call)
            or self._set_again(clear, file)
        ):
            return
        if not self._goes_on(clear, file):
            return
        earlier = file.call(policy.node)
        yield self.finding(
            clear,
            file,
            "Keras 3 forgets the dtype policy here: models built after it are float32 and take twice the activation "
            "memory",
            fix=self._again(clear, earlier, file),
            related=[(earlier, "the policy that is dropped")],
        )

    def _keras_2(self, file: File) -> bool:
        imports = (d for ds in file.flow(file.module).end.values() for d in ds if d.binds is Binds.IMPORT)
        return any(d.api.partition(".")[0] == "tf_keras" for d in imports) or "TF_USE_LEGACY_KERAS" in file.source.text

    def _goes_on(self, clear: Call, file: File) -> bool:
        """Whether anything that may build a model runs after the clearing."""
        if file.contexts.loop(clear.node) is not None or file.contexts.function(clear.node) is not None:
            return True
        start = file.tree.order(clear.node)
        later = (file.call(node) for node in file.tree.of(cst.Call) if file.tree.order(node) > start)
        return any(
            (call.name or "").startswith("tf.keras.") or isinstance(call.target, (Function, Class)) for call in later
        )

    def _set_again(self, clear: Call, file: File) -> bool:
        """Whether a policy is set after the clearing: in the same loop or function, or in what is called there."""
        loop = file.contexts.loop(clear.node)
        scope: Node = loop or file.contexts.function(clear.node) or file.module
        start = file.tree.order(clear.node)
        return any(
            isinstance(node, cst.Call) and file.tree.order(node) > start and self._sets(file.call(node), file, 2)
            for node in walk(scope)
        )

    def _sets(self, call: Call, file: File, depth: int) -> bool:
        if call.name in POLICIES:
            return True
        bodies = [t.node.body for t in call.target.options if isinstance(t, Function)] if depth else []
        return any(
            isinstance(n, cst.Call) and self._sets(file.call(n), file, depth - 1) for b in bodies for n in walk(b)
        )

    def _again(self, clear: Call, policy: Call, file: File) -> Fix | None:
        line = file.tree.statement(clear.node)
        chosen = policy.arg(0)
        if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or chosen is None:
            return None
        if not isinstance(chosen.expression, (cst.Name, cst.SimpleString)):
            return None
        scope = file.scope_of(clear.node)
        around = (scope, *file.scopes_around(scope))
        names = (n for n in walk(policy.node, cst.Name) if is_variable(n, file))
        if not all(any(home_of(name, file) is each for each in around) for name in names):
            return None
        return Fix("set the policy again", (insert_after(file, line, file.text(policy.node)),), Safety.UNSAFE)


def _classify(node: Call | cst.BaseSmallStatement) -> str | None:
    if not isinstance(node, Call) or node.name not in POLICIES:
        return None
    return "policy" if policy_name(node) in MIXED else None
