from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Const, File, Finding, Fix, Rule, Safety, Severity, Shows, fixes, on, runtime

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

    @on(runtime.settings, VARIABLE)
    @on(runtime.given_to_children(VARIABLE))
    def check(self, setting: runtime.Setting, file: File) -> Iterator[Finding]:
        if setting.variable != VARIABLE or setting.expression is None:
            return  # what stands in a dictionary that is made elsewhere is reported there
        value = setting.value
        if isinstance(value, Const) and value.value not in ("true", "false"):
            yield self.finding(
                setting.where,
                file,
                f"TensorFlow ignores {VARIABLE}={value.value!r} and takes the whole GPU: "
                "it must be exactly 'true' or 'false'",
                fix=_spelled(file, setting),
                shows=Shows(metric="whole_card"),
            )


def _spelled(file: File, setting: runtime.Setting) -> Fix | None:
    """Write the word that the text means, where it is written at this place."""
    value, code = setting.value, setting.expression
    meant = str(value.value).strip().lower() if isinstance(value, Const) else ""
    word = "true" if meant in MEANS_TRUE else "false" if meant in MEANS_FALSE else None
    if word is None or code is None or file.value(code) != value:
        return None
    text = file.text(code)
    quote = text[0] if text[0] in "'\"" else '"'
    if quote != text[0] and text not in ("1", "0", "True", "False"):
        return None
    return Fix.safe(f"write {word!r}", fixes.replace_node(file, code, f"{quote}{word}{quote}"))
