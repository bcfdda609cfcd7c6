from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, fixes, on_call, ordering

LIST = "tf.config.list_physical_devices"


class ProbeAllocatesGpu(Rule):
    """
    ## What it does
    Reports `device_lib.list_local_devices()`, `tf.test.is_gpu_available()` and `tf.test.gpu_device_name()`.

    ## Why it costs memory
    These probes make real GPU devices with TensorFlow's default options, so the allocator takes nearly all memory of
    every GPU. Memory growth or a limit that is set afterwards raises nothing and changes nothing.

    ## Fix safety
    Safe where only the truth value is used; otherwise shown only, for the result is another kind of value.

    ## When not to use it
    When the process does nothing but report its devices.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/config/list_physical_devices
    """

    code = "TFM104"
    summary = "this probe makes the GPU devices and takes all their memory"
    fix_safety = (Safety.SAFE, Safety.DISPLAY)
    in_tests = False  # where they are what the test framework offers for skipping tests

    @on_call(
        "tensorflow.python.client.device_lib.list_local_devices",
        "tf.python.client.device_lib.list_local_devices",
        "tf.test.is_gpu_available",
        "tf.compat.v1.test.is_gpu_available",
        "tf.test.gpu_device_name",
        "tf.compat.v1.test.gpu_device_name",
    )
    def check(self, probe: Call, file: File) -> Iterator[Finding]:
        yield self.finding(
            probe,
            file,
            f"{(probe.name or '').rpartition('.')[2]}() makes the GPU devices with default options: "
            "all their memory is taken before growth or a limit can apply; list the physical devices instead",
            fix=_list(file, probe),
        )


def _list(file: File, probe: Call) -> Fix | None:
    """Ask for the list of GPUs, which is true where the probe is."""
    spelled = fixes.api_text(file, LIST)
    if spelled is None or probe.method == "list_local_devices":
        return None
    safety = Safety.SAFE if not probe.node.args and ordering.is_condition(file, probe.node) else Safety.DISPLAY
    return Fix.of(safety, "list the physical devices", fixes.replace_node(file, probe.node, f'{spelled}("GPU")'))
