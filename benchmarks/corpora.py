"""The code that is measured: pinned packages, fetched by pip, and the notebooks of TensorFlow's documentation."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tarfile
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

from tfmemlint.text.prefilter import mentions_tensorflow

T = TypeVar("T")
PACKAGES = {
    "tf_keras": "tf_keras==2.21.0",
    "tf-agents": "tf-agents==0.19.0",
    "tf-models-official": "tf-models-official==2.15.0",
}
"""Folder and requirement of each package; in all three programs and unit tests can be told apart by their names."""
NOTEBOOKS = "https://github.com/tensorflow/docs/archive/7c3650212740204359d4ceae481abc79345541be.tar.gz"
"""TensorFlow's documentation at one commit."""
TREE = ("tensorflow-cpu==2.21.0", "pandas==2.3.3")
"""What a virtual environment with TensorFlow holds, with all that these ask for."""
LARGE = 2000
"""Lines from which on a file counts as very large."""


@dataclass(frozen=True)
class Files:
    """Some files that are measured together."""

    name: str
    title: str
    root: Path
    paths: Sequence[Path]
    """Below `root`."""
    counts: Sequence[int]
    """The lines of each."""

    @property
    def lines(self) -> int:
        """The lines of all of them."""
        return sum(self.counts)

    @property
    def words(self) -> list[str]:
        """The paths, as arguments of a command that runs in `root`."""
        return [str(path) for path in self.paths]


def python_files(paths: Iterable[Path]) -> Iterator[Path]:
    """The Python files at and below these paths."""
    for path in paths:
        yield from [path] if path.is_file() else sorted(found for found in path.rglob("*.py") if found.is_file())


def sampled(paths: Sequence[T], count: int) -> list[T]:
    """`count` of the paths at even distances, always the same ones; all of them for 0."""
    if not 0 < count < len(paths):
        return list(paths)
    return [paths[index * len(paths) // count] for index in range(count)]


def is_test(path: Path) -> bool:
    """Whether a file is a unit test by its name."""
    return path.stem.endswith("_test") or path.stem.startswith("test_") or "testing" in path.parts


def chosen(name: str, title: str, root: Path, paths: Iterable[Path], wanted: Callable[[Path], bool]) -> Files:
    """Those Python files of a folder that use TensorFlow, the only ones in which every tool has something to do."""
    kept = [
        path.relative_to(root)
        for path in python_files(paths)
        if wanted(path.relative_to(root)) and mentions_tensorflow(path.read_bytes())
    ]
    return counted(name, title, root, kept)


def counted(name: str, title: str, root: Path, paths: Sequence[Path]) -> Files:
    """Some files, with their lines."""
    return Files(name, title, root, paths, [(root / path).read_bytes().count(b"\n") for path in paths])


def fewer(files: Files, count: int) -> Files:
    """A sample of some files; all of them for 0."""
    chosen = sampled(range(len(files.paths)), count)
    paths, counts = [files.paths[index] for index in chosen], [files.counts[index] for index in chosen]
    return replace(files, paths=paths, counts=counts)


def fetched(requirement: str, target: Path) -> Path:
    """A package's files below `target`; what is there already is not fetched again."""
    if not target.exists():
        download((requirement, "--no-deps"), target)
    return target


def tree(target: Path) -> Path:
    """The Python files of an environment with TensorFlow below `target`; what is there already is not fetched again."""
    if not target.exists():
        download(TREE, target)
    return target


def download(words: Sequence[str], target: Path) -> None:
    """Let pip download wheels, and unpack what they hold of Python into `target`."""
    wheels = target.with_name(f"{target.name}.wheels")
    pip = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary", ":all:", "--dest", str(wheels)]
    subprocess.run([*pip, *words], check=True)
    unpacked = target.with_name(f"{target.name}.unpacked")
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(unpacked, [name for name in archive.namelist() if name.endswith((".py", ".ipynb"))])
    unpacked.rename(target)  # last, so that what was stopped half way is done anew
    shutil.rmtree(wheels)


def notebooks(target: Path, archive: str = NOTEBOOKS) -> Path:
    """The notebooks of an archive below `target`; what is there already is not fetched again."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        packed = target.with_name(f"{target.name}.tar.gz")
        urllib.request.urlretrieve(archive, packed)
        unpacked = target.with_name(f"{target.name}.unpacked")
        with tarfile.open(packed) as tar:
            members = [each for each in tar.getmembers() if each.isfile() and each.name.endswith(".ipynb")]
            tar.extractall(unpacked, [each for each in members if ".." not in Path(each.name).parts])
        unpacked.rename(target)
    return target
