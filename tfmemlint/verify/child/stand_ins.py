"""Stands in for what a program is given and nobody passes: models, settings, objects; loaded by `main.py`.

What is asked of an object is made up by its name, the first time that it is asked for, and noted then.
"""

from __future__ import annotations

import builtins
import math
import pathlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

MODELS = frozenset({
    "model", "models", "net", "network", "encoder", "decoder", "generator", "discriminator", "critic", "backbone",
    "classifier", "actor", "policy", "teacher", "student",
})  # fmt: skip
VERBS = ("get", "make", "create", "build", "load", "new", "init", "prepare", "setup")
"""First words of the names of methods that give what the other words say."""

DOES = (
    *VERBS,
    "add",
    "close",
    "log",
    "on",
    "print",
    "record",
    "reset",
    "run",
    "save",
    "set",
    "step",
    "update",
    "write",
)
"""First words of the names of methods."""

LIBRARIES = "site-packages"
"""In the paths of code that looks for marks of its own in whatever it is given."""

ELEMENT = [("float32", (32, 64)), ("int64", (32,))]
"""An element of a data set of which only the name is known."""


class StandIns:
    """Makes them; `usual` gives the usual value of a name, `words_of` its words, `note` is told of what is used, and
    `text` makes what stands for a text."""

    def __init__(
        self,
        usual: Callable[[str], Any],
        words_of: Callable[[str], list[str]],
        note: Callable[[str], None],
        text: Callable[[StandIns, str, str], Any],
    ):
        self._usual, self._words_of, self.note, self._text = usual, words_of, note, text

    def install(self) -> None:
        """Put them where every module finds them."""
        for name in ("model", "settings", "thing", "optimizer", "loss", "strategy", "function", "metric", "callback"):
            setattr(builtins, f"tfmemlint_{name}", getattr(self, name))

    def model(self, name: str, shape: tuple[int, ...] = (10,), functional: bool = False) -> Any:
        """A compiled model that gives tensors of this shape, without the first axis, for whatever it is called with.
        A `functional` one has layers between an input of images and its output."""
        keras = sys.modules["tensorflow"].keras
        made = _functional(keras, shape) if functional else _small(keras, shape)
        made.compile("sgd", "mse")
        return made

    def callback(self, made: Any) -> Any:
        """A callback with a model, as training gives it one."""
        made.set_model(self.model("model"))
        return made

    def optimizer(self, name: str) -> Any:
        """An optimizer."""
        return sys.modules["tensorflow"].keras.optimizers.Adam()

    def metric(self, name: str) -> Any:
        """A metric, which takes anything."""
        return _Metric()

    def loss(self, name: str) -> Any:
        """A loss, which is the mean of what is predicted."""
        tensorflow = sys.modules["tensorflow"]

        def mean(*values: Any, **named: Any) -> Any:
            given = [*values, *named.values()]
            last = next((each for each in reversed(given) if tensorflow.is_tensor(each)), given[-1])
            return tensorflow.reduce_mean(tensorflow.cast(last, "float32"))

        return mean

    def strategy(self, name: str) -> Any:
        """The strategy of one device."""
        return sys.modules["tensorflow"].distribute.get_strategy()

    def function(self, name: str) -> Any:
        """A function that gives what it is given, and for sizes an array of them."""

        def same(*values: Any, **named: Any) -> Any:
            given = [*values, *named.values()]
            if given and all(isinstance(each, int) for each in given):
                return builtins.tfmemlint_array("float32", tuple(map(int, given)))  # type: ignore[attr-defined]
            return values[0] if len(values) == 1 else values or self.thing(f"{name}()")

        return same

    def settings(self, name: str, /, **fields: Any) -> Any:
        """What holds settings: each is made up by its name, `fields` as they are."""
        return _Thing(self, name, fields, objects=False)

    def thing(self, name: str, /, **fields: Any) -> Any:
        """An object: what is asked of it is made up by its name, `fields` as they are."""
        return _Thing(self, name, fields, objects=True)

    def of(self, path: str, name: str, objects: bool) -> Any:
        """What is asked of an object by a name."""
        made = self._object(name) if objects else None
        words = self._words_of(name)
        if made is None and not (objects and words and words[0] in DOES):
            made = self._usual(name)
        if made is None:
            self.note(f"{path} is made up: 10 as a number, else an object of which anything can be asked")
            return _Thing(self, path, {}, objects)
        self.note(f"{path} is made up as {made if isinstance(made, (int, float, str)) else type(made).__name__}")
        if isinstance(made, bool):
            return _Thing(self, path, {}, objects, int(made))
        return self._text(self, path, made) if isinstance(made, str) else made

    def _object(self, name: str) -> Any:
        words = self._words_of(name)
        last = words[-1] if words else ""
        if last in MODELS:
            return self.model(name)
        if last in ("optimizer", "opt", "optim"):
            return self.optimizer(name)
        if last in ("loss", "criterion") or words[:1] == ["loss"]:
            return self.loss(name)
        if last == "strategy":
            return self.strategy(name)
        if last in ("dataset", "ds", "loader", "dataloader"):
            return builtins.tfmemlint_dataset(ELEMENT, 64)  # type: ignore[attr-defined]
        return None

    def called(self, path: str, objects: bool) -> Any:
        """What a method of an object gives: by its name, without the verb."""
        name = path.rpartition(".")[2]
        words = self._words_of(name)
        if objects and len(words) > 1 and words[0] in VERBS:
            made = self._object("_".join(words[1:]))
            if made is not None:
                self.note(f"{path}() is made up as {type(made).__name__}")
                return made
        return _Thing(self, f"{path}()", {}, objects)


class _Thing(int):
    """Anything: attributes and items by name, 10 where a number is needed, two of it where it is iterated."""

    def __new__(cls, makers: StandIns, path: str, fields: dict[str, Any], objects: bool, number: int = 10) -> _Thing:
        return super().__new__(cls, number)

    def __init__(self, makers: StandIns, path: str, fields: dict[str, Any], objects: bool, number: int = 10) -> None:
        self.__dict__.update(fields, _makers=makers, _path=path, _objects=objects)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or (name.startswith("_") and LIBRARIES in sys._getframe(1).f_code.co_filename):
            raise AttributeError(name)
        made = self._makers.of(f"{self._path}.{name}", name, self._objects)
        self.__dict__[name] = made
        return made

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return getattr(self, key)
        return [*self][key] if isinstance(key, slice) else self._item()

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            self.__dict__[key] = value

    def __contains__(self, key: Any) -> bool:
        return True

    def __eq__(self, other: object) -> bool:
        """Of texts it is the one that it is compared with first."""
        if type(other) is not str:
            return int.__eq__(self, other)
        if "_taken" not in self.__dict__:
            self.__dict__["_taken"] = other
            self._makers.note(f"{self._path} is made up as {other!r}: the program compares it")
        return bool(self.__dict__["_taken"] == other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __add__(self, other: Any) -> Any:
        """Texts are put together of it as of one."""
        return f"text{other}" if isinstance(other, str) else int.__add__(self, other)

    def __radd__(self, other: Any) -> Any:
        return f"{other}text" if isinstance(other, str) else int.__radd__(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        """Paths go on with it as with the name of a folder."""
        return other / "folder" if isinstance(other, pathlib.PurePath) else int.__rtruediv__(self, other)

    __hash__ = int.__hash__

    def get(self, key: Any, default: Any = None) -> Any:
        """As of a dictionary."""
        return getattr(self, key) if default is None and isinstance(key, str) else default

    def items(self) -> Any:
        """As of a dictionary: what was asked of it or set."""
        return [(key, value) for key, value in self.__dict__.items() if not key.startswith("_")]

    def keys(self) -> Any:
        """As of a dictionary."""
        return [key for key, _ in self.items()]

    def values(self) -> Any:
        """As of a dictionary."""
        return [value for _, value in self.items()]

    def copy(self) -> Any:
        """Itself."""
        return self

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[Any]:
        return iter((self._item(), self._item()))

    def _item(self) -> _Thing:
        return _Thing(self._makers, f"{self._path}[]", {}, self._objects)

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self._makers.called(self._path, self._objects)

    def __enter__(self) -> _Thing:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


class _Metric:
    """A metric of which nothing is read but a number."""

    def __call__(self, *_: Any, **__: Any) -> Any:
        return self.result()

    def update_state(self, *_: Any, **__: Any) -> None:
        """Takes anything."""

    def reset_states(self) -> None:
        """Has nothing to reset."""

    reset_state = reset_states

    def result(self) -> Any:
        """A scalar."""
        return sys.modules["tensorflow"].constant(0.5)


def _small(keras: Any, shape: tuple[int, ...]) -> Any:
    """A model of one dense layer, of the mean of what it is called with."""
    tensorflow = sys.modules["tensorflow"]

    class Small(keras.Model):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.inner = keras.layers.Dense(math.prod(shape), activation="sigmoid")
            self.inner.build((None, 1))
            self.built = True

        def call(self, inputs: Any, *_: Any, **__: Any) -> Any:
            first = tensorflow.cast(tensorflow.nest.flatten(inputs)[0], "float32")
            rows = tensorflow.reshape(first, [tensorflow.shape(first)[0], -1])
            given = self.inner(tensorflow.reduce_mean(rows, axis=1, keepdims=True))
            return tensorflow.reshape(given, [-1, *shape])

        def get_layer(self, *_: Any, **__: Any) -> Any:
            return self.inner

    return Small()


def _functional(keras: Any, shape: tuple[int, ...]) -> Any:
    layers = keras.layers
    image = keras.Input((64, 64, 3))
    inner = layers.Conv2D(8, 3)
    mean = layers.GlobalAveragePooling2D()(inner(image))
    made = keras.Model(image, layers.Reshape(shape)(layers.Dense(math.prod(shape), activation="sigmoid")(mean)))
    made.get_layer = lambda *_, **__: inner
    return made
