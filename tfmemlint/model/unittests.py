"""Which files are unit tests: what they make is small, short-lived, and wrong on purpose at times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.finding import Span
from tfmemlint.model.remembered import once_per_file
from tfmemlint.syntax.scopes import own_nodes
from tfmemlint.syntax.tree import called_word
from tfmemlint.text.paths import is_named_test

if TYPE_CHECKING:
    from tfmemlint.model.file import File

CASES = frozenset({
    "unittest.TestCase", "tf.test.TestCase", "absl.testing.absltest.TestCase", "absl.testing.parameterized.TestCase",
})  # fmt: skip

RAISES = frozenset({
    "raises", "assertRaises", "assertRaisesRegex", "assertRaisesRegexp", "assertRaisesWithLiteralMatch",
})  # fmt: skip


def is_test(file: File) -> bool:
    """Whether a file is a unit test by its name, by a test class in it, by pytest in its imports or by functions
    that pytest runs in a module that does nothing itself."""
    if is_named_test(file.source.path):
        return True
    imported = (alias.name for node in file.tree.of(cst.Import) for alias in node.names)
    if any(isinstance(module, cst.Name) and module.value == "pytest" for module in imported):
        return True
    if any(file.values.classes.bases(node)[0] in CASES for node in file.tree.of(cst.ClassDef)):
        return True
    return _only_defines(file) and any(_asserts(node) for node in file.module.body)


@once_per_file
def expects_error(file: File) -> tuple[Span, ...]:
    """The code that is run to see it fail: `with pytest.raises(RuntimeError)`, `with self.assertRaises(...)`."""
    blocks = [
        block
        for block in file.tree.of(cst.With)
        if any(isinstance(item.item, cst.Call) and called_word(item.item) in RAISES for item in block.items)
    ]
    return tuple(file.span(block.body) for block in blocks)


def _only_defines(file: File) -> bool:
    """Whether a module runs nothing: imports, constants, functions and classes."""
    plain = (cst.Import, cst.ImportFrom, cst.Assign, cst.AnnAssign, cst.Pass)
    for statement in file.module.body:
        if isinstance(statement, cst.SimpleStatementLine):
            if not all(isinstance(s, plain) or _text(s) for s in statement.body):
                return False
        elif not isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            return False
    return True


def _text(statement: cst.BaseSmallStatement) -> bool:
    return isinstance(statement, cst.Expr) and isinstance(statement.value, (cst.SimpleString, cst.ConcatenatedString))


def _asserts(statement: cst.CSTNode) -> bool:
    """Whether a statement is a function that pytest runs: `test_...` with an `assert` of its own."""
    if not isinstance(statement, cst.FunctionDef) or not statement.name.value.startswith("test_"):
        return False
    return any(isinstance(node, cst.Assert) for node in own_nodes(statement, cst.Assert))
