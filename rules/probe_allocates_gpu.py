from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import (
    Call,
    Does,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Shows,
    Use,
    fixes,
    knowledge,
    on_call,
    ordering,
    runtime,
    uses,
)

LIST = "tf.config.list_physical_devices"
PROBES = (
    "tensorflow.python.client.device_lib.list_local_devices", "tf.python.client.device_lib.list_local_devices",
    "tf.test.is_gpu_available", "tf.compat.v1.test.is_gpu_available",
    "tf.test.gpu_device_name", "tf.compat.v1.test.gpu_device_name",
)  # fmt: skip
LIMITS = (*knowledge.group("configures_devices"), "tf.compat.v1.GPUOptions")
"""What says how much of a card TensorFlow may take, besides the options of sessions."""
SESSIONS = ("tf.compat.v1.Session", "tf.compat.v1.InteractiveSession")


class ProbeAllocatesGpu(Rule):
    """
    ## What it does
    Reports `device_lib.list_local_devices()`, `tf.test.is_gpu_available()` and `tf.test.gpu_device_name()`.

    ## Why it costs memory
    These probes make real GPU devices with TensorFlow's default options, so that the first tensor on a GPU takes nearly
    all its memory. Memory growth or a limit that is set between the two raises nothing and changes nothing.

    ## Fix safety
    Safe where only the truth value is used; otherwise shown only, for the result is another kind of value.

    ## When not to use it
    When the process does nothing but report its devices, which is not reported where the module prints the answers and
    nothing else, or behind `TF_FORCE_GPU_ALLOW_GROWTH`, with which they grow. Nor are programs that go on to compute
    with TensorFlow, set neither growth nor a limit and leave the card to no other library: they take all of it anyway,
    and so may the modules in which a script goes on, or those that lead to the one with the probe. Nor is
    `list_local_devices` with options of its own for the session, nor a probe behind a session or a tensor, also one
    that a module makes while it is imported: the devices are made, with the limits that were set before.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/config/list_physical_devices
    """

    code = "TFM104"
    summary = "this probe makes the GPU devices, and growth or a limit that is set later changes nothing"
    fix_safety = (Safety.SAFE, Safety.DISPLAY)
    in_tests = False  # where they are what the test framework offers for skipping tests

    @on_call(*PROBES)
    def check(self, probe: Call, file: File) -> Iterator[Finding]:
        if probe.arg("session_config") is not None or _takes_all_anyway(file, probe) or _only_reports(file):
            return
        if runtime.hides_cards(file, probe.node) or runtime.forces_growth(file, probe.node):
            return
        made_by = runtime.devices_made_by(file, probe.node), runtime.devices_made_at_import(file, probe.node)
        if any(call is not None and call.name not in PROBES for call in made_by):
            return  # the probe shares their allocators
        yield self.finding(
            probe,
            file,
            f"{(probe.name or '').rpartition('.')[2]}() makes the GPU devices with default options: "
            "the first tensor takes all their memory, whatever growth or limit is set after; list the physical devices",
            fix=_list(file, probe),
            shows=Shows(metric="probed"),
        )


def _takes_all_anyway(file: File, probe: Call) -> bool:
    """Whether TensorFlow has the whole card in this program with and without the probe: it computes on it, or a script
    goes on in modules that may, nothing says how much it may take, and no other library needs any."""
    runs = file.calls(*SESSIONS, *knowledge.group("starts_runtime"))  # in a graph, too, where no op starts it
    computes = any(call.name not in PROBES for call in runtime.computing_calls(file)) or any(runs)
    computes = computes or (ordering.in_script(file, probe.node) and runtime.goes_on_elsewhere(file))
    computes = computes or _of_programs_without_limits(file)
    return computes and not _says_memory(file) and not runtime.gpu_allocations.of(file)


def _of_programs_without_limits(file: File) -> bool:
    """Whether other modules of the project lead to this one, and no code there says how much TensorFlow may take."""
    words = {name.rpartition(".")[2] for name in LIMITS}
    siblings = file.siblings
    return siblings is not None and bool(siblings.importing_files()) and not siblings.callers(words)


def _says_memory(file: File) -> bool:
    return any(file.calls(*LIMITS)) or runtime.names_memory_options(file)


def _only_reports(file: File) -> bool:
    """Whether the module starts nothing, says nothing of memory, and only shows what its probes find."""
    if any(file.calls(*SESSIONS, *knowledge.group("starts_runtime"))) or _says_memory(file):
        return False
    if runtime.gpu_allocations.of(file):
        return False
    others = any(call.name not in PROBES for call in runtime.computing_calls(file))
    return not others and all(_is_shown(file, probe) for probe in file.calls(*PROBES))


def _is_shown(file: File, probe: Call) -> bool:
    """Whether what a probe gives is only shown, or gone through, counted and shown in parts."""
    if isinstance(file.tree.parent(probe.node), cst.Expr):
        return True  # by the notebook
    found = list(uses(file, probe.node, parts=True))
    looped = {id(use) for use in found if use.does is Does.ITERATE and isinstance(use.place, cst.For)}
    return bool(found) and all(id(use) in looped or _shows(file, use) for use in found)


def _shows(file: File, use: Use) -> bool:
    statement = file.tree.statement(use.node)
    if use.part and isinstance(statement, cst.If):
        return True
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    shown = small.value if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) else None
    return shown is not None and knowledge.in_group(file.call(shown).name, "shows")


def _list(file: File, probe: Call) -> Fix | None:
    """Ask for the list of GPUs, which is true where the probe is."""
    spelled = fixes.api_text(file, LIST)
    if spelled is None or probe.method == "list_local_devices" or file.may_be_version_1:
        return None  # version 1 has no such function
    safety = Safety.SAFE if not probe.node.args and ordering.is_condition(file, probe.node) else Safety.DISPLAY
    return Fix.of(safety, "list the physical devices", fixes.replace_node(file, probe.node, f'{spelled}("GPU")'))
