from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._environment import settings

from tfmemlint.api import Api, Call, Const, File, Finding, Instance, Node, Rule, Value, dotted, on_file
from tfmemlint.query.runtime import initialises

ALLOCATES = (
    "cupy.array", "cupy.asarray", "cupy.zeros", "cupy.ones", "cupy.empty", "cupy.arange", "cupy.full",
    "cupy.random.rand", "cupy.random.randn", "cupy.random.normal", "cupy.random.random", "cupy.linspace",
    "torch.Tensor.cuda", "torch.cuda.FloatTensor",
    "jax.numpy.array", "jax.numpy.zeros", "jax.numpy.ones", "jax.numpy.arange", "jax.device_put", "jax.jit",
    "jax.random.normal", "jax.random.PRNGKey", "numba.cuda.to_device", "numba.cuda.device_array", "numba.cuda.jit",
    "pycuda.gpuarray.to_gpu", "pycuda.driver.mem_alloc", "cudf.DataFrame", "cudf.read_csv", "cudf.Series",
    "torch.zeros", "torch.ones", "torch.randn", "torch.rand", "torch.tensor", "torch.empty", "torch.full",
)  # fmt: skip
LIBRARIES = ("cupy", "torch", "jax", "numba", "pycuda", "cudf")
LIMITS = (
    "tf.config.experimental.set_memory_growth", "tf.config.set_logical_device_configuration",
    "tf.config.set_visible_devices",
)  # fmt: skip
VARIABLES = frozenset({
    "TF_FORCE_GPU_ALLOW_GROWTH", "CUDA_VISIBLE_DEVICES", "XLA_PYTHON_CLIENT_PREALLOCATE", "TF_GPU_ALLOCATOR",
})  # fmt: skip


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

    @on_file("cupy", "torch", "jax", "numba", "pycuda", "cudf")
    def check(self, file: File) -> Iterator[Finding]:
        uses = [use for use in self._uses(file) if not _alternative(use.node, file)]
        if not uses or any(file.calls(*LIMITS)) or any(s.variable in VARIABLES for s in settings(file)):
            return
        first = min(uses, key=lambda use: file.tree.order(use.node))
        if not any(initialises(file.call(n)) and not _alternative(n, file) for n in file.tree.of(cst.Call)):
            return
        library = (first.name or "torch").partition(".")[0]
        yield self.finding(
            first,
            file,
            f"TensorFlow takes nearly all memory of the card that {library} uses here; "
            "set memory growth or a limit first",
        )

    def _uses(self, file: File) -> Iterator[Call]:
        """The calls that allocate on the card."""
        alone = {library for library in LIBRARIES if self._imported(library, file)}
        for call in file.calls(*ALLOCATES):
            library = (call.name or "").partition(".")[0]
            if library in alone and (library != "torch" or _cuda(call.value_of("device"))):
                yield call
        for word in ("cuda", "to") if "torch" in alone else ():
            for node in file.calls_by_word.get(word, ()):
                call = file.call(node)
                if call.receiver_node is None or (call.name or "torch").startswith(("tf.", "np.")):
                    continue
                given = call.value_of(0) if call.arg(0) is not None else call.value_of("device")
                if (word == "cuda" and not isinstance(file.value(call.receiver_node), Api)) or (
                    word == "to" and _cuda(given)
                ):
                    yield call

    def _imported(self, library: str, file: File) -> bool:
        """Whether the library is imported without a condition: not one back end of several."""
        homes = {file.contexts.function(s) for name in ("tensorflow", "keras") for s in _imports(name, file)}
        return any(
            not _alternative(s, file) and (None in homes or file.contexts.function(s) in (None, *homes))
            for s in _imports(library, file)
        )


def _imports(library: str, file: File) -> list[Node]:
    """The statements that import a library or something of it."""
    found: list[tuple[Node, Node]] = [(s, alias.name) for s in file.tree.of(cst.Import) for alias in s.names]
    found += [(s, s.module) for s in file.tree.of(cst.ImportFrom) if s.module is not None]
    return [s for s, name in found if (dotted(name) or "").partition(".")[0] == library]


def _cuda(device: Value) -> bool:
    """Whether a device of torch may be the card: `"cuda"`, `"cuda:0"`, `torch.device("cuda" if ... else "cpu")`."""
    for option in device.options:
        if isinstance(option, Instance) and option.type_name == "torch.device" and option.call is not None:
            option = option.call.value_of(0)
        if any(isinstance(o, Const) and str(o.value).startswith("cuda") for o in option.options):
            return True
    return False


def _alternative(node: Node, file: File) -> bool:
    """Whether something stands in a branch or handler: one back end of several."""
    for above in file.tree.ancestors(node):
        if isinstance(above, (cst.If, cst.Try, cst.ExceptHandler)) and not _main_guard(above):
            return True
    return False


def _main_guard(node: object) -> bool:
    test = getattr(node, "test", None)
    return isinstance(test, cst.Comparison) and isinstance(test.left, cst.Name) and test.left.value == "__name__"
