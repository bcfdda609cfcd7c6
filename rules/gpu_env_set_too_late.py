from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, Safety, Severity, Shows, fixes, knowledge, on, ordering, runtime

READ_AT_START = knowledge.group("read_at_start")
VISIBLE = "CUDA_VISIBLE_DEVICES"
OF_CARDS = READ_AT_START & knowledge.group("leaves_gpu_memory")


class GpuEnvSetTooLate(Rule):
    """
    ## What it does
    Reports environment variables of the GPU allocator and of device visibility that are set after the runtime has
    certainly been initialised; those of the cards also after a session of this process.

    ## Why it costs memory
    TensorFlow reads them once, when it makes its devices. Set later they change nothing in this process: the
    allocator already holds nearly all memory, on every GPU.

    ## Fix safety
    Unsafe: from then on the setting takes effect, which it did not before.

    ## When not to use it
    When the variable is meant for processes that are started later. Where the program starts one behind it, gives the
    cards to Faiss, or sets the variable to the same before, it is not reported.

    ## References
    - https://www.tensorflow.org/guide/gpu
    """

    code = "TFM105"
    summary = "allocator and visibility variables set after the runtime is initialised change nothing"
    severity = Severity.ERROR
    fix_safety = (Safety.UNSAFE,)

    @on(runtime.settings, *sorted(READ_AT_START))
    def check(self, setting: runtime.Setting, file: File) -> Iterator[Finding]:
        starter = _read_by(file, setting)
        if starter is None or _for_others(file, setting) or _is_set_already(file, setting, starter):
            return
        yield self.finding(
            setting.where,
            file,
            f"{setting.variable} is read when the runtime starts, and {starter.method} has started it: "
            "this changes nothing",
            fix=fixes.move_before(file, setting.node, starter.node, "set it before the runtime starts"),
            related=[(starter, "initialises the runtime")],
            shows=Shows(metric="set_too_late"),
        )


def _read_by(file: File, setting: runtime.Setting) -> Call | None:
    """The call before a setting that certainly has read the variable: a session reads those of the cards."""
    if setting.variable not in READ_AT_START:
        return None
    started = runtime.devices_made_by if setting.variable in OF_CARDS else runtime.initialised_by
    return started(file, setting.node)


def _is_set_already(file: File, setting: runtime.Setting, starter: Call) -> bool:
    """Whether the variable was set to the same, at the top of the program, before it was read."""
    if not file.is_own(starter.node):
        return False
    at = file.tree.order(starter.node)
    before = (each for each in runtime.settings.of(file) if each.variable == setting.variable)
    same = (each for each in before if each.value.known and each.value == setting.value)
    homes = (None, file.contexts.function(starter.node))
    return any(
        file.tree.order(each.node) < at and not file.contexts.conditional(each.node, home or file.module)
        for each in same
        if (home := file.contexts.function(each.node)) in homes and ordering.in_script(file, each.node)
    )


def _for_others(file: File, setting: runtime.Setting) -> bool:
    """Whether the program starts others behind the setting, or another library that asks for it, which it may be meant
    for."""
    at = file.tree.order(setting.node)
    others = ("starts_programs", *(("starts_on_visible_gpus",) if setting.variable == VISIBLE else ()))
    found = (call for group in others for call in file.calls(*knowledge.group(group)))
    return any(file.tree.order(call.node) > at for call in found)
