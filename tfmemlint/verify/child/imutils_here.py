"""Stands in for `imutils`, which is small and lists or resizes pictures; loaded by `main.py`."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import os
import sys
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Note = Callable[[str], None]

NAMES = ("imutils", "imutils.paths")
ENDINGS = (".bmp", ".jpeg", ".jpg", ".png", ".tif", ".tiff")


class Imutils(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Answers for it where nothing else does. `asked` tells whether the program's own files ask, `folder` gives the
    path of a folder to list."""

    def __init__(self, asked: Callable[[], bool], folder: Callable[[str], str], note: Note) -> None:
        self._asked, self._folder, self._note = asked, folder, note

    def install(self) -> None:
        """Come after what finds the library, and before what stands in for those that nobody finds."""
        sys.meta_path.append(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        asked = self._asked() or "imutils" in sys.modules
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if fullname in NAMES and asked else None

    def exec_module(self, module: types.ModuleType) -> None:
        self._note("imutils is not installed: functions that do the same list and resize pictures")
        if module.__name__ == "imutils":
            vars(module).update(resize=_resized)
        else:
            vars(module).update(list_images=self._images, list_files=self._listed)

    def _images(self, base: Any, contains: str | None = None) -> Iterator[str]:
        yield from self._listed(base, ENDINGS, contains)

    def _listed(self, base: Any, endings: Any = None, contains: str | None = None) -> Iterator[str]:
        for folder, _, names in sorted(os.walk(self._folder(os.fspath(base)))):
            for name in sorted(names):
                if (contains is None or contains in name) and (endings is None or name.lower().endswith(endings)):
                    yield os.path.join(folder, name)


def _resized(image: Any, width: int | None = None, height: int | None = None, inter: Any = None) -> Any:
    if width is None and height is None:
        return image
    rows, columns = image.shape[:2]
    scale = width / columns if width is not None else (height or rows) / rows
    size = (width or int(columns * scale), height or int(rows * scale))
    return importlib.import_module("cv2").resize(image, size)
