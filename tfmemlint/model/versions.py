"""Which version of TensorFlow a program is written for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint.model.scopes import Binds
from tfmemlint.model.values import Api

if TYPE_CHECKING:
    from tfmemlint.model.file import File

_REMOVED = "tf.compat.v1."
_MAGIC = re.compile(r"%tensorflow_version\s+1")


def before_version_2(file: File) -> bool:
    """Whether the program uses names that version 2 has only below `compat.v1` where version 1 had them."""
    for node in file.tree.of(cst.Attribute):
        if isinstance(node.value, cst.Name) and file.value(node.value) == Api("tf"):
            value = file.value(node)
            if isinstance(value, Api) and value.name.startswith(_REMOVED):
                return True
    for definitions in file.flow(file.module).end.values():
        for d in definitions:
            removed = d.binds is Binds.IMPORT and d.api.startswith("tensorflow.") and d.api.count(".") == 1
            imported = file.values.definition(d, None) if removed else None
            if isinstance(imported, Api) and imported.name.startswith(_REMOVED):
                return True
    return bool(_MAGIC.search(file.source.decoded.raw))
