"""Stands in for `keras.datasets`, which a program without network cannot fetch; loaded by `main.py`.

The arrays have the shapes and dtypes of the real ones; what is in them is made up and the same in every run. Numbers
of rows, classes and features are those that Keras documents.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

IMAGES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = {
    "mnist": ((60000, 28, 28), (10000, 28, 28), 10),
    "fashion_mnist": ((60000, 28, 28), (10000, 28, 28), 10),
    "cifar10": ((50000, 32, 32, 3), (10000, 32, 32, 3), 10),
    "cifar100": ((50000, 32, 32, 3), (10000, 32, 32, 3), 100),
}
"""Shape of the training images, shape of the test images, number of classes."""

TEXTS = {"imdb": (25000, 25000, 2, 238, 88584), "reuters": (8982, 2246, 46, 146, 30979)}
"""Training texts, test texts, classes, words in a text on average, words in the vocabulary."""

TABLES = {"boston_housing": (404, 102, 13, "float64"), "california_housing": (16512, 4128, 8, "float32")}
"""Training rows, test rows, features, dtype."""

PACKAGES = (
    "keras.datasets",
    "keras.src.datasets",
    "keras._tf_keras.keras.datasets",
    "tf_keras.datasets",
    "tf_keras.src.datasets",
    "tf_keras.api._v1.keras.datasets",
    "tf_keras.api._v2.keras.datasets",
)


def patch(note: Callable[[str], None]) -> None:
    """Replace `load_data` of every data set in each Keras that is loaded; `note` is told when one is used."""
    makers: dict[str, Callable[..., Any]] = {
        **{name: _images(name, note) for name in IMAGES},
        **{name: _texts(name, note) for name in TEXTS},
        **{name: _table(name, note) for name in TABLES},
    }
    for package in PACKAGES:
        if package.partition(".")[0] not in sys.modules:
            continue
        for name, load in makers.items():
            try:
                module: Any = importlib.import_module(f"{package}.{name}")
            except ImportError:
                continue
            module.load_data = load
            if name in TEXTS:
                module.get_word_index = _words(TEXTS[name][4])


def _images(name: str, note: Callable[[str], None]) -> Callable[..., Any]:
    train, test, classes = IMAGES[name]

    def load_data(*_: Any, **__: Any) -> Any:
        numpy = importlib.import_module("numpy")
        note(f"keras.datasets.{name}.load_data() gave made-up images of the same shapes and dtypes")
        draw = numpy.random.default_rng(0)

        def part(shape: tuple[int, ...]) -> tuple[Any, Any]:
            rows = (shape[0], 1) if name.startswith("cifar") else (shape[0],)
            labels = draw.integers(0, classes, rows).astype("int64" if name == "cifar100" else "uint8")
            return draw.integers(0, 256, shape, dtype="uint8"), labels

        return part(train), part(test)

    return load_data


def _texts(name: str, note: Callable[[str], None]) -> Callable[..., Any]:
    train, test, classes, length, vocabulary = TEXTS[name]

    def load_data(path: str = "", num_words: int | None = None, *_: Any, **options: Any) -> Any:
        numpy = importlib.import_module("numpy")
        note(f"keras.datasets.{name}.load_data() gave made-up texts, as many as the real ones and about as long")
        draw = numpy.random.default_rng(0)
        longest = options.get("maxlen") or 1 << 30

        def part(count: int) -> tuple[Any, Any]:
            texts = numpy.empty(count, dtype=object)
            for row, words in enumerate(draw.poisson(length, count)):
                texts[row] = draw.integers(1, num_words or vocabulary, min(int(words), longest - 1)).tolist()
            return texts, draw.integers(0, classes, count)

        return part(train), part(test)

    return load_data


def _words(count: int) -> Callable[..., dict[str, int]]:
    def get_word_index(*_: Any, **__: Any) -> dict[str, int]:
        return {f"word{number}": number for number in range(1, count + 1)}

    return get_word_index


def _table(name: str, note: Callable[[str], None]) -> Callable[..., Any]:
    train, test, features, dtype = TABLES[name]

    def load_data(*_: Any, **__: Any) -> Any:
        numpy = importlib.import_module("numpy")
        note(f"keras.datasets.{name}.load_data() gave made-up rows of the same shapes and dtypes")
        draw = numpy.random.default_rng(0)

        def part(rows: int) -> tuple[Any, Any]:
            return draw.random((rows, features)).astype(dtype), draw.random(rows).astype(dtype)

        return part(train), part(test)

    return load_data
