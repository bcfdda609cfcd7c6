from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Edit, File, Finding, Rule, fixes, knowledge, on, show_bytes, tensors

PART = 8
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
            contrast=_of_some(file, found),
        )


def _of_some(file: File, found: tensors.Collected) -> Edit | None:
    """The same for every eighth file: what grows with their number shows beside it."""
    place = found.repetition.place
    loop = place.for_in if isinstance(place, cst.BaseComp) else place
    if not isinstance(loop, (cst.For, cst.CompFor)):
        return None
    return fixes.replace_node(file, loop.iter, f"list({file.text(loop.iter)})[::{PART}]")
