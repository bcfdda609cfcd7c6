"""What calls do: initialise the runtime, draw at random, what they return, and the dtypes they make."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from tfmemlint.knowledge.groups import group, in_group
from tfmemlint.knowledge.naming import above
from tfmemlint.knowledge.tables import table, texts

Half = tuple[tuple[str | None, tuple[int, ...]], ...]
"""Dtype and shape of each array of one half of a data set."""

DEVICE_MAKERS = frozenset(
    {
        "tf.python.client.device_lib.list_local_devices",
        "tf.test.is_gpu_available",
        "tf.test.gpu_device_name",
        "tf.compat.v1.Session",
        "tf.compat.v1.InteractiveSession",
    }
)
"""Calls whose C++ side makes the GPU devices without the eager context. From TensorFlow's sources: no CPU shows it."""

ADDED_EARLY = 128 << 20
"""Bytes of the gradients of one tensor beyond which a tape adds up some before all are there, where their sizes are
known when it is traced: `kMinAggregateBytes` in TensorFlow's `tape.h`. Measured with 50 of 6.6 MB: a pipeline whose
last batch may be smaller takes 324 MB more for them in a step, arrays and batches of one size 116 to 134 MB."""

STATES = {"yes": True, "no": False}


def initialises(name: str, keras: int = 0) -> bool | None:
    """Whether calling an API initialises TensorFlow's runtime; None where that is not known or depends on arguments.

    `keras` is 3 or 2; 0 answers only where both agree.
    """
    word = texts("effects").get(name, "").partition(" ")[0]
    third, _, second = word.partition("/")
    if keras == 3 or (keras == 0 and not second):
        return STATES.get(third)
    return STATES.get(second or third) if keras == 2 else None


def creates_devices(name: str) -> bool:
    """Whether a call makes the GPU devices, and so takes the card, without initialising the eager context."""
    return name in DEVICE_MAKERS


def is_random(name: str) -> bool | None:
    """Whether a function draws at random, or a layer does when it is called in training; None where it is not known."""
    layer = texts("layers").get(name)
    if layer is not None:
        return layer.endswith("random")
    words = texts("effects").get(name, "").split()
    return True if "random" in words else False if "fixed" in words else None


def returns_class(name: str) -> str | None:
    """The class of what a function returns, where it is always the same: `tf.keras.models.load_model` makes models."""
    if name in table("applications"):
        return "tf.keras.Model"
    return next((word for word in texts("effects").get(name, "").split() if "." in word), None)


@cache
def makers(of: str) -> frozenset[str]:
    """The functions and methods that always return objects of a class, or of one that derives from it."""
    made = ((name, returns_class(name)) for name in texts("effects"))
    return frozenset(name for name, kind in made if kind is not None and of in (kind, *above(kind)))


def gives_tensor(name: str) -> bool:
    """Whether a call certainly gives a tensor, or a structure with tensors in it; False also where it is not known.

    In a traced function the tensor is a symbolic one. A call of a layer or loss (`....__call__`) gives one, too.
    """
    owner = name.removesuffix(".__call__")
    if owner != name:
        return not {"tf.keras.layers.Layer", "tf.keras.losses.Loss"}.isdisjoint((owner, *above(owner)))
    probed = returns_class(name)
    if probed is not None:
        return probed == "tf.Tensor"
    if {name, name.rpartition(".")[0]}.isdisjoint(texts("classes")):
        return in_group(name, "gives_tensor")
    return name in group("gives_tensor")  # what stands for many functions does not stand for classes and their methods


def default_dtype(name: str, kind: str = "", *, items: bool = False, keras: int = 3) -> str | None:
    """The dtype of what a call makes when none is passed; None where it is not known.

    `kind` is the kind of the value that decides it, where one does: `int`, `float`, `bool`, `complex`, `str`, or
    `np.uint8` and the like for an array or scalar of NumPy. `items` asks for a list of such values instead, which can
    differ.
    """
    found = _made(f"{name} []") if items else None
    if keras == 2:
        found = _made(f"{name} keras2")
    found = found or _made(name)
    return found if isinstance(found, str) or found is None else found.get(kind)


def result_dtype(operator: str, left: str, right: str) -> str | None:
    """The dtype of `left OPERATOR right`; None where it raises or was not probed.

    Operands are `int`, `float`, `bool`, `complex` for Python's numbers, `np.uint8` for arrays, `tf.uint8` for tensors.
    """
    return _promoted(f"{operator} {left}").get(right)


def optimizer_slots(name: str, *options: str, keras: int = 3) -> int | None:
    """How many arrays of a parameter's size an optimizer class keeps for each parameter.

    `options` names arguments that are switched on: `momentum`, `centered`, `amsgrad`, `use_ema`,
    `gradient_accumulation_steps`.
    """
    slots = table("slots")
    found: dict[str, int] | None = (slots.get(f"{name} keras2") if keras == 2 else None) or slots.get(name)
    if found is None or "" not in found:
        return None
    return found[""] + sum(found[option] - found[""] for option in options if option in found)


def bears_weights(layer: str) -> bool | None:
    """Whether a layer class makes weights when it is built; None for one that was not probed."""
    found = texts("layers").get(layer)
    return None if found is None else found.split()[0] == "trainable"


def holds_variables(layer: str) -> bool | None:
    """Whether a layer class makes variables when it is built, weights or others; None for one that was not probed."""
    found = texts("layers").get(layer)
    return None if found is None else found.split()[0] != "none"


@dataclass(frozen=True, slots=True)
class Application:
    """A model of `tf.keras.applications`: parameters with its default arguments, parameters and channels without its
    top (0 where it has no such form), and by how much it shrinks an image's sides (0: not by a whole number)."""

    parameters: int
    features: int = 0
    channels: int = 0
    stride: int = 0


def application(name: str) -> Application | None:
    """What is known of a model of `tf.keras.applications`."""
    found = table("applications").get(name)
    return Application(**found) if found is not None else None


def bundled_dataset(name: str) -> tuple[Half, Half] | None:
    """Dtypes and shapes of the training and test half of a data set that Keras bundles (`"mnist"`), as documented."""
    halves = table("documented").get(name)
    if halves is None:
        return None
    train, test = (tuple((dtype, tuple(shape)) for dtype, shape in halves[half]) for half in ("train", "test"))
    return train, test


def bundled_classes(name: str) -> int | None:
    """The classes that the labels of a data set which Keras bundles tell apart; None where they are no classes."""
    classes = table("documented").get(name, {}).get("classes")
    return classes if isinstance(classes, int) else None


@dataclass(frozen=True, slots=True)
class Examples:
    """A data set of `tensorflow_datasets` as its catalogue has it: dtype and shape of each feature, the features that
    `as_supervised` gives, and the number of examples in each split; the bytes of its files where a feature has no
    size."""

    features: dict[str, tuple[str, tuple[int | None, ...]]]
    supervised: tuple[str, ...]
    splits: dict[str, int]
    files: int | None = None


def tfds_examples(name: str) -> Examples | None:
    """What is documented of a data set of `tensorflow_datasets` (`"mnist"`, `"mnist:3.*.*"`); None also for a
    configuration of one (`"eurosat/all"`) that is not listed itself, as it may have other features."""
    found = table("tfds").get(name.partition(":")[0])
    if found is None:
        return None
    features = {key: (dtype, tuple(shape)) for key, (dtype, shape) in found["features"].items()}
    files = round(found["mib"] * (1 << 20)) if "mib" in found else None
    return Examples(features, tuple(found["supervised"]), found["splits"], files)


def broadcasts(name: str) -> bool | None:
    """Whether a function of two operands broadcasts them to one shape; False where it wants equal shapes, None where
    neither is known."""
    return STATES.get(texts("broadcasts").get(name, ""))


def versions() -> dict[str, str]:
    """Library -> the version that was probed."""
    return texts("versions")


@cache
def _made(key: str) -> str | dict[str, str] | None:
    found: str | dict[str, str] | None = table("dtypes").get(key)
    if isinstance(found, str) and found.startswith("= "):
        return _made(found[2:])
    return found


@cache
def _promoted(key: str) -> dict[str, str]:
    row = table("promotions").get(key)
    if isinstance(row, str):
        return _promoted(row[2:])
    return {right: dtype for dtype, rights in (row or {}).items() for right in rights.split()}


@cache
def subclasses(name: str) -> frozenset[str]:
    """All public classes that derive from a class."""
    return _deriving().get(name, frozenset())


@cache
def _deriving() -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for cls, bases in texts("classes").items():
        for base in bases.split():
            found.setdefault(base, set()).add(cls)
    return {base: frozenset(classes) for base, classes in found.items()}
