from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import (
    Array,
    Call,
    File,
    Finding,
    Instance,
    Node,
    Rule,
    Value,
    elements,
    on_call,
    pipelines,
    runtime,
    show_bytes,
)

EMBEDS = ("tf.data.Dataset.from_tensor_slices", "tf.data.Dataset.from_tensors")

MANY_TIMES = 16
"""How much larger than `min-bytes` arrays are of which the two copies are worth a word: 1 GiB."""


class ArrayEmbeddedInDataset(Rule):
    """
    ## What it does
    Reports `from_tensor_slices` and `from_tensors` of arrays of 1 GiB or more (16 times `min-bytes`), of large ones
    (`min-bytes`) in graphs, and of such that are mapped from disk; of several data sets of one HDF5 file the first.

    ## Why it costs memory
    The array is copied into a tensor when the dataset is made, and once more when an iterator starts; NumPy's own copy
    stays beside them. Inside a traced function, and in programs for graphs, it becomes a constant of the graph, which
    cannot pass 2 GiB. A mapped file is read into memory as a whole.

    ## When not to use it
    When two more copies of the array fit into memory and the speed of slicing it is worth them. Make the dataset under
    `tf.device("CPU")` then, so that they do not take the GPU's memory. A Python generator saves them, too, and is
    slower than tf.data from files.

    ## References
    - https://www.tensorflow.org/guide/data#consuming_numpy_arrays
    """

    code = "TFM311"
    summary = "a large array is copied into the dataset"
    no_fix = "files of records, rows on demand and smaller arrays are all possible"

    @on_call(*EMBEDS)
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        in_graph = file.contexts.traced(call.node) or runtime.builds_graphs(file)
        least = file.config.min_bytes * (1 if in_graph else MANY_TIMES)
        found = [elements(option) for option in call.value_of("tensors").options]
        size = min(sum(self._bytes(leaf) for leaf in leaves) for leaves in found)
        disk = all(
            any(pipelines.stays_on_disk(leaf) and self._large(leaf, least) for leaf in leaves) for leaves in found
        )
        if (size < max(least, 1) and not disk) or (not size and self._said_before(call, file)):
            return
        what = f"{show_bytes(size)} of arrays are" if size else "an array mapped from disk is"
        why = "read whole and copied" if disk else "copied"
        where = "into the graph, which cannot pass 2 GiB" if in_graph else "into the dataset"
        again = "; " if in_graph else ", and copied again when an iterator starts; "
        instead = "read rows as they are asked for" if disk else "read them from files by tf.data"
        on_cpu = "" if in_graph or disk else ', or keep the copies off the GPU by tf.device("CPU")'
        yield self.finding(call, file, f"{what} {why} {where}{again}{instead}{on_cpu}", bytes=size or None)

    def _said_before(self, call: Call, file: File) -> bool:
        """Whether the data comes from an HDF5 file of which a dataset before was made of another part: images and
        labels, say."""
        opened, place = self._opened(call), file.tree.order(call.node)
        others = (other for other in file.calls(*EMBEDS) if file.tree.order(other.node) < place)
        return bool(opened) and any(self._opened(other) == opened for other in others)

    def _opened(self, call: Call) -> set[Node]:
        """The calls that open the HDF5 files whose data sets a dataset is made of."""
        leaves = (leaf for option in call.value_of("tensors").options for leaf in elements(option))
        stored = (leaf.call for leaf in leaves if isinstance(leaf, Instance) and leaf.type_name == "h5py.Dataset")
        return {made.node for made in stored if made is not None}

    def _bytes(self, leaf: Value) -> int:
        """Bytes of an array of NumPy, as far as they are known; of several that it may be, the fewest."""
        return min(o.bytes or 0 if isinstance(o, Array) and o.library == "np" else 0 for o in leaf.options)

    def _large(self, leaf: Value, least: int) -> bool:
        """Whether the data is not known to be small."""
        return not isinstance(leaf, Array) or leaf.bytes is None or leaf.bytes >= least
