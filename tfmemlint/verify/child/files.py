"""Files and folders that a program reads and that are not there, made up on disk in its own folder; loaded by
`main.py`.

What is read of a path that does not exist is made up by the ending of its name, and kept below `FOLDER` by the same
path, so that a program that lists a folder, reads what it found and writes beside it sees one and the same. What it
writes where it may not write goes there too. Only calls of the program's own files are answered so, and functions that
libraries have for reading such files.
"""

from __future__ import annotations

import builtins
import fnmatch
import functools
import glob
import io
import os
import pathlib
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

Note = Callable[[str], None]

FOLDER = "tfmemlint_made_up"
CLASSES, MOST_SAID, MANY = 2, 8, 16
READERS = {
    "PIL.Image": ("open",),
    "cv2": ("imread",),
    "imageio": ("imread",),
    "librosa.core.audio": ("load",),
    "matplotlib.image": ("imread",),
    "matplotlib.pyplot": ("imread",),
    "scipy.io.wavfile": ("read",),
    "skimage.io": ("imread",),
    "soundfile": ("read",),
}
"""Functions of libraries that read the picture, or the sound, that their first argument names."""

PICTURE, OF_SOUNDS = ".png", frozenset(("librosa.core.audio", "scipy.io.wavfile", "soundfile"))

LOADERS = {"sklearn.datasets": ("load_files",)}
"""Functions of libraries that read the folders of classes in the one that their first argument names."""

FOLDERS = {f"{name}_from_directory": "directory" for name in ("image_dataset", "text_dataset", "flow")}
"""Functions of Keras that read the folder that an argument names, with the argument's name."""


class Files:
    """The made-up files of one run. `asked` tells whether the program's own files ask; `work` is its folder, and
    relative paths are looked for in the folders `beside` too, where a user may start the program."""

    def __init__(
        self, asked: Callable[[], bool], request: dict[str, Any], work: str, notes: tuple[Note, Note], kinds: Any
    ) -> None:
        """`notes` are told what was replaced, the second one what has sizes that were made up; `kinds` are the modules
        that write contents, and records."""
        source = request.get("source") or ""
        self._asked, (self._note, self._made_up), (self._contents, self._records) = asked, notes, kinds
        self._beside: list[str] = request.get("beside", [])
        self._work, self.root = os.path.join(work, ""), os.path.join(work, FOLDER)
        self._ending = self._contents.likeliest(source)
        self._nested = "isdir(" in source or "is_dir(" in source
        self._present, self._times = bool(request.get("present")), MANY if request.get("many") else 1
        self._classes = dict(request.get("rows", ())).get(CLASSES, CLASSES)
        self.has_records = False
        """Whether records were made up."""
        self._lines, self._said, self._source = None, 0, source  # how lines are read; what was made up so far

    def install(self) -> None:
        """Put this in front of what reads files."""
        listed = dict.fromkeys(("listdir", "walk"), self.listed)
        for name, find in {**listed, "mkdir": self.written, "makedirs": self._target}.items():
            setattr(os, name, self.if_asked(getattr(os, name), find))
        for name in ("exists", "isfile", "isdir"):
            setattr(os.path, name, self.if_asked(getattr(os.path, name), self.known))
        for module in (builtins, io):
            module.open = self._opened(open)  # type: ignore[attr-defined]
        for name in ("glob", "iglob"):
            setattr(glob, name, self.globbed(getattr(glob, name)))
        path: Any = pathlib.Path
        for name in ("glob", "rglob"):
            setattr(path, name, self._globbed_below(getattr(path, name), recursive=name == "rglob"))
        path.iterdir = self._iterated(path.iterdir)

    def of_keras(self, keras: Any) -> Iterator[tuple[Any, Any]]:
        """The functions of a Keras that read files, each with what takes its place."""
        generator = getattr(getattr(keras.preprocessing, "image", None), "ImageDataGenerator", None)
        if generator is not None:
            self._patch(generator, {"flow_from_directory": self._pictures})
        load = functools.partial(self.file, like=PICTURE)
        pictures = {"image_dataset_from_directory": self._pictures, "load_img": load}
        for name, find in {**dict.fromkeys(FOLDERS, self.folder), **pictures}.items():
            if (function := getattr(keras.utils, name, None)) is not None:
                yield function, self._redirected(function, find, FOLDERS.get(name))

    def patch_reader(self, module: types.ModuleType) -> None:
        """Do so for a module of `READERS` or `LOADERS`."""
        name = module.__name__
        find = functools.partial(self.file, like=".wav" if name in OF_SOUNDS else PICTURE)
        self._patch(module, dict.fromkeys(READERS.get(name, ()), find))
        self._patch(module, dict.fromkeys(LOADERS.get(name, ()), self.folder))

    def _patch(self, home: Any, found: dict[str, Callable[[str], str]]) -> None:
        for name, find in found.items():
            if (function := vars(home).get(name)) is not None:
                setattr(home, name, self._redirected(function, find, FOLDERS.get(name)))

    def place(self, path: str) -> str:
        """Where what is made up for a path lies."""
        full = os.path.abspath(path)
        return full if full.startswith(os.path.join(self.root, "")) else os.path.join(self.root, full.lstrip(os.sep))

    def there(self, path: str) -> str | None:
        """Where a path leads to something that is there, and not made up."""
        if _lies_there(path):
            return path
        beside = self._beside if not os.path.isabs(path) else ()
        return next(filter(_lies_there, (os.path.join(folder, path) for folder in beside)), None)

    def file(self, path: str, like: str = "", records: bool = False) -> str:
        """The path of a file to read: the one that is there, or one that is made up."""
        if (there := self.there(path)) is not None:
            return there
        made = self.place(path)
        if not _lies_there(made):
            records = records or path.endswith(self._records.ENDINGS)
            words = "a file of records" if records else self._contents.kind(path, like)
            if words is None:
                return path
            self._contents.make_way(made)
            self._write(made, like, self._records.RECORDS if records else 0)
            self._say(path, words)
        return made

    def folder(self, path: str, ending: str | None = None, classes: bool = True) -> str:
        """The path of a folder to read, with files in it, in folders for each class where asked for."""
        if (there := self.there(path)) is not None:
            return there
        if os.path.isfile(made := self.place(path)):
            os.unlink(made)
        if not _lies_there(made):
            ending = ending or self._ending
            many = self._records.RECORDS_OF_MANY if ending in self._records.ENDINGS else 0
            names, words = self._contents.names_in_folder(self._classes if classes else 0, ending, self._times)
            for name in names:
                os.makedirs(os.path.dirname(os.path.join(made, name)), exist_ok=True)
                self._write(os.path.join(made, name), "", many)
            self._say(path, words)
        return made

    def _pictures(self, path: str) -> str:
        return self.folder(path, self._ending if self._ending in self._contents.IMAGES else PICTURE)

    def _write(self, path: str, like: str, records: int) -> None:
        self.has_records |= bool(records)
        lines = self._lines or self._contents.lines_in(self._source)  # a folder may be listed before a file is opened
        if records:
            self._records.write(path, records)
        else:
            self._contents.write(path, like, lines)

    def listed(self, path: str) -> str:
        """The path of a folder to list."""
        return self.folder(path, classes=self._nested)

    def _target(self, path: str) -> str:
        """The path of a folder to make: this one, or where what may not be written goes."""
        if os.path.realpath(os.path.dirname(os.path.abspath(path))).startswith(os.path.realpath(self._work)):
            return path
        made = self.place(path)
        if not _lies_there(made):
            os.makedirs(os.path.dirname(made), exist_ok=True)
            self._note(f"{self._shown(path)} cannot be written here: {FOLDER} takes its place")
        return made

    def written(self, path: str) -> str:
        """The path of a file to write, whose folder is there then."""
        made = self._target(path)
        folder = os.path.dirname(os.path.abspath(made))
        if folder.startswith(self._work) and not os.path.isdir(folder):
            _make_folders(folder)
            self._note(f"{self._shown(folder)}, which the program writes to, is not there: it was made")
        return made

    def _say(self, path: str, words: str) -> None:
        self._said += 1
        if self._said <= MOST_SAID:
            self._made_up(f"{self._shown(path)} is not there: {words} was made up")
        elif self._said == MOST_SAID + 1:
            self._note("more files were made up in the same way")

    def _shown(self, path: str) -> str:
        return os.path.basename(path) if path.startswith(self.root) else path.removeprefix(self._work)

    def known(self, path: str) -> str:
        """The path of what is there, or has been made up; where all shall be there that a program asks for, what is
        made up now: a file by the ending of its name, else a folder."""
        made = self.place(path)
        if self._present and self.there(path) is None and not path.startswith(self._work):
            return self.file(path) if os.path.splitext(path)[1] else self.folder(path, classes=self._nested)
        return self.there(path) or (made if _lies_there(made) else path)

    # -- functions ---------------------------------------------------------------------------------------------------

    def if_asked(self, function: Any, find: Callable[[str], str]) -> Any:
        @functools.wraps(function)
        def answered(path: Any = ".", *args: Any, **kwargs: Any) -> Any:
            if isinstance(path, (str, os.PathLike)) and self._asked():
                path = find(os.fspath(path))
            return function(path, *args, **kwargs)

        return answered

    def _redirected(self, function: Any, find: Any, word: str | None) -> Any:
        skipped = word is not None and function.__name__.startswith("flow")

        @functools.wraps(function)
        def read(*args: Any, **kwargs: Any) -> Any:
            given, at = list(args), 1 if skipped else 0
            names = kwargs.get("class_names") or kwargs.get("classes") if word is not None else None
            self._classes = len(names) if isinstance(names, (list, tuple)) else self._classes
            all_given: Any = given if len(given) > at else kwargs
            key = at if all_given is given else word
            path = given[at] if all_given is given else kwargs.get(word or "")
            if isinstance(path, (str, os.PathLike)):
                all_given[key] = found = find(os.fspath(path))
                self._contents.name_classes(found, names if found.startswith(self.root) else None)
            return function(*given, **kwargs)

        return read

    def _opened(self, function: Any) -> Any:
        @functools.wraps(function)
        def opened(file: Any, mode: str = "r", *args: Any, **kwargs: Any) -> Any:
            if isinstance(file, (str, os.PathLike)) and self._asked():
                path = os.fspath(file)
                self._lines = self._contents.lines_of(sys._getframe(1).f_code.co_filename, self._source)
                if not set(mode) & set("wax+"):
                    file = self.file(path) if isinstance(path, str) else file
                elif isinstance(path, str):
                    file = self.written(path)
            return function(file, mode, *args, **kwargs)

        return opened

    def globbed(self, function: Any) -> Any:
        @functools.wraps(function)
        def globbed(pathname: Any, *args: Any, **kwargs: Any) -> Any:
            given = function(pathname, *args, **kwargs)
            found = list(given)
            if not found and isinstance(pathname, str) and self._asked():
                found = self.matching(pathname)
            return found if isinstance(given, list) else iter(found)

        return globbed

    def _globbed_below(self, function: Any, recursive: bool) -> Any:
        @functools.wraps(function)
        def globbed(path: Any, pattern: str, *args: Any, **kwargs: Any) -> Iterator[Any]:
            found = list(function(path, pattern, *args, **kwargs))
            if not found and self._asked() and not path.exists():
                below = os.path.join(str(path), "**", pattern) if recursive else os.path.join(str(path), pattern)
                found = [type(path)(each) for each in self.matching(below)]
            return iter(found)

        return globbed

    def _iterated(self, function: Any) -> Any:
        @functools.wraps(function)
        def listed(path: Any) -> Iterator[Any]:
            if self._asked() and not path.exists():
                path = type(path)(self.listed(str(path)))
            return iter(list(function(path)))

        return listed

    def matching(self, pattern: str) -> list[str]:
        """Made-up files by a pattern of a shell, where the folder that it begins with is not there."""
        parts = os.path.abspath(pattern).split(os.sep)
        first = next((number for number, part in enumerate(parts) if set(part) & set("*?[")), None)
        if first is None or _lies_there(os.sep.join(parts[:first]) or os.sep):
            return []
        base, rest = os.sep.join(parts[:first]), [part for part in parts[first:] if part != "**"]
        ending = self._contents.ending_of(rest[-1]) if rest else None
        folders = len(rest) == 1 and ending is None and self._nested
        made = self.folder(base, ending, classes=len(rest) > 1 or folders)
        if len(rest) == 1 and any(os.path.isdir(os.path.join(made, name)) for name in os.listdir(made)):
            return sorted(os.path.join(made, name) for name in os.listdir(made))
        return sorted(
            os.path.join(where, name)
            for where, _, names in _walk(made)
            for name in names
            if fnmatch.fnmatch(name, rest[-1] if ending is not None else "*")
        )


_lies_there, _make_folders, _walk = os.path.lexists, os.makedirs, os.walk
