"""TensorFlow, Keras and NumPy as data: names, signatures, classes, and what calls do, probed from an installed version.

Every name taken and returned is canonical: `tf.data.Dataset.map`, `tf.keras.layers.Dense`, `np.zeros`. README.md beside
this file says how the tables are made. None means that something is not known. May import nothing of the package.
"""

from __future__ import annotations

import re
from functools import cache

from tfmemlint.knowledge.facts import (
    ADDED_EARLY,
    Application,
    Examples,
    application,
    bears_weights,
    broadcasts,
    bundled_classes,
    bundled_dataset,
    creates_devices,
    default_dtype,
    gives_tensor,
    holds_variables,
    initialises,
    is_random,
    makers,
    optimizer_slots,
    result_dtype,
    returns_class,
    subclasses,
    tfds_examples,
    versions,
)
from tfmemlint.knowledge.groups import add_to_group, group, group_parameters, in_group
from tfmemlint.knowledge.keras_versions import (
    of_first_keras,
    of_keras_2,
    of_later_keras,
    of_other_engine,
    of_own_engine,
)
from tfmemlint.knowledge.naming import RENAMED, above, canonical, is_library, known, method_owner, of_first_version
from tfmemlint.knowledge.networks import Network, network
from tfmemlint.knowledge.signature import OTHER, REQUIRED, Kind, Parameter, Signature, parse
from tfmemlint.knowledge.tables import texts

__all__ = [
    "ADDED_EARLY",
    "OTHER",
    "REQUIRED",
    "Application",
    "Examples",
    "Kind",
    "Network",
    "Parameter",
    "Signature",
    "add_to_group",
    "application",
    "bases",
    "bears_weights",
    "broadcasts",
    "bundled_classes",
    "bundled_dataset",
    "canonical",
    "creates_devices",
    "default_dtype",
    "exists",
    "gives_tensor",
    "group",
    "group_parameters",
    "holds_variables",
    "in_group",
    "initialises",
    "is_class",
    "is_library",
    "is_parameter",
    "is_random",
    "makers",
    "method_owner",
    "network",
    "of_first_keras",
    "of_first_version",
    "of_keras_2",
    "of_later_keras",
    "of_other_engine",
    "of_own_engine",
    "optimizer_slots",
    "result_dtype",
    "returns_class",
    "signature",
    "subclasses",
    "tfds_examples",
    "versions",
    "words",
    "words_needed",
]


def exists(name: str) -> bool:
    """Whether a canonical name is that of a known function, class, method or constant."""
    return known(name)


def is_class(name: str) -> bool:
    """Whether a canonical name is that of a known class."""
    return name in texts("classes")


def bases(name: str) -> tuple[str, ...]:
    """The public classes that a class derives from, nearest first: `tf.keras.Sequential` -> `tf.keras.Model`, ..."""
    return above(name)


@cache
def signature(name: str, keras: int = 3) -> Signature | None:
    """What a function, class or method takes; `keras=2` gives what it took in Keras 2. None for an unknown name.

    A method of a subclass that is not listed is found through the classes above it.
    """
    text = texts("keras2").get(name) if keras == 2 else None
    if text is None:
        text = texts("signatures").get(name)
    if text is not None:
        return parse(text)
    cls, _, method = name.rpartition(".")
    for owner in above(cls):
        found = signature(f"{owner}.{method}", keras)
        if found is not None:
            return found
    return None


def is_parameter(name: str) -> bool:
    """Whether anything that is known, of any Keras, has a parameter of that name."""
    return name in _parameters()


@cache
def _parameters() -> frozenset[str]:
    lines = (*texts("signatures").values(), *texts("keras2").values())
    return _UNSIGNED.union(*(re.findall(r"\w+", line) for line in lines))


_UNSIGNED = frozenset({"batch_input_shape"})
"""Parameters that stand in no signature: layers take them as `**kwargs`."""


@cache
def words(name: str) -> frozenset[str]:
    """The last parts of a canonical name and of its aliases: the words of which one stands where it is used."""
    return frozenset({name.rpartition(".")[2], *_other_words().get(name, ())})


@cache
def words_needed(name: str) -> frozenset[str]:
    """The words of which one stands in every file that makes use of an API, or of a class that derives from it.

    A name that ends in a dot stands for all known names that begin so; one without a dot is such a word itself.
    """
    if "." not in name:
        return frozenset({name})
    if name.endswith("."):
        meant = [each for each in texts("signatures") if each.startswith(name)]
    else:
        meant = [name, *(subclasses(name) if is_class(name) else ())]
    return frozenset(word for each in meant for word in words(each))


@cache
def _other_words() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path, name in (*texts("aliases").items(), *RENAMED.items()):
        found.setdefault(name, set()).add(path.rpartition(".")[2])
    return found
