from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, fixes, keras, on_call

MIXED = ("mixed_float16", "mixed_bfloat16", "float16", "bfloat16")


class ClearSessionDropsPolicy(Rule):
    """
    ## What it does
    Reports `clear_session()` after a 16 bit dtype policy was set, with no policy set again after it, where a model may
    be built behind it: in the next round of a loop, after it, or after the training that a callback clears in. Views of
    layers that are there (`Model(net.input, layer.output)`) and models that are loaded keep their dtypes.

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
        if policy is None or keras.keras_2(file) or keras.policy_set_after(file, clear.node):
            return
        if not keras.may_build_after(file, clear.node):
            return
        chosen = policy.arg(0)
        plain = chosen is not None and isinstance(chosen.expression, (cst.Name, cst.SimpleString))
        again = fixes.repeat_below(file, clear.node, policy.node) if plain else None
        yield self.finding(
            clear,
            file,
            "Keras 3 forgets the dtype policy here: models built after it are float32 and take twice the activation "
            "memory",
            fix=Fix.unsafe("set the policy again", again),
            related=[(policy, "the policy that is dropped")],
        )
