from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, api_text, on_call, replace_node

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
            "all their memory is taken before growth or a "
            "limit can apply; list the physical devices instead",
            fix=self._list(probe, file),
        )

    def _list(self, probe: Call, file: File) -> Fix | None:
        spelled = api_text(file, LIST)
        if spelled is None or probe.method == "list_local_devices":
            return None
        safe = not probe.node.args and self._truth_value(probe, file)
        edit = replace_node(file, probe.node, f'{spelled}("GPU")')
        return Fix("list the physical devices", (edit,), Safety.SAFE if safe else Safety.DISPLAY)

    def _truth_value(self, probe: Call, file: File) -> bool:
        """Whether the call's result is only asked whether it is true."""
        parent = file.tree.parent(probe.node)
        if isinstance(parent, (cst.If, cst.While)):
            return parent.test is probe.node
        if isinstance(parent, cst.IfExp):
            return parent.test is probe.node
        return isinstance(parent, cst.UnaryOperation) and isinstance(parent.operator, cst.Not)
