"""Who else reads what a name stands for, and what is given away by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.remembered import once_per_file
from tfmemlint.model.values import Api
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


@once_per_file
def gives_away(file: File, *functions: str) -> bool:
    """Whether some code of the file certainly gives one of these functions of an API as an argument, so that it may be
    called later: `atexit.register(tf.profiler.experimental.stop)`."""
    given = [Api(function) for function in functions]
    for name in (name for function in functions for name in file.loads(function.rpartition(".")[2])):
        above = file.tree.parent(name)
        reference = above if isinstance(above, cst.Attribute) else name
        if isinstance(file.tree.parent(reference), cst.Arg) and file.value(reference) in given:
            return True
    return False
