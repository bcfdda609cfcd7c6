from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Array, Call, File, Finding, Rule, Value, elements, on_call, pipelines, show_bytes


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
        least = file.config.min_bytes
        found = [elements(option) for option in call.value_of("tensors").options]
        size = min(sum(self._bytes(leaf) for leaf in leaves) for leaves in found)
        disk = all(
            any(pipelines.stays_on_disk(leaf) and self._large(leaf, least) for leaf in leaves) for leaves in found
        )
        if size < max(least, 1) and not disk:
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
        return min(o.bytes or 0 if isinstance(o, Array) and o.library == "np" else 0 for o in leaf.options)

    def _large(self, leaf: Value, least: int) -> bool:
        """Whether the data is not known to be small."""
        return not isinstance(leaf, Array) or leaf.bytes is None or leaf.bytes >= least
