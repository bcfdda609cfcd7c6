"""Stands in for what reads and resizes pictures, PIL and OpenCV, where these are not installed; loaded by `main.py`.
Pictures have the size, the channels and the dtype of the real ones; what is in them is made up."""

from __future__ import annotations

import importlib
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

SIDE = 256
"""Of a picture that is read, as those have that are made up on disk."""

CHANNELS = {"L": 0, "1": 0, "P": 0, "RGB": 3, "RGBA": 4, "CMYK": 4}
OF_MODES = {"grayscale": "L", "rgb": "RGB", "rgba": "RGBA"}
SAME = ("GaussianBlur", "blur", "medianBlur", "bilateralFilter", "equalizeHist", "flip", "normalize", "filter2D")
"""Functions of OpenCV that give a picture of the same size."""

SHOWS = ("imshow", "imwrite", "waitKey", "destroyAllWindows", "namedWindow")


def _np() -> Any:
    return importlib.import_module("numpy")


def _made(height: int, width: int, channels: int) -> Any:
    shape = (height, width, channels) if channels else (height, width)
    return _np().random.default_rng(0).integers(0, 255, shape, dtype="uint8")


def _scaled(array: Any, width: int, height: int) -> Any:
    """The array with so many columns and rows, each the nearest one."""
    numpy = _np()
    rows = numpy.arange(height) * array.shape[0] // height
    columns = numpy.arange(width) * array.shape[1] // width
    return array[rows][:, columns]


class Picture:
    """A picture of PIL."""

    def __init__(self, array: Any, mode: str = "") -> None:
        self._array = _np().asarray(array)
        channels = self._array.shape[2] if self._array.ndim == 3 else 0
        self.mode = mode or {0: "L", 4: "RGBA"}.get(channels, "RGB")
        self.format = "PNG"

    @property
    def size(self) -> tuple[int, int]:
        return (int(self._array.shape[1]), int(self._array.shape[0]))

    width = property(lambda self: self.size[0])
    height = property(lambda self: self.size[1])

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return self._array.copy() if dtype is None else self._array.astype(dtype)

    @property
    def __array_interface__(self) -> Any:
        return self._array.__array_interface__

    def resize(self, size: Any, *_: Any, **__: Any) -> Picture:
        return Picture(_scaled(self._array, int(size[0]), int(size[1])), self.mode)

    def convert(self, mode: str | None = None, *_: Any, **__: Any) -> Picture:
        width, height = self.size
        return Picture(_made(height, width, CHANNELS.get(mode or "RGB", 3)), mode or "RGB")

    def crop(self, box: Any = None) -> Picture:
        left, upper, right, lower = map(int, box or (0, 0, *self.size))
        return Picture(self._array[upper:lower, left:right], self.mode)

    def thumbnail(self, size: Any, *_: Any, **__: Any) -> None:
        self._array = _scaled(self._array, min(size[0], self.size[0]), min(size[1], self.size[1]))

    def rotate(self, *_: Any, **__: Any) -> Picture:
        return Picture(self._array, self.mode)

    copy = transpose = filter = rotate

    def save(self, *_: Any, **__: Any) -> None:
        """Writes nothing."""

    close = show = load = verify = save

    def __enter__(self) -> Picture:
        return self

    def __exit__(self, *_: Any) -> None:
        pass


def of_pil(module: Any) -> None:
    """Fill `PIL.Image`."""

    def opened(*_: Any, **__: Any) -> Picture:
        return Picture(_made(SIDE, SIDE, 3))

    def new(mode: str, size: Any, *_: Any) -> Picture:
        return Picture(_made(int(size[1]), int(size[0]), CHANNELS.get(mode, 3)), mode)

    vars(module).update(open=opened, fromarray=Picture, new=new, Image=Picture)


def of_opencv(module: Any) -> None:
    """Fill `cv2`."""

    def imread(path: Any, flags: Any = 1, *_: Any) -> Any:
        gray = flags == 0 if isinstance(flags, int) else _names(flags, "GRAYSCALE")
        return _made(SIDE, SIDE, 0 if gray else 3)

    def resize(src: Any, dsize: Any = None, *_: Any, fx: float = 1.0, fy: float = 1.0, **__: Any) -> Any:
        width, height = dsize or (int(src.shape[1] * fx), int(src.shape[0] * fy))
        return _scaled(src, int(width), int(height))

    def convert(src: Any, code: Any, *_: Any) -> Any:
        if _names(code, "2GRAY"):
            return src.mean(axis=2).astype(src.dtype)
        gray = src.ndim == 2 or src.shape[-1] == 1
        return _np().repeat(src.reshape(*src.shape[:2], 1), 3, axis=2) if gray else src.copy()

    def threshold(src: Any, thresh: float, maxval: float, *_: Any) -> Any:
        return thresh, _np().where(src > thresh, maxval, 0).astype(src.dtype)

    vars(module).update(imread=imread, resize=resize, cvtColor=convert, threshold=threshold)
    vars(module).update(dict.fromkeys(SAME, lambda src, *_, **__: src.copy()))
    vars(module).update(dict.fromkeys(SHOWS, lambda *_, **__: None))


def _names(constant: Any, word: str) -> bool:
    """Whether a constant that is missing has a name that ends so."""
    return str(vars(constant).get("_path", "")).endswith(word) if hasattr(constant, "__dict__") else False


FILLS: Mapping[str, tuple[Callable[[Any], None], str]] = {
    "PIL": (lambda module: None, "pictures of the same sizes stand for those that it reads"),
    "PIL.Image": (of_pil, "pictures of the same sizes stand for those that it reads"),
    "cv2": (of_opencv, "pictures of the same sizes stand for those that it reads"),
}


def of_keras() -> None:
    """Have Keras load pictures, which it does by PIL."""
    for name in ("keras.src.utils.image_utils", "tf_keras.src.utils.image_utils"):
        utils: Any = sys.modules.get(name)
        if utils is not None and getattr(utils, "pil_image", 1) is None:
            module = types.ModuleType("PIL.Image")
            of_pil(module)
            utils.pil_image, utils.load_img = module, _loaded
            for user in _users(name.partition(".")[0]):
                for place, value in list(vars(user).items()):
                    if place in ("pil_image", "load_img") and (value is None or place == "load_img"):
                        setattr(user, place, module if value is None else _loaded)


def _users(head: str) -> list[Any]:
    return [each for name, each in list(sys.modules.items()) if name.startswith(head) and each is not None]


def _loaded(path: Any, color_mode: str = "rgb", target_size: Any = None, *_: Any, **options: Any) -> Picture:
    mode = "L" if options.get("grayscale") else OF_MODES.get(color_mode, "RGB")
    height, width = target_size or (SIDE, SIDE)
    return Picture(_made(int(height), int(width), CHANNELS[mode]), mode)
