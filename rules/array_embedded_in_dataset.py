from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Array, Call, Const, File, Finding, Rule, elements, on_call, show_bytes

MAPPED = frozenset({"np.memmap", "h5py.File", "np.lib.format.open_memmap"})
"""Calls whose arrays stay on disk until they are read."""


class ArrayEmbeddedInDataset(Rule):
    """
    ## What it does
    Reports `from_tensor_slices` and `from_tensors` of arrays that are known to be large, or that are mapped from disk.

    ## Why it costs memory
    The array is copied into a tensor when the dataset is made, and once more when an iterator starts; NumPy's own copy
    stays beside them. Inside a traced function it becomes a constant of the graph, which cannot pass 2 GiB. A mapped
    file is read into memory as a whole.

    ## Example
    ```python
    ds = tf.data.Dataset.from_tensor_slices(np.load("images.npy", mmap_mode="r")).batch(32)
    ```
    Hand over slices as they are asked for:
    ```python
    images = np.load("images.npy", mmap_mode="r")
    spec = tf.TensorSpec(images.shape[1:], images.dtype)
    ds = tf.data.Dataset.from_generator(lambda: iter(images), output_signature=spec).batch(32)
    ```

    ## Fix safety
    There is no automatic repair: a generator, files of records and smaller arrays are all possible.

    ## When not to use it
    When two more copies of the array fit into memory and the speed of slicing it is worth them.

    ## References
    - https://www.tensorflow.org/guide/data#consuming_numpy_arrays
    """

    code = "TFM311"
    summary = "a large array is copied into the dataset"

    @on_call("tf.data.Dataset.from_tensor_slices", "tf.data.Dataset.from_tensors")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        argument = call.arg("tensors")
        if argument is None:
            return
        found: list[tuple[int, list[Array]]] = []
        for option in argument.value.options:
            arrays = [leaf for leaf in elements(option) if isinstance(leaf, Array) and leaf.library == "np"]
            found.append((sum(leaf.bytes or 0 for leaf in arrays), arrays))
        size = min((size for size, _ in found), default=0)
        disk = bool(found) and all(any(self._on_disk(leaf) for leaf in arrays) for _, arrays in found)
        if size < file.config.min_bytes and not disk:
            return
        what = f"{show_bytes(size)} of arrays are" if size else "an array mapped from disk is"
        why = "read whole and copied into the dataset" if disk else "copied into the dataset"
        yield self.finding(
            call, file, f"{what} {why}, and copied again when an iterator starts; feed slices from a generator", bytes=size or None
        )

    def _on_disk(self, leaf: Array) -> bool:
        origin = leaf.origin
        if origin is None:
            return False
        if origin.name == "np.load":
            return origin.arg("mmap_mode") is not None and origin.value_of("mmap_mode") != Const(None)
        return origin.name in MAPPED
