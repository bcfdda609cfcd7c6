"""What is in records that are made up: what the program parses of them; loaded by `main.py`.

Nobody knows what a record holds before the program says how it is parsed. So a made-up one is next to empty, and the
functions that parse it give features of the dtypes and shapes that they are asked for.
"""

from __future__ import annotations

import functools
import os
import sys
import weakref
from collections.abc import Callable
from typing import Any

ENDINGS = (".tfrecord", ".tfrecords", ".tfrec", ".record", ".records")
RECORDS, RECORDS_OF_MANY = 256, 16
"""Records in a file that is asked for by its name, and in each of the files of a folder."""

ITEMS = 16
"""Numbers of a feature whose length differs from record to record."""

KINDS = ("FixedLenFeature", "FixedLenSequenceFeature", "VarLenFeature")
DEEPEST = 12
"""Operations between the bytes of a record and where they are given their shape."""

SIZES = frozenset(("height", "width", "rows", "cols", "columns", "depth", "channels", "channel", "h", "w"))


def write(path: str, count: int) -> None:
    """A file of records."""
    tensorflow: Any = sys.modules["tensorflow"]
    train, bytes_of = tensorflow.train, os.fsencode
    with tensorflow.io.TFRecordWriter(path) as writer:
        for number in range(count):
            value = train.Feature(bytes_list=train.BytesList(value=[bytes_of(str(number))]))
            example = train.Example(features=train.Features(feature={"tfmemlint": value}))
            writer.write(example.SerializeToString())


class Parsed:
    """The functions that parse records, in a run where `made_up` tells whether there are made-up ones. `picture` is
    what stands for bytes, `usual` gives the usual value of a name."""

    def __init__(self, made_up: Callable[[], bool], picture: bytes, usual: Callable[[str], Any]) -> None:
        self._made_up, self._usual = made_up, usual
        self._bytes = picture + b"\0" * (-len(picture) % 8)
        self._marked: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        """Tensors, by id, whose numbers come of such bytes."""
        self._asked: dict[int, list[int]] = {}
        """How many numbers such a tensor of a graph shall have, 0 where nothing says it."""

    def install(self) -> None:
        """Put this in front of the functions of TensorFlow."""
        tensorflow: Any = sys.modules["tensorflow"]
        for home in (tensorflow.io, tensorflow):
            for name, answer in (
                ("parse_single_example", self._parse),
                ("parse_example", self._parse),
                ("decode_raw", self._decode_raw),
            ):
                self._put(home, name, answer)
        for home in (tensorflow.io, tensorflow.image):
            for name in ("decode_image", "decode_jpeg", "decode_png"):
                self._put(home, name, self._decode_image)
        self._put(tensorflow, "reshape", self._reshape)
        kind: Any = tensorflow.Tensor
        kind.set_shape = self._of_shape(kind.set_shape)

    def _put(self, home: Any, name: str, answer: Callable[..., Any]) -> None:
        function = vars(home).get(name)
        if function is None:
            return

        def answered(*args: Any, **kwargs: Any) -> Any:
            if not self._made_up():
                return function(*args, **kwargs)
            return answer(function, *args, **kwargs)

        answered.__name__ = answered.__qualname__ = name
        setattr(home, name, answered)

    def _parse(self, function: Any, serialized: Any, features: Any = None, *args: Any, **kwargs: Any) -> Any:
        tensorflow = sys.modules["tensorflow"]
        texts = tensorflow.convert_to_tensor(serialized)
        if not isinstance(features, dict) or not all(type(each).__name__ in KINDS for each in features.values()):
            return function(serialized, features, *args, **kwargs)
        return {name: self._feature(name, spec, texts) for name, spec in features.items()}

    def _feature(self, name: str, spec: Any, texts: Any) -> Any:
        tensorflow, kind = sys.modules["tensorflow"], type(spec).__name__
        if kind == "FixedLenFeature":
            return self._filled(name, spec.dtype, tuple(spec.shape), texts)
        if kind == "FixedLenSequenceFeature":
            return self._filled(name, spec.dtype, (ITEMS, *spec.shape), texts)
        return tensorflow.sparse.from_dense(self._filled(name, spec.dtype, (ITEMS,), texts, least=1))

    def _filled(self, name: str, dtype: Any, shape: tuple[int, ...], texts: Any, least: int = 0) -> Any:
        tensorflow = sys.modules["tensorflow"]
        words = name.lower().replace("/", "_").split("_")
        size = self._usual(words[-1]) if words[-1] in SIZES and not shape else None
        differs = tensorflow.strings.to_hash_bucket_fast(texts, 2)  # what is constant would be shared by all records
        if dtype == tensorflow.string:
            one = tensorflow.strings.join([self._bytes, tensorflow.strings.as_string(differs, width=8, fill="0")])
        elif isinstance(size, int):
            one = tensorflow.fill(tensorflow.shape(texts), tensorflow.cast(size, dtype))
        else:
            one = tensorflow.cast(differs + least, dtype)
        rows = tensorflow.reshape(one, tensorflow.concat([tensorflow.shape(texts), [1] * len(shape)], 0))
        made = tensorflow.broadcast_to(rows, tensorflow.concat([tensorflow.shape(texts), list(shape)], 0))
        made.set_shape(texts.shape.concatenate(shape))
        return made

    def _decode_raw(self, function: Any, input_bytes: Any = None, out_type: Any = None, *_: Any, **options: Any) -> Any:
        tensorflow = sys.modules["tensorflow"]
        numbers = function(options.get("bytes", input_bytes), tensorflow.uint8)
        if tensorflow.executing_eagerly() or numbers.shape.rank != 1:
            return self._mark(tensorflow.cast(numbers, out_type))
        asked = [0]  # how many there shall be, which is known only after this has been traced
        there = tensorflow.cast(tensorflow.size(numbers), "int64")
        told = tensorflow.numpy_function(lambda: sys.modules["numpy"].int64(asked[0]), [], tensorflow.int64)
        count = tensorflow.where(told > 0, told, there)
        made = tensorflow.tile(numbers, [-(-count // there)])[:count]
        made.set_shape([None])
        marked = self._mark(tensorflow.cast(made, out_type))
        self._asked[id(marked)] = asked
        return marked

    def _of_shape(self, set_shape: Any) -> Any:
        """The method that says how many numbers there are, as which made-up bytes then are."""

        @functools.wraps(set_shape)
        def told(tensor: Any, shape: Any) -> None:
            set_shape(tensor, shape)
            marked = self._of_bytes(tensor) if self._made_up() and tensor.shape.rank == 1 else None
            if marked is not None and tensor.shape[0] is not None and id(marked) in self._asked:
                self._asked[id(marked)][0] = int(tensor.shape[0])

        return told

    def _decode_image(self, function: Any, *args: Any, **kwargs: Any) -> Any:
        return self._mark(function(*args, **kwargs))

    def _mark(self, tensor: Any) -> Any:
        self._marked[id(tensor)] = tensor
        return tensor

    def _reshape(self, function: Any, tensor: Any = None, shape: Any = None, *args: Any, **kwargs: Any) -> Any:
        """What is given a shape that made-up bytes do not fill has them again and again."""
        if shape is None or self._of_bytes(tensor) is None:
            return function(tensor, shape, *args, **kwargs) if shape is not None else function(tensor, *args, **kwargs)
        tensorflow = sys.modules["tensorflow"]
        plain = getattr(shape, "as_list", None)
        sizes = tensorflow.cast(plain() if plain is not None else shape, "int32")
        flat = function(tensor, [-1])
        there, known = tensorflow.size(flat), tensorflow.abs(tensorflow.reduce_prod(sizes))
        some = tensorflow.maximum(1, there // known) * known
        count = tensorflow.where(tensorflow.reduce_any(sizes < 0), some, known)
        return function(tensorflow.tile(flat, [-(-count // there)])[:count], shape)

    def _of_bytes(self, tensor: Any) -> Any:
        """The tensor of made-up bytes that this one is, or is computed of; None where it is of none."""
        pending = [(tensor, 0)]
        while pending:
            each, depth = pending.pop()
            if self._marked.get(id(each)) is each and each is not None:
                return each
            inputs = () if depth >= DEEPEST or type(each).__name__ == "EagerTensor" else _inputs(each)
            pending += [(before, depth + 1) for before in inputs]
        return None


def _inputs(tensor: Any) -> tuple[Any, ...]:
    """The tensors of a graph that one is computed of."""
    return tuple(getattr(getattr(tensor, "op", None), "inputs", ()))
