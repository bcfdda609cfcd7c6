from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, fixes, keras, knowledge, on_call


class Float64Policy(Rule):
    """
    ## What it does
    Reports `set_floatx("float64")` and float64 dtype policies.

    ## Why it costs memory
    Every weight, activation, gradient and optimizer slot of every layer made afterwards takes twice the bytes, and
    most GPUs compute float64 many times slower.

    ## Fix safety
    Shown only: an op raises where it then meets float64 from NumPy, such as the advantages that a buffer collects; cast
    those first. The numbers have 7 digits instead of 16.

    ## When not to use it
    Where the digits are needed; silence this one line. Other float64 findings of the module are silent because of it.

    ## References
    - https://keras.io/api/utils/config_utils/#setfloatx-function
    """

    code = "TFM204"
    summary = "a float64 policy doubles the memory of every layer"
    fix_safety = (Safety.DISPLAY,)
    in_tests = False

    @on_call(*knowledge.group("sets_dtype_policy"), *knowledge.group("sets_floatx"))
    def check(self, policy: Call, file: File) -> Iterator[Finding]:
        chosen = policy.arg(0, "policy", "value")
        if chosen is None or keras.dtype_policy(policy) != "float64":
            return
        text = file.text(chosen.expression).replace("float64", "float32")
        written = isinstance(chosen.expression, cst.SimpleString)
        yield self.finding(
            policy,
            file,
            "every layer made from here on takes twice the memory: weights, activations, gradients and optimizer slots",
            fix=Fix.shown("use float32", fixes.replace_node(file, chosen.expression, text) if written else None),
        )
