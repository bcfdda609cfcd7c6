"""From any path by which a program may reach an API to its one canonical name, by prefix rules and exceptions."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import cache

from tfmemlint.knowledge.tables import table, texts

V1 = "tf.compat.v1"

ROOTS = {
    "tensorflow": "tf",
    "tensorflow_core": "tf",
    "tensorflow._api.v2": "tf",
    "tensorflow._api.v1": V1,
    "tensorflow.python.keras": "tf.keras",
    "tensorflow.python.keras.api._v2.keras": "tf.keras",
    "tensorflow.keras.api._v2.keras": "tf.keras",
    "tensorflow.experimental.numpy": "tf.experimental.numpy",
    "keras": "tf.keras",
    "keras.api": "tf.keras",
    "keras.api._v2.keras": "tf.keras",
    "keras.src": "tf.keras",
    "keras._tf_keras.keras": "tf.keras",
    "tf_keras": "tf.keras",
    "tf_keras.src": "tf.keras",
    "tf_keras.api._v2.keras": "tf.keras",
    "numpy": "np",
    "numpy.core": "np",
    "numpy._core": "np",
    "tf.compat.v2": "tf",
    "tf.compat.v1.keras": "tf.keras",
    "tf.compat.v1.compat.v2": "tf",
    "tf.compat.v1.compat.v1": V1,
}
"""Packages and their inner copies -> the root under which their names are canonical."""

APPLICATIONS = (
    *("convnext", "densenet", "efficientnet", "efficientnet_v2", "inception_resnet_v2", "inception_v3", "mobilenet"),
    *("mobilenet_v2", "mobilenet_v3", "nasnet", "regnet", "resnet", "resnet50", "resnet_rs", "resnet_v2", "vgg16"),
    *("vgg19", "xception"),
)

RETIRED = {
    "tf.keras.layers.experimental.preprocessing": "tf.keras.layers",
    "tf.keras.layers.experimental": "tf.keras.layers",
    "tf.keras.layers.preprocessing": "tf.keras.layers",
    "tf.keras.layers.core": "tf.keras.layers",
    "tf.keras.layers.convolutional": "tf.keras.layers",
    "tf.keras.layers.pooling": "tf.keras.layers",
    "tf.keras.layers.recurrent": "tf.keras.layers",
    "tf.keras.layers.embeddings": "tf.keras.layers",
    "tf.keras.layers.merge": "tf.keras.layers",
    "tf.keras.layers.merging": "tf.keras.layers",
    "tf.keras.layers.normalization": "tf.keras.layers",
    "tf.keras.layers.noise": "tf.keras.layers",
    "tf.keras.layers.regularization": "tf.keras.layers",
    "tf.keras.layers.attention": "tf.keras.layers",
    "tf.keras.layers.rnn": "tf.keras.layers",
    "tf.keras.layers.wrappers": "tf.keras.layers",
    "tf.keras.layers.advanced_activations": "tf.keras.layers",
    "tf.keras.layers.reshaping": "tf.keras.layers",
    "tf.keras.layers.activation": "tf.keras.layers",
    "tf.keras.engine.topology": "tf.keras.layers",
    "tf.keras.engine.base_layer": "tf.keras.layers",
    "tf.keras.engine.training": "tf.keras",
    "tf.keras.engine.sequential": "tf.keras",
    "tf.keras.engine.input_layer": "tf.keras",
    "tf.keras.engine": "tf.keras.layers",
    "tf.keras.optimizers.experimental": "tf.keras.optimizers",
    "tf.keras.optimizers.legacy": "tf.keras.optimizers",
    "tf.keras.optimizer_v2": "tf.keras.optimizers",
    "tf.keras.mixed_precision.experimental": "tf.keras.mixed_precision",
    "tf.keras.utils.np_utils": "tf.keras.utils",
    "tf.keras.utils.vis_utils": "tf.keras.utils",
    "tf.keras.utils.data_utils": "tf.keras.utils",
    "tf.keras.utils.generic_utils": "tf.keras.utils",
    "tf.keras.utils.image_utils": "tf.keras.utils",
    "tf.keras.utils.layer_utils": "tf.keras.utils",
    "tf.keras.utils.all_utils": "tf.keras.utils",
    "tf.keras.preprocessing.image": "tf.keras.utils",
    "tf.keras.preprocessing.sequence": "tf.keras.utils",
    "tf.keras.preprocessing": "tf.keras.utils",
    "tf.keras.callbacks.tensorboard_v1": "tf.keras.callbacks",
    "tf.python.data": "tf.data",
    "tf.python.data.ops.dataset_ops": "tf.data",
    "tf.python.platform": V1,
    "tf.python.framework.graph_util": f"{V1}.graph_util",
    "tf.python.framework.ops": V1,
    "tf.python.client.session": V1,
    "tf.python.eager.backprop": "tf",
    "tf.python.eager.def_function": "tf",
    "tf.contrib.data": "tf.data",
    "tf.optimizers": "tf.keras.optimizers",
    "tf.losses": "tf.keras.losses",
    "tf.metrics": "tf.keras.metrics",
    "tf.initializers": "tf.keras.initializers",
    "tf.keras.ops.numpy": "tf.keras.ops",
    "tf.keras.ops.nn": "tf.keras.ops",
    "tf.keras.ops.linalg": "tf.keras.ops",
    **{f"tf.keras.applications.{module}": "tf.keras.applications" for module in APPLICATIONS},
}
"""Modules that are gone, private or second homes -> where their names are, from the sources of older versions too."""

RENAMED = {
    "tf.keras.mixed_precision.experimental.set_policy": "tf.keras.mixed_precision.set_global_policy",
    "tf.data.DatasetV2": "tf.data.Dataset",
    "tf.data.DatasetV1": "tf.data.Dataset",
    "tf.data.TFRecordDatasetV2": "tf.data.TFRecordDataset",
    "tf.python.data.ops.dataset_ops.DatasetV1Adapter": "tf.data.Dataset",
    "tf.python.data.ops.readers.TFRecordDatasetV2": "tf.data.TFRecordDataset",
    "tf.keras.utils.multi_gpu_model": "tf.keras.utils.multi_gpu_model",
    "tf.test.is_built_with_gpu_support": "tf.test.is_built_with_gpu_support",
    "np.product": "np.prod",
    "np.row_stack": "np.vstack",
    "np.in1d": "np.isin",
    "np.trapz": "np.trapezoid",
    "np.alltrue": "np.all",
    "np.sometrue": "np.any",
    "np.cumproduct": "np.cumprod",
    "np.float_": "np.float64",
    "np.double": "np.float64",
    "np.single": "np.float32",
    "np.half": "np.float16",
    "np.NaN": "np.nan",
    "np.Inf": "np.inf",
}
"""Single names that older versions had."""


@cache
def canonical(path: str) -> str:
    """The canonical name of a path: `tensorflow.keras.models.Sequential` -> `tf.keras.Sequential`.

    A path that is not known keeps its last parts under its canonical root: `tensorflow.foo.bar` -> `tf.foo.bar`.
    """
    name = rooted(path)
    found = lookup(name) or _retired(name) or _member(name) or _first_version(name)
    if found is not None:
        return found
    head, dot, last = name.rpartition(".")
    return f"{canonical(head)}.{last}" if dot and head != path else name


def of_first_version(path: str) -> bool:
    """Whether TensorFlow 2 has what a path names only below `compat.v1` or by another name: `tf.Session`, `tf.log`."""
    name = rooted(path)
    return (lookup(name) or _retired(name) or _member(name)) is None and _first_version(name) is not None


def rooted(path: str) -> str:
    """The path with its package, or an inner copy of one, replaced by the canonical root."""
    for _ in range(2):
        for prefix in _prefixes(path):
            if prefix in ROOTS:
                path = ROOTS[prefix] + path[len(prefix) :]
                break
        else:
            return path
    return path


def known(name: str) -> bool:
    """Whether a canonical name is that of a function, class, method or constant."""
    return name in texts("signatures") or name in table("constants")


@cache
def _libraries() -> frozenset[str]:
    names = (name for names in (ROOTS, ROOTS.values(), texts("signatures")) for name in names)
    roots = {name.partition(".")[0] for name in names}
    return frozenset(roots) | sys.stdlib_module_names


def is_library(path: str) -> bool:
    """Whether a dotted name begins with a library that is known, or one of Python's own."""
    return path.partition(".")[0] in _libraries()


def lookup(name: str) -> str | None:
    """The canonical name of a path below a canonical root, by the tables alone; None where they lack it."""
    found = texts("aliases").get(name) or RENAMED.get(name)
    if found is not None:
        return found
    if known(name):
        return name
    if name.startswith(V1 + "."):
        plain = "tf" + name[len(V1) :]
        return texts("aliases").get(plain) or (plain if known(plain) else None)
    return None


def above(name: str) -> tuple[str, ...]:
    """The public classes that a class derives from, nearest first; empty for anything else."""
    return tuple(texts("classes").get(name, "").split())


def method_owner(cls: str, method: str) -> str | None:
    """The name of a method under the first class of the hierarchy that has it, or None where no class is known to."""
    for owner in (*reversed(above(cls)), cls):
        if f"{owner}.{method}" in texts("signatures"):
            return f"{owner}.{method}"
    return None


def _prefixes(path: str) -> Iterator[str]:
    """The path itself and its parents, longest first."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def _retired(name: str) -> str | None:
    """The name under the module that took over from one that is gone, where it is there."""
    for prefix in _prefixes(name.rpartition(".")[0]):
        if prefix in RETIRED:
            found = lookup(RETIRED[prefix] + "." + name.rpartition(".")[2])
            if found is not None:
                return found
    return None


def _member(name: str) -> str | None:
    """A method reached through its class: `tf.data.TFRecordDataset.map` -> `tf.data.Dataset.map`."""
    head, _, method = name.rpartition(".")
    if not head or head in ROOTS.values():
        return None
    owner = lookup(head) or _retired(head)
    if owner is None or owner not in texts("classes"):
        return None
    return method_owner(owner, method) or f"{owner}.{method}"


def _first_version(name: str) -> str | None:
    """A name of TensorFlow 1, written without `compat.v1`: `tf.Session`."""
    return lookup(V1 + name[2:]) if name.startswith("tf.") and not name.startswith((V1, "tf.keras")) else None
