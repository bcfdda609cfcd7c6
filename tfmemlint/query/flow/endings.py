"""How the names of files end that a program reads or writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.values import constant

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def ending(file: File, path: cst.BaseExpression) -> str | None:
    """The last part of the name of a file that certainly is written so: `.hdf5` of `folder + "-{epoch}.hdf5"`. None
    where it ends in what is not known."""
    whole = constant(file.value(path))
    if isinstance(whole, str):
        return whole
    node = file.written(path)
    if isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return ending(file, node.right)
    if isinstance(node, cst.FormattedString) and node.parts and isinstance(node.parts[-1], cst.FormattedStringText):
        return node.parts[-1].value
    if isinstance(node, cst.Call) and node.args and file.call(node).name == "os.path.join":
        return ending(file, node.args[-1].value)
    return None
