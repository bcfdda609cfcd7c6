from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Const,
    Does,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Use,
    calls,
    fixes,
    limits,
    on_call,
    repetition,
    uses,
    variables,
)

RESETS = ("tf.config.experimental.reset_memory_stats", "reset_memory_stats")


class PeakNeverReset(Rule):
    """
    ## What it does
    Reports `get_memory_info(device)["peak"]` read in a loop that never calls `reset_memory_stats(device)`.

    ## Why it costs memory
    The peak counts from the start of the process. Read in a loop it is a running maximum: every setting after the
    most expensive one seems to need as much as that one, and the comparison picks the wrong setting.

    ## Fix safety
    Unsafe: the numbers that the loop prints change.

    ## When not to use it
    When the maximum over all iterations is what you want.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/config/experimental/reset_memory_stats
    """

    code = "TFM114"
    summary = "the peak of memory statistics is a running maximum unless it is reset"
    fix_safety = (Safety.UNSAFE,)

    @on_call("tf.config.experimental.get_memory_info")
    def check(self, info: Call, file: File) -> Iterator[Finding]:
        around = [each for each in repetition.repetitions(file, info.node) if not each.handler]
        if not around or not any(
            _takes_peak(file, use) for use in uses(file, info.node, through=limits.FOLLOWED_CALLS)
        ):
            return
        if not _of_other_devices(file, info, around[0]) and not _is_reset(file, info, around):
            loop = around[0]
            yield self.finding(
                info,
                file,
                "the peak counts since the process started: in this loop it is a running maximum; reset it each time",
                fix=_reset(file, info, loop) if loop.calls == 0 else None,
                related=[(loop.place, "the loop")],
            )


def _takes_peak(file: File, use: Use) -> bool:
    """`info["peak"]` and `info.get("peak")`."""
    if use.does is Does.METHOD and use.word == "get" and use.call is not None:
        return use.call.value_of(0) == Const("peak")
    index = use.place.slice[0].slice if isinstance(use.place, cst.Subscript) else None
    return use.does is Does.ITEM and isinstance(index, cst.Index) and file.value(index.value) == Const("peak")


def _of_other_devices(file: File, info: Call, loop: repetition.Repetition) -> bool:
    """Whether each iteration may ask another device."""
    device = info.arg("device")
    if device is None or isinstance(device.value, Const):
        return False
    asked = variables(file, device.expression) - {"self"}
    if loop.calls:  # by what the call of this function is given
        return bool(asked) and not loop.items.isdisjoint(variables(file, loop.inside))
    return not loop.items.isdisjoint(asked)


def _is_reset(file: File, info: Call, around: list[repetition.Repetition]) -> bool:
    """Whether code that runs again, or the function that asks, resets the statistics."""
    function = file.contexts.function(info.node)
    bodies = [loop.place for loop in around] + ([function] if function is not None else [])
    return any(any(calls(file, body, *RESETS, through=limits.FOLLOWED_CALLS)) for body in bodies)


def _reset(file: File, info: Call, loop: repetition.Repetition) -> Fix | None:
    device, module = info.arg("device"), info.receiver_node
    if device is None or not isinstance(device.value, Const) or module is None:
        return None
    if not isinstance(loop.place, (cst.For, cst.While)):
        return None
    text = f"{file.text(module)}.reset_memory_stats({file.text(device.expression)})"
    return Fix.unsafe("reset the peak first in each iteration", fixes.insert_first(file, loop.place, text))
