from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Class,
    Edit,
    File,
    Finding,
    Fix,
    Function,
    Rule,
    Safety,
    fixes,
    home_of,
    is_variable,
    keras,
    on_call,
    walk,
)

MIXED = ("mixed_float16", "mixed_bfloat16", "float16", "bfloat16")


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

    @on_call("tf.keras.backend.clear_session")
    def check(self, clear: Call, file: File) -> Iterator[Finding]:
        policy = keras.policy_set_before(file, clear.node, *MIXED)
        if (
            policy is None
            or keras.keras_2(file)
            or keras.policy_set_after(file, clear.node)
            or not _goes_on(file, clear)
        ):
            return
        yield self.finding(
            clear,
            file,
            "Keras 3 forgets the dtype policy here: models built after it are float32 and take twice the activation "
            "memory",
            fix=Fix.unsafe("set the policy again", _again(file, clear, policy)),
            related=[(policy, "the policy that is dropped")],
        )


def _goes_on(file: File, clear: Call) -> bool:
    """Whether anything that may build a model runs after the clearing."""
    if file.contexts.loop(clear.node) is not None or file.contexts.function(clear.node) is not None:
        return True
    start = file.tree.order(clear.node)
    later = (file.call(node) for node in file.tree.of(cst.Call) if file.tree.order(node) > start)
    return any((c.name or "").startswith("tf.keras.") or isinstance(c.target, (Function, Class)) for c in later)


def _again(file: File, clear: Call, policy: Call) -> Edit | None:
    """The call that sets the policy, below the clearing, where what it names is seen there, too."""
    line, chosen, scope = file.tree.statement(clear.node), policy.arg(0), file.scope_of(clear.node)
    if not isinstance(line, cst.SimpleStatementLine) or len(line.body) != 1 or chosen is None:
        return None
    around = (scope, *file.scopes_around(scope))
    seen = all(home_of(name, file) in around for name in walk(policy.node, cst.Name) if is_variable(name, file))
    plain = isinstance(chosen.expression, (cst.Name, cst.SimpleString))
    return fixes.insert_after(file, line, file.text(policy.node)) if seen and plain else None
