"""Which files are read together: programs, tests, very large files and notebooks apart, as they cost differently."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from benchmarks import corpora
from benchmarks.corpora import Files, is_test
from tfmemlint.text.prefilter import mentions_tensorflow
from tfmemlint.text.read import read_source
from tfmemlint.text.source import SourceError

PROGRAMS = {
    "keras": ("`tf_keras`, engine and layers", "tf_keras", ("tf_keras/src/engine", "tf_keras/src/layers")),
    "agents": ("TF-Agents", "tf-agents", ("tf_agents",)),
    "models": ("TensorFlow Model Garden", "tf-models-official", ("official", "orbit")),
    "small": ("`tf_keras`, recurrent layers", "tf_keras", ("tf_keras/src/layers/rnn",)),
}
"""Title, package and folders of program files."""
TESTS = ("unit tests of TF-Agents", "tf-agents", ("tf_agents",))


def fetched(folder: Path) -> None:
    """Fetch the packages into a folder."""
    for name, requirement in corpora.PACKAGES.items():
        corpora.fetched(requirement, folder / name)


def subjects(folder: Path, notebooks: Path | None, most: int = 0) -> dict[str, Files]:
    """The files by name; of each at most `most`, or all for 0. What is not there is left out."""
    found = [_of(folder, name, *parts, lambda path: not is_test(path)) for name, parts in PROGRAMS.items()]
    found.append(_of(folder, "tests", *TESTS, is_test))
    found.append(_large(folder))
    if notebooks is not None:
        found.append(_notebooks(notebooks))
    return {each.name: corpora.fewer(each, most) for each in found if each.paths}


def _of(
    folder: Path, name: str, title: str, package: str, parts: Iterable[str], wanted: Callable[[Path], bool]
) -> Files:
    root = folder / package
    return corpora.chosen(name, title, root, [root / part for part in parts if (root / part).exists()], wanted)


def _large(folder: Path) -> Files:
    """The very large files of all packages."""
    root = folder.resolve()
    packages = [root / name for name in corpora.PACKAGES if (root / name).exists()]
    files = corpora.chosen("large", "very large files", root, packages, lambda path: not is_test(path))
    pairs = zip(files.paths, files.counts, strict=True)
    return corpora.counted("large", files.title, root, [path for path, lines in pairs if lines >= corpora.LARGE])


def _notebooks(root: Path) -> Files:
    """Notebooks that use TensorFlow; their lines are those of their programs."""
    found: dict[Path, int] = {}
    for path in sorted(root.rglob("*.ipynb")):
        if mentions_tensorflow(path.read_bytes()) and (text := program(path)) is not None:
            found[path.relative_to(root)] = text.count("\n")
    return Files("notebooks", "notebooks of TensorFlow's documentation", root, [*found], [*found.values()])


def program(path: Path) -> str | None:
    """The program of a notebook, its commands masked; None where it cannot be read."""
    try:
        return read_source(path.read_bytes(), path.name).text
    except SourceError:
        return None


def as_programs(files: Files, target: Path) -> Files:
    """The programs of notebooks as Python files below `target`."""

    def written() -> Iterator[tuple[Path, bytes]]:
        for path in files.paths:
            yield path.with_suffix(".py"), (program(files.root / path) or "").encode()

    return _written(files, target, written())


def told_to_be_python(files: Files, target: Path) -> Files:
    """Copies of notebooks below `target` that name their language, for a tool that leaves out those that do not."""

    def written() -> Iterator[tuple[Path, bytes]]:
        for path in files.paths:
            notebook = json.loads((files.root / path).read_bytes())
            notebook["metadata"].setdefault("language_info", {})["name"] = "python"
            yield path, json.dumps(notebook, indent=1).encode()

    return _written(files, target, written())


def with_marker(files: Files, target: Path, word: str) -> Files:
    """Copies below `target` with one more line, a comment of this word, for a tool that leaves out files without it."""
    line = f"\n# {word}\n".encode()
    return _written(files, target, ((path, (files.root / path).read_bytes() + line) for path in files.paths))


def copied(root: Path, target: Path, most: int = 0) -> Path:
    """Copies of all Python files of a folder below `target`, to be changed; of at most `most`, if not 0."""
    for path in corpora.sampled(list(corpora.python_files([root])), most):
        copy = target / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    return target


def _written(files: Files, target: Path, texts: Iterable[tuple[Path, bytes]]) -> Files:
    shutil.rmtree(target, ignore_errors=True)
    paths = []
    for path, data in texts:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
        (target / path).write_bytes(data)
        paths.append(path)
    return corpora.counted(files.name, files.title, target.resolve(), paths)
