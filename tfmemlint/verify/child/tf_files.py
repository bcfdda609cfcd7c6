"""Has TensorFlow read files that are made up (see `files.py`); loaded by `main.py`."""

from __future__ import annotations

import functools
import glob
import os
import sys
import threading
from collections.abc import Callable
from typing import Any


class TensorFlowFiles:
    """Redirects what reads files; `files` makes them up. In a graph the paths are known only when it runs."""

    def __init__(self, files: Any) -> None:
        self._files = files
        self._one_by_one = threading.Lock()

    def install(self) -> None:
        """Put this in front of the readers of TensorFlow."""
        tensorflow: Any = sys.modules["tensorflow"]
        read = tensorflow.io.read_file
        for home in (tensorflow.io, tensorflow):
            if getattr(home, "read_file", None) is not None:
                home.read_file = lambda filename, name=None: read(self._found(filename, self._files.file), name)
        data: Any = tensorflow.data
        data.Dataset.list_files = staticmethod(self._list_files(data.Dataset.list_files))
        records = functools.partial(self._files.file, records=True)
        for kind, find in ((data.TFRecordDataset, records), (data.TextLineDataset, self._files.file)):
            kind.__init__ = self._of_files(kind.__init__, find)
        gfile = tensorflow.io.gfile
        gfile.glob = self._files.globbed(gfile.glob)
        for name, find in (
            ("listdir", self._files.listed),
            ("exists", self._files.known),
            ("isdir", self._files.known),
            ("mkdir", self._files.written),
            ("makedirs", self._files.written),
        ):
            setattr(gfile, name, self._files.if_asked(getattr(gfile, name), find))
        older = getattr(tensorflow.compat.v1, "gfile", None)
        for name in ("MkDir", "MakeDirs"):
            if older is not None:
                setattr(older, name, self._files.if_asked(getattr(older, name), self._files.written))
        summary: Any = tensorflow.compat.v2.summary
        writer = self._into(summary.create_file_writer)
        homes: list[Any] = [summary, getattr(tensorflow, "summary", None)]
        for home in homes:
            if hasattr(home, "create_file_writer"):
                home.create_file_writer = writer

    def _into(self, make: Any) -> Any:
        """The function that makes a writer of summaries, also for callbacks: where nothing may be written, one into
        the program's own folder."""

        @functools.wraps(make)
        def made(logdir: Any, *args: Any, **kwargs: Any) -> Any:
            path = os.fspath(logdir) if isinstance(logdir, (str, os.PathLike)) else None
            return make(logdir if path is None else self._files.written(path), *args, **kwargs)

        return made

    def _of_files(self, make: Any, find: Callable[[str], str]) -> Any:
        """The method that makes a data set of the contents of files."""

        @functools.wraps(make)
        def made(self_: Any, filenames: Any, *args: Any, **kwargs: Any) -> None:
            make(self_, self._all_found(filenames, find), *args, **kwargs)

        return made

    def _all_found(self, filenames: Any, find: Callable[[str], str]) -> Any:
        tensorflow = sys.modules["tensorflow"]
        if isinstance(filenames, (list, tuple)):
            return [self._found(each, find) for each in filenames]
        if isinstance(filenames, tensorflow.data.Dataset):
            return filenames.map(lambda path: self._found(path, find))
        return self._found(filenames, find)

    def _found(self, path: Any, find: Callable[[str], str]) -> Any:
        """The path, or the paths, at which something can be read."""
        if isinstance(path, (str, os.PathLike)):
            return find(os.fspath(path))
        tensorflow = sys.modules["tensorflow"]
        if not tensorflow.is_tensor(path) or path.dtype != tensorflow.string:
            return path

        def look(paths: Any) -> Any:
            numpy = sys.modules["numpy"]
            with self._one_by_one:
                every = [os.fsencode(find(os.fsdecode(each))) for each in numpy.ravel(paths)]
            return numpy.array(every, dtype=object).reshape(numpy.shape(paths))

        found = tensorflow.numpy_function(look, [path], tensorflow.string)
        found.set_shape(path.shape)
        return found

    def _list_files(self, function: Any) -> Any:
        @functools.wraps(function)
        def list_files(file_pattern: Any, *args: Any, **kwargs: Any) -> Any:
            patterns = file_pattern if isinstance(file_pattern, (list, tuple)) else [file_pattern]
            if all(isinstance(each, (str, os.PathLike)) for each in patterns):
                there = [path for each in patterns for path in glob.glob(os.fspath(each))]
                made = [path for path in there if path.startswith(self._files.root)]
                one = [self._files.file(os.fspath(each)) for each in patterns if not glob.has_magic(os.fspath(each))]
                file_pattern = made or (one if not there and one else file_pattern)
            return function(file_pattern, *args, **kwargs)

        return list_files
