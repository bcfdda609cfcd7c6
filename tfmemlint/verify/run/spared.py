"""Libraries that Keras imports wherever they are installed, and that a program has no use for.

Importing pandas and scikit-learn beside TensorFlow takes as long as half of TensorFlow. Keras asks for them only to
know their tables and models when it is given some, which no program has that neither names them nor imports what might.
"""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator, Sequence

OPTIONAL = {
    "matplotlib": ("matplotlib", "plot_model", "pylab"),
    "pandas": ("pandas",),
    "sklearn": ("sklearn", "wrappers"),
}
"""The libraries, with the words by which a program may come to need them."""

WITHOUT = sys.stdlib_module_names | {
    *("absl", "cv2", "gym", "gymnasium", "h5py", "imageio", "keras", "matplotlib", "numpy", "pandas", "PIL", "scipy"),
    *("sklearn", "tensorflow", "tensorflow_addons", "tensorflow_datasets", "tensorflow_hub", "tf_keras", "tqdm"),
}
"""Modules that give no tables and no models of these libraries, but for the libraries themselves."""

BY_NAME = ("__import__", "import_module")
"""Functions that import what a text names."""

WORD = re.compile(r"[^\W\d]\w*")


def spared(source: str, modules: Sequence[tuple[str, str]]) -> frozenset[str]:
    """Those of the libraries that a program can do without, with its own modules, paths with texts; none of them where
    it imports anything else that is not known."""
    own = {os.path.splitext(part)[0] for path, _ in modules for part in path.split(os.sep)}
    words: set[str] = set()
    for each in (source, *(text for _, text in modules)):
        words.update(WORD.findall(each))
        if any(name not in WITHOUT and name not in own for name in _imported(each)):
            return frozenset()
    return frozenset(name for name, needing in OPTIONAL.items() if words.isdisjoint(needing))


def _imported(source: str) -> Iterator[str]:
    """The first words of what a text imports; what no name tells is nothing that is known."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        yield ""
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "" if node.level and not node.module else (node.module or "").partition(".")[0]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", getattr(node.func, "id", "")) in BY_NAME:
            yield ""
