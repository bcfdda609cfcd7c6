from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Array, Call, Const, File, Finding, Instance, Rule, Value, elements, on_call, show_bytes

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

    ## When not to use it
    When two more copies of the array fit into memory and the speed of slicing it is worth them.

    ## References
    - https://www.tensorflow.org/guide/data#consuming_numpy_arrays
    """

    code = "TFM311"
    summary = "a large array is copied into the dataset"
    no_fix = "a generator, files of records and smaller arrays are all possible"

    @on_call("tf.data.Dataset.from_tensor_slices", "tf.data.Dataset.from_tensors")
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        argument = call.arg("tensors")
        if argument is None:
            return
        found: list[tuple[int, list[Value]]] = []
        for option in argument.value.options:
            leaves = elements(option)
            found.append((sum(self._bytes(leaf) for leaf in leaves), leaves))
        size = min((size for size, _ in found), default=0)
        disk = bool(found) and all(
            any(self._on_disk(leaf, file.config.min_bytes) for leaf in leaves) for _, leaves in found
        )
        if size < file.config.min_bytes and not disk:
            return
        what = f"{show_bytes(size)} of arrays are" if size else "an array mapped from disk is"
        why = "read whole and copied into the dataset" if disk else "copied into the dataset"
        yield self.finding(
            call,
            file,
            f"{what} {why}, and copied again when an iterator starts; feed slices from a generator",
            bytes=size or None,
        )

    def _bytes(self, leaf: Value) -> int:
        """Bytes of an array of NumPy, as far as they are known; of several that it may be, the fewest."""
        sizes = [o.bytes or 0 if isinstance(o, Array) and o.library == "np" else 0 for o in leaf.options]
        return min(sizes, default=0)

    def _on_disk(self, leaf: Value, min_bytes: int) -> bool:
        """Whether the data stays in a file until it is read: a memory map, or a data set of an HDF5 file."""
        if isinstance(leaf, Instance):
            return leaf.type_name == "h5py.Dataset"
        origin = leaf.origin if isinstance(leaf, Array) else None
        if origin is None or (isinstance(leaf, Array) and (leaf.bytes or min_bytes) < min_bytes):
            return False
        if origin.name == "np.load":
            return origin.arg("mmap_mode") is not None and origin.value_of("mmap_mode") != Const(None)
        if origin.name in ("np.array", "np.asarray") and origin.arg(0) is not None:
            return self._on_disk(origin.value_of(0), min_bytes)
        return origin.name in MAPPED
