"""What sample programs read, made up small: files, what `keras.datasets` fetches, saved models, libraries not there.

Nothing here starts TensorFlow's runtime, which some samples are about.
"""

from __future__ import annotations

import ast
import struct
import sys
import zlib
from collections.abc import Callable, Iterable
from pathlib import Path
from types import ModuleType
from typing import Any

ROWS = 8
CLASSES = ("a", "b")


def make_up_libraries() -> None:
    """In place of what would need the network or is not installed; before the programs run."""
    import keras
    import tensorflow as tf

    for home in (keras, tf.keras):
        _data_sets(home)
        _replace(home.models, "load_model", _saved_model)
        for name in ("image_dataset_from_directory", "text_dataset_from_directory"):
            _replace(home.utils, name, _from_folder)
        if hasattr(home, "preprocessing"):
            _replace(home.preprocessing, "image_dataset_from_directory", _from_folder)
    _progress_bars()
    sys.modules["tensorflow_datasets"] = _catalogue()


def make_up_files(source: str, folder: Path) -> None:
    """Those whose names or patterns stand in a program, in its folder."""
    strings = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
    for text in {each for each in strings if isinstance(each, str)}:
        write = WRITERS.get(Path(text).suffix) if len(text) < 60 and "\n" not in text else None
        names = (text.replace("*", name) for name in CLASSES) if "*" in text else (text,)
        for path in (folder / name for name in names):
            if write is not None and folder in path.parents:
                path.parent.mkdir(parents=True, exist_ok=True)
                write(path)


# -- files -----------------------------------------------------------------------------------------------------------


def _png(path: Path) -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(b"\0" + bytes((7 * (row + x)) % 256 for x in range(3 * 32)) for row in range(32))
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 32, 32, 8, 2, 0, 0, 0))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + header + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def _records(path: Path) -> None:
    import tensorflow as tf

    with tf.io.TFRecordWriter(str(path)) as writer:
        for row in range(ROWS):
            label = tf.train.Feature(int64_list=tf.train.Int64List(value=[row]))
            features = tf.train.Features(feature={"label": label})
            writer.write(tf.train.Example(features=features).SerializeToString())


def _array(path: Path) -> None:
    import numpy as np

    np.save(path, np.random.default_rng(0).random((ROWS, 4), dtype="float32"))


def _table(path: Path) -> None:
    path.write_text("a,b,label\n" + "".join(f"{row},{row + 1},{row % 2}\n" for row in range(ROWS)))


def _text(path: Path) -> None:
    path.write_text("".join(f"line {row}\n" for row in range(ROWS)))


WRITERS: dict[str, Callable[[Path], object]] = {
    ".png": _png,
    ".jpg": _png,  # decoders look at the content
    ".jpeg": _png,
    ".tfrecord": _records,
    ".npy": _array,
    ".csv": _table,
    ".txt": _text,
    ".bin": lambda path: path.write_bytes(bytes(range(256)) * 16),
}


# -- libraries -------------------------------------------------------------------------------------------------------


def _replace(home: Any, name: str, with_: Callable[..., Any]) -> None:
    first = getattr(home, name)
    setattr(home, name, lambda *args, **more: with_(first, *args, **more))


def _data_sets(home: Any) -> None:
    """A few rows of the shapes and dtypes of the data sets that are images."""
    import numpy as np

    draw = np.random.default_rng(0)
    shapes = {"mnist": (28, 28), "fashion_mnist": (28, 28), "cifar10": (32, 32, 3), "cifar100": (32, 32, 3)}
    for name, shape in shapes.items():
        rows = [draw.integers(0, 256, (n, *shape), dtype="uint8") for n in (96, 32)]
        labels = [draw.integers(0, 10, (n, 1) if "cifar" in name else (n,)).astype("uint8") for n in (96, 32)]
        data = tuple(zip(rows, labels, strict=True))

        def load_data(*args: Any, data: Any = data, **more: Any) -> Any:
            return tuple((images.copy(), classes.copy()) for images, classes in data)

        getattr(home.datasets, name).load_data = load_data


def _saved_model(load: Callable[..., Any], path: Any, *args: Any, **more: Any) -> Any:
    """A model for data of any shape where no file is."""
    import keras

    if Path(str(path)).exists():
        return load(path, *args, **more)
    model = keras.Sequential([keras.layers.Flatten(), keras.layers.Dense(10)])
    model.compile(loss="mse")
    return model


def _from_folder(read: Callable[..., Any], directory: Any, *args: Any, **more: Any) -> Any:
    for name in CLASSES if not Path(str(directory)).exists() else ():
        folder = Path(str(directory), name)
        folder.mkdir(parents=True)
        for row in range(4):
            _png(folder / f"{row}.png")
            _text(folder / f"{row}.txt")
    return read(directory, *args, **more)


def _progress_bars() -> None:
    module: Any = ModuleType("tqdm")

    def tqdm(items: Iterable[Any] | None = None, *args: Any, **more: Any) -> Any:
        return items if items is not None else range(0)

    module.tqdm, module.trange = tqdm, lambda *args, **more: range(*args)
    for name in ("tqdm", "tqdm.auto", "tqdm.notebook"):
        sys.modules[name] = module


def _catalogue() -> Any:
    """`tfds.load` of images with labels."""
    module: Any = ModuleType("tensorflow_datasets")

    def load(
        name: str, split: Any = None, *, batch_size: int | None = None, as_supervised: bool = False,
        with_info: bool = False, **more: Any,
    ) -> Any:  # fmt: skip
        import numpy as np
        import tensorflow as tf

        def half(_: object) -> Any:
            images = np.random.default_rng(0).integers(0, 256, (ROWS, 32, 32, 3), dtype="uint8")
            labels = np.arange(ROWS)
            pair = (images, labels) if as_supervised else {"image": images, "label": labels}
            data = tf.data.Dataset.from_tensor_slices(pair)
            return data if batch_size is None else data.batch(batch_size)

        if split is None:
            found: Any = {each: half(each) for each in ("train", "test")}
        else:
            found = [half(each) for each in split] if isinstance(split, (list, tuple)) else half(split)
        return (found, ModuleType("info")) if with_info else found

    module.load, module.as_numpy = load, lambda data: data.as_numpy_iterator()
    return module
