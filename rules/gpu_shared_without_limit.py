from __future__ import annotations

from collections.abc import Iterator

import libcst as cst
from tfmemlint_rules._environment import settings

from tfmemlint.api import Call, Const, File, Finding, Rule, on_call
from tfmemlint.model.runtime import initialises

ALLOCATES = (
    "cupy.array", "cupy.asarray", "cupy.zeros", "cupy.ones", "cupy.empty", "cupy.arange", "cupy.full",
    "cupy.random.rand", "cupy.random.randn", "cupy.random.normal", "cupy.random.random", "cupy.linspace",
    "torch.Tensor.cuda", "torch.cuda.set_device", "torch.cuda.empty_cache", "torch.cuda.FloatTensor",
    "jax.numpy.array", "jax.numpy.zeros", "jax.numpy.ones", "jax.numpy.arange", "jax.device_put", "jax.jit",
    "jax.random.normal", "jax.random.PRNGKey", "numba.cuda.to_device", "numba.cuda.device_array", "numba.cuda.jit",
    "pycuda.gpuarray.to_gpu", "pycuda.driver.mem_alloc", "cudf.DataFrame", "cudf.read_csv", "cudf.Series",
    "torch.zeros", "torch.ones", "torch.randn", "torch.rand", "torch.tensor", "torch.empty", "torch.device",
)  # fmt: skip
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

    ## Example
    ```python
    images = cupy.asarray(batch)
    outputs = tf.matmul(weights, weights)
    ```
    Let TensorFlow take memory as it needs it:
    ```python
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
    ```

    ## Fix safety
    No fix: how the card is to be shared is yours to say.

    ## When not to use it
    When the other library runs on another card or on the CPU.

    ## References
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TFM106"
    summary = "TensorFlow takes the whole card that another library needs too"

    @on_call(*ALLOCATES)
    def check(self, other: Call, file: File) -> Iterator[Finding]:
        if not self._on_gpu(other) or self._alternative(other, file):
            return
        if next(self._others(file), other).node is not other.node:
            return
        if any(file.calls(*LIMITS)) or any(s.variable in VARIABLES for s in settings(file)):
            return
        if not any(initialises(file.call(node)) and not self._alternative(file.call(node), file) for node in file.tree.of(cst.Call)):
            return
        library = (other.name or "").partition(".")[0]
        yield self.finding(
            other,
            file,
            f"TensorFlow takes nearly all memory of the card that {library} uses here; set memory growth or a limit first",
        )

    def _others(self, file: File) -> Iterator[Call]:
        found = [c for c in file.calls(*ALLOCATES) if self._on_gpu(c) and not self._alternative(c, file)]
        yield from sorted(found, key=lambda c: file.tree.order(c.node))

    def _on_gpu(self, call: Call) -> bool:
        """Torch allocates on the card only where it is told to."""
        if not (call.name or "").startswith("torch.") or ".cuda" in (call.name or ""):
            return True
        device = call.value_of("device") if call.name != "torch.device" else call.value_of(0)
        return isinstance(device, Const) and str(device.value).startswith("cuda")

    def _alternative(self, call: Call, file: File) -> bool:
        """Whether the call stands in a branch or handler: one back end of several."""
        return any(isinstance(a, (cst.If, cst.Try, cst.ExceptHandler)) and not _main_guard(a) for a in file.tree.ancestors(call.node))


def _main_guard(node: object) -> bool:
    test = getattr(node, "test", None)
    return isinstance(test, cst.Comparison) and isinstance(test.left, cst.Name) and test.left.value == "__name__"
