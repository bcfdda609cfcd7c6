from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._dtypes import POLICIES, policy_name

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, on_call, replace_node


class Float64Policy(Rule):
    """
    ## What it does
    Reports `set_floatx("float64")` and float64 dtype policies.

    ## Why it costs memory
    Every weight, activation, gradient and optimizer slot of every layer made afterwards takes twice the bytes, and
    most GPUs compute float64 many times slower.

    ## Fix safety
    Unsafe: the numbers have 7 digits instead of 16.

    ## When not to use it
    Where the digits are needed; silence this one line. Other float64 findings of the module are silent because of it.

    ## References
    - https://keras.io/api/utils/config_utils/#setfloatx-function
    """

    code = "TFM204"
    summary = "a float64 policy doubles the memory of every layer"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call(*POLICIES)
    def check(self, policy: Call, file: File) -> Iterator[Finding]:
        chosen = policy.arg(0, "policy", "value")
        if chosen is None or policy_name(policy) != "float64":
            return
        fix = None
        if isinstance(chosen.expression, cst.SimpleString):
            written = file.text(chosen.expression).replace("float64", "float32")
            fix = Fix("use float32", (replace_node(file, chosen.expression, written),), Safety.UNSAFE)
        yield self.finding(
            policy,
            file,
            "every layer made from here on takes twice the memory: weights, activations, gradients and optimizer slots",
            fix=fix,
        )
