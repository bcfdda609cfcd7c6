"""Which version of TensorFlow a program is written for."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Api
from tfmemlint.syntax.scopes import Binds
from tfmemlint.text.pins import NEWEST, NONE, Pins, pins_in_notebook, pins_installed, python_of

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.project.texts import Text

_FIRST_IMPORTS = ("tensorflow.contrib", "keras.engine.topology")
"""Packages of version 1, and the module that Keras had while it was a library of its own on such a graph."""

_PYTHON_OF_LATER_KERAS = (3, 9)
"""TensorFlow has wheels for it since 2.5; Keras 2.3.1 takes what 2.3 no longer has."""

_MAGIC = re.compile(r"%tensorflow_version\s+1")

_FIRST_MODULES = frozenset({"contrib", "flags", "python_io"})
"""Modules of version 1 of which the tables of version 2 say nothing; 2.21 has none of them."""

_KERAS_1 = frozenset({
    *("b_regularizer", "b_constraint", "border_mode", "dim_ordering", "dropout_U", "dropout_W", "init", "nb_col"),
    *("inner_activation", "nb_epoch", "nb_filter", "nb_row", "nb_val_samples", "nb_worker", "samples_per_epoch"),
    *("subsample", "U_regularizer", "W_constraint", "W_regularizer"),
})  # fmt: skip
"""Parameters of Keras 1, which Keras 2 still took where it was a library of its own, until 2.3; `tf.keras` never had
them, but for `nb_epoch`, and Keras 3 refuses them."""

_KERAS_1_MODEL = frozenset({"input", "output"})
"""Parameters of its `Model`."""

_SECOND = {"function": "tf.function", "GradientTape": "tf.GradientTape", "ops": "tf.keras.ops"}
"""The last words of names that programs for version 2 have: 1.15 knows two, for programs that were on the way."""


_SECOND_ALONE = {
    "AUTOTUNE": "tf.data.AUTOTUNE",
    "list_logical_devices": "tf.config.list_logical_devices",
    "list_physical_devices": "tf.config.list_physical_devices",
    "set_random_seed": "tf.keras.utils.set_random_seed",
    "set_seed": "tf.random.set_seed",
    "set_visible_devices": "tf.config.set_visible_devices",
}
"""The last words of names that no version 1 has, where it lacks the `experimental` of some of them."""

_SECOND_IMPORTS = (
    "keras.ops.", "tensorflow.GradientTape.", "tensorflow.compat.v2.", "tensorflow.function.", "tensorflow.keras.ops."
)  # fmt: skip
"""The names of such programs as imports write them, and the module that stands for version 2 in both, with a dot."""


_LATER = frozenset(("GradientTape", "compat", "function"))
"""First words below `tf` in a module that is written for version 2, or for both."""


_ASKS = frozenset(("AttributeError", "VERSION", "__version__", "executing_eagerly", "hasattr"))
"""Words of modules that look which version they run on."""


def says_version_2(file: File) -> bool:
    """Whether the program uses names that hardly any program for version 1 has; False where nothing tells."""
    named = ((node.attr.value, node) for node in file.tree.of(cst.Attribute))
    if any(word in _SECOND and file.value(node) == Api(_SECOND[word]) for word, node in named):
        return True
    return any(f"{api}.".startswith(_SECOND_IMPORTS) for api in _imported(file))


def _imported(file: File) -> Iterator[str]:
    """What the module imports, by whole names."""
    return (d.api for found in file.flow(file.module).end.values() for d in found if d.binds is Binds.IMPORT)


def _uses_second_alone(file: File) -> bool:
    named = (node for node in file.tree.of(cst.Attribute) if node.attr.value in _SECOND_ALONE)
    if any(_is_plain(node) and file.value(node) == Api(_SECOND_ALONE[node.attr.value]) for node in named):
        return True
    whole = (api for api in _imported(file) if "experimental" not in api and "compat" not in api)
    return any(knowledge.canonical(api) in _SECOND_ALONE.values() for api in whole)


def _is_plain(node: cst.Attribute) -> bool:
    """Whether a name goes through neither `experimental` nor `compat`, which version 1 has."""
    inner = node.value
    while isinstance(inner, cst.Attribute):
        if inner.attr.value in ("compat", "experimental"):
            return False
        inner = inner.value
    return True


def before_version_2(file: File) -> bool:
    """Whether the program uses names where version 1 had them and version 2 does not, or Keras as it was then, and none
    that only version 2 has: of programs with both, what is of the first is what they no longer run."""
    if _uses_second_alone(file):
        return False
    for node in file.tree.of(cst.Attribute):
        inner = node.value.value if type(node.value) is cst.Attribute else node.value
        if type(inner) is cst.Name and _of_first(node) and Api("tf") in file.value(inner).options:
            return True  # one of several: callers may pass tf.compat.v1, too
    for definitions in file.flow(file.module).end.values():
        for d in definitions:
            if d.binds is Binds.IMPORT and d.api.startswith("tensorflow.") and d.api.count(".") == 1:
                if knowledge.of_first_version(d.api):
                    return True
            if d.binds is Binds.IMPORT and d.api.startswith(_FIRST_IMPORTS):
                return True
    if _MAGIC.search(file.source.decoded.raw):
        return True
    return any(_of_keras_1(file, node) for node in file.tree.of(cst.Call))


@once_per_file
def asked_for(file: File) -> Pins:
    """The latest TensorFlow and Keras that the program may run with: by what its project requires, and what a notebook
    installs or was run with."""
    required = file.siblings.required if file.siblings is not None else NONE
    notebook = file.source.path.endswith(".ipynb")
    return required.within(pins_in_notebook(file.source.decoded.raw)) if notebook else required


@once_per_file
def asks_for_later_keras(file: File) -> bool:
    """Whether the project requires, or a notebook installs, TensorFlow 2 or Keras since 2.4, or it was run with a
    Python for which there is no TensorFlow on which an earlier Keras runs."""
    required = file.siblings.required if file.siblings is not None else NONE
    if file.source.path.endswith(".ipynb"):
        raw = file.source.decoded.raw
        required = required.within(pins_installed(raw))
        if (python_of(raw) or (0,)) >= _PYTHON_OF_LATER_KERAS:
            return True
    return (2,) <= required.tensorflow < NEWEST or (2, 4) <= required.keras < NEWEST


def may_be_version_1(file: File) -> bool:
    """Whether the program is written for version 1, or a module that it imports or that imports it seems to be, by its
    text, or its project requires that, and nothing in the program tells of version 2. Python 2 has no TensorFlow later
    than 2.1."""
    if file.before_version_2 or any(text.python_2 for text in file.around):
        return True
    return (asked_for(file).tensorflow < (2,) or any(map(_seems_of_first, file.around))) and not file.says_version_2


def runs_on_first_alone(text: Text) -> bool:
    """Whether a module, by its text, names what version 2 does not have, asks no version, and uses nothing later than
    what 1.13 has: `tf.compat.v1`, under its whole name."""
    if not _ASKS.isdisjoint(text.words) or text.binds_tf_anew:
        return False
    names = [name.split(".") for name in text.of_tf if not name.startswith("compat.v1")]
    return not any(first in _LATER for first, *_ in names) and any(_is_of_first(*each) for each in names)


def _seems_of_first(text: Text) -> bool:
    if any(name.partition(".")[0] in _LATER for name in text.of_tf):
        return False
    of_modules = any(name.startswith("tensorflow.contrib") for name in text.plain)
    return of_modules or any(_is_of_first(*name.split(".")) for name in text.of_tf)


def _is_of_first(first: str, second: str = "") -> bool:
    whole = f"tf.{first}.{second}"
    return first in _FIRST_MODULES or knowledge.of_first_version(f"tf.{first}") or knowledge.of_first_version(whole)


def _of_keras_1(file: File, node: cst.Call) -> bool:
    """Whether a call passes Keras what only Keras 1 is called with: its programs have the graph of version 1."""
    words = {arg.keyword.value for arg in node.args if arg.keyword is not None}
    if "nb_epoch" in words and not _imports_own_keras(file):
        words.discard("nb_epoch")  # `fit` of `tf.keras` took it, too, until version 2.1
    if words.isdisjoint(_KERAS_1) and not words >= _KERAS_1_MODEL:
        return False
    name = file.call(node).name or ""
    if words >= _KERAS_1_MODEL:
        return name == "tf.keras.Model"
    return name.startswith(("tf.keras.Model.", "tf.keras.Sequential", "tf.keras.layers."))


def _imports_own_keras(file: File) -> bool:
    """Whether the program imports Keras as a library of its own."""
    return any(api.partition(".")[0] == "keras" for api in _imported(file))


def _of_first(node: cst.Attribute) -> bool:
    """Whether `tf.log`, `tf.layers.dense` or `tf.contrib` is written, if the first name is TensorFlow's."""
    if type(node.value) is cst.Attribute:
        return knowledge.of_first_version(f"tf.{node.value.attr.value}.{node.attr.value}")
    return node.attr.value in _FIRST_MODULES or knowledge.of_first_version(f"tf.{node.attr.value}")
