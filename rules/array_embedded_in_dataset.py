from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Array, Call, File, Finding, Rule, elements, on_call, show_bytes

UNSIZED = frozenset({"np.memmap"})


class ArrayEmbeddedInDataset(Rule):
    """
    ## What it does
    Reports `from_tensor_slices` and `from_tensors` of arrays that are known to be large: by shape and dtype, or because they
    are memory-mapped.

    ## Why it costs memory
    The array is copied into a tensor of the dataset, and once more for each iterator. On a GPU machine the tensor may be put
    on the GPU; inside a traced function it becomes a constant of the graph, which must not pass 2 GB.

    ## Example
    ```python
    ds = tf.data.Dataset.from_tensor_slices(np.zeros((60_000, 224, 224, 3), np.uint8))
    ```
    Stream the rows:
    ```python
    ds = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([224, 224, 3], tf.uint8))
    ```

    ## Fix safety
    No fix: where the rows come from is the program's own.

    ## When not to use it
    When the memory is there twice.

    ## References
    - https://www.tensorflow.org/guide/data#consuming_numpy_arrays
    """

    code = "TFM311"
    summary = "a large array is copied into the dataset"

    @on_call("tf.data.Dataset.from_tensor_slices", "tf.data.Dataset.from_tensors")
    def check(self, source: Call, file: File) -> Iterator[Finding]:
        arrays = [leaf for option in source.value_of("tensors").options for leaf in elements(option) if isinstance(leaf, Array) and leaf.library == "np"]
        sizes = [array.bytes for array in arrays]
        total = sum(size for size in sizes if size is not None)
        mapped = [array for array in arrays if array.bytes is None and self._mapped(array)]
        if total < file.config.min_bytes and not mapped:
            return
        cost = total if total >= file.config.min_bytes else None
        held = show_bytes(total) if cost is not None else "a memory-mapped file"
        made = next((a.origin for a in (mapped or arrays) if a.origin is not None), None)
        yield self.finding(
            source,
            file,
            f"{held} is copied into a tensor of the dataset, and again for each iterator; stream it from a generator or files",
            related=[(made, "the array comes from here")] if made is not None else [],
            bytes=cost,
        )

    def _mapped(self, array: Array) -> bool:
        """Whether an array of unknown size is one that does not fit into memory: mapped from a file."""
        call = array.origin
        if call is None:
            return False
        return call.name in UNSIZED or (call.name == "np.load" and call.arg("mmap_mode") is not None and call.value_of("mmap_mode").options[0] != call.value_of("no"))
