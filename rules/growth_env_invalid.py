from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._environment import Setting, passed_on, settings

from tfmemlint.api import Const, File, Finding, Fix, Rule, Safety, Severity, on_file, replace_node

VARIABLE = "TF_FORCE_GPU_ALLOW_GROWTH"
MEANS_TRUE = frozenset({"1", "true", "yes", "on", "t", "y"})
MEANS_FALSE = frozenset({"0", "false", "no", "off", "f", "n"})


class GrowthEnvInvalid(Rule):
    """
    ## What it does
    Reports `TF_FORCE_GPU_ALLOW_GROWTH` set to anything but exactly `"true"` or `"false"`.

    ## Why it costs memory
    TensorFlow compares the text with these two words, small letters included. For `"1"` or `"True"` it logs one error
    line, ignores the variable, and takes nearly all memory of the GPU.

    ## Fix safety
    Safe: it does what the text says.

    ## When not to use it
    Never.

    ## References
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TFM110"
    summary = "TF_FORCE_GPU_ALLOW_GROWTH is ignored unless it is exactly true or false"
    severity = Severity.ERROR
    fix_safety = (Safety.SAFE,)

    @on_file(VARIABLE)
    def check(self, file: File) -> Iterator[Finding]:
        for setting in (*settings(file), *passed_on(file, VARIABLE)):
            value = setting.value
            if setting.expression is None:
                continue  # a dictionary that is made elsewhere, and reported there
            if setting.variable != VARIABLE or not isinstance(value, Const) or value.value in ("true", "false"):
                continue
            yield self.finding(
                setting.node,
                file,
                f"TensorFlow ignores {VARIABLE}={value.value!r} and takes the whole GPU: "
                "it must be exactly 'true' or 'false'",
                fix=self._word(setting, value, file),
            )

    def _word(self, setting: Setting, value: Const, file: File) -> Fix | None:
        written = str(value.value).strip().lower()
        word = "true" if written in MEANS_TRUE else "false" if written in MEANS_FALSE else None
        if word is None or setting.expression is None or file.value(setting.expression) != value:
            return None
        text = file.text(setting.expression)
        if text[:1] not in "'\"" and text not in ("1", "0", "True", "False"):
            return None
        quote = text[0] if text[0] in "'\"" else '"'
        return Fix(f"write {word!r}", (replace_node(file, setting.expression, f"{quote}{word}{quote}"),), Safety.SAFE)
