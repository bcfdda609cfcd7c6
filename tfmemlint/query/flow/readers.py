"""Who else reads what a name stands for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.syntax.scopes import written

if TYPE_CHECKING:
    from tfmemlint.model.file import File


def only_reader(file: File, node: cst.BaseExpression) -> bool:
    """Whether nothing but this expression reads its value: it is no name, or the only place where what the name may be
    there is read, functions inside included.

    False where it may be something that this file does not bind.
    """
    if not isinstance(node, cst.Name):
        return True
    definitions = written(file.definitions(node))
    return bool(definitions) and all(reader is node for each in definitions for reader in file.readers(each))
