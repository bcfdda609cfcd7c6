"""Which files are unit tests: what they make is small, short-lived, and wrong on purpose at times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

if TYPE_CHECKING:
    from tfmemlint.model.file import File

CASES = frozenset({
    "unittest.TestCase", "tf.test.TestCase", "absl.testing.absltest.TestCase", "absl.testing.parameterized.TestCase",
})  # fmt: skip


def is_test(file: File) -> bool:
    """Whether a file is a unit test by its name, by a test class in it or by pytest in its imports."""
    name = file.source.path.replace("\\", "/").rpartition("/")[2]
    if name.startswith("test_") or name.removesuffix(".py").endswith(("_test", "_tests", "test_utils", "test_util")):
        return True
    imported = (alias.name for node in file.tree.of(cst.Import) for alias in node.names)
    if any(isinstance(module, cst.Name) and module.value == "pytest" for module in imported):
        return True
    return any(file.values.classes.bases(node)[0] in CASES for node in file.tree.of(cst.ClassDef))
