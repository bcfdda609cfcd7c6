from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import File, Finding, Rule, Shows, knowledge, on, ordering, runtime

CONFIGURES = knowledge.group("configures_devices")
LEAVES_MEMORY = knowledge.group("leaves_gpu_memory")


class GpuSharedWithoutLimit(Rule):
    """
    ## What it does
    Reports programs that run TensorFlow and another allocator of the same GPU (CuPy, PyTorch on CUDA, JAX, Numba,
    PyCUDA, RAPIDS) and set neither memory growth, a limit nor visible devices.

    ## Why it costs memory
    TensorFlow maps nearly all memory of the card at its first op. What the other library asks for afterwards fails
    with out-of-memory, whatever the two really need.

    ## When not to use it
    When the other library runs on another card or on the CPU.

    ## References
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TFM106"
    summary = "TensorFlow takes the whole card that another library needs too"
    no_fix = "how the card is to be shared is yours to say"
    in_tests = False

    @on(runtime.gpu_allocations)
    def check(self, taken: runtime.Allocation, file: File) -> Iterator[Finding]:
        if taken is not runtime.gpu_allocations.of(file)[0] or _shares(file):
            return
        if any(not any(ordering.conditions(file, call.node)) for call in runtime.computing_calls(file)):
            yield self.finding(
                taken.call,
                file,
                f"TensorFlow takes nearly all memory of the card that {taken.library} uses here; "
                "set memory growth or a limit first",
                shows=Shows(metric="whole_card"),
            )


def _shares(file: File) -> bool:
    """Whether the program says how the card, or which of several, is shared."""
    set_here = any(each.variable in LEAVES_MEMORY for each in runtime.settings.of(file))
    return set_here or any(file.calls_within_reach(*CONFIGURES))
