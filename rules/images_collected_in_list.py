from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, Edit, File, Finding, Rule, Shows, fixes, knowledge, on, show_bytes, tensors

STACKS = frozenset({"np.array", "np.asarray", "np.stack", "np.float32"})
"""What makes an array with one axis more than each item has."""

OF_NUMPY = STACKS | {"np.vstack", "np.concatenate"}

# What is compared with, as code: all items are the first one, in the array and in the list that it is made of.
STACKED = "VIEW(one, (len(images), *one.shape), (0, *one.strides))"
JOINED = "VIEW(one, (len(images) * one.shape[0], *one.shape[1:]), (0, *one.strides[1:]))"
EMPTIED = "isinstance(images, list) and images.__setitem__(slice(None), images[:1] * len(images))"

MANY_FILES = 4096
"""As many files as a folder of images may well have; images of which so many are under `min-bytes` are small."""


class ImagesCollectedInList(Rule):
    """
    ## What it does
    Reports images, or other arrays, that are read one by one into a list, made one array of floats and given to a model
    or a pipeline as a whole. The finding is at the call that makes the array.

    ## Why it costs memory
    The list, the array, the converted copy and the scaled copy live together: of each byte of the images
    `np.array(images).astype("float32") / 255` makes 1 + 1 + 4 + 4, and without the cast 1 + 1 + 8, as NumPy's division
    gives float64. Images that are floats in the list already are there twice.

    ## When not to use it
    For a handful of files. Small images are not reported (4096 of them take less than `min-bytes`), nor arrays that
    stay integers, nor those that are made for one batch.

    ## References
    - https://www.tensorflow.org/tutorials/load_data/images
    - https://keras.io/api/layers/preprocessing_layers/image_preprocessing/rescaling/
    """

    code = "TFM707"
    summary = "images collected in a list are copied to an array of floats"
    no_fix = "where to scale instead, or how to read the files in tf.data, is the program's choice"
    in_tests = False

    @on(tensors.collected_arrays, *knowledge.group("reads_array"))
    def check(self, found: tensors.Collected, file: File) -> Iterator[Finding]:
        size = found.each.bytes(found.floats) if found.floats in ("float32", "float64") else None
        small = found.each.bytes("float32")
        if found.floats is None or (small is not None and small * MANY_FILES < file.config.min_bytes):
            return
        kind = "arrays" if found.each.read.name in ("np.load", "nibabel.load") else "images"
        price = f", {show_bytes(size)} each" if size is not None else ""
        keep = "keep uint8 and scale in the model, or read" if kind == "images" else "read"
        yield self.finding(
            found.array,
            file,
            f"{kind} read one by one stay in a list while all of them are copied here, as {found.floats} in the end"
            f"{price}; {keep} the files in tf.data",
            related=[(found.each.read, "read here"), (found.taker, "taken whole here")],
            contrast=_once(file, found.array),
            shows=Shows(metric="array_bytes"),
        )


def _once(file: File, array: Call) -> Edit | None:
    """A view of the shape that the array has, on its first item, and a list that holds that item alone: what is left
    are the copies behind the array."""
    view = fixes.api_text(file, "np.lib.stride_tricks.as_strided")
    spelled = fixes.api_text(file, f"np.{'float32' if array.name == 'np.float32' else 'asarray'}")
    if array.name not in OF_NUMPY or not array.lacks("axis") or view is None or spelled is None:
        return None
    listed, *options = (file.text(arg) for arg in array.node.args)
    made = STACKED if array.name in STACKS else JOINED
    first = f"{spelled}({', '.join(['images[0]', *options])})"
    text = f"(lambda images: (lambda one: ({made}, {EMPTIED})[0])({first}))({listed})"
    return fixes.replace_node(file, array.node, text.replace("VIEW", view))
