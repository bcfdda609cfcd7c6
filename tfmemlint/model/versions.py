"""Which version of TensorFlow a program is written for."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.model.values import Api
from tfmemlint.syntax.scopes import Binds

if TYPE_CHECKING:
    from tfmemlint.model.file import File

_MAGIC = re.compile(r"%tensorflow_version\s+1")

_FIRST_MODULES = frozenset({"contrib", "flags", "python_io"})
"""Modules of version 1 of which the tables of version 2 say nothing; 2.21 has none of them."""

_SECOND = {"function": "tf.function", "GradientTape": "tf.GradientTape", "ops": "tf.keras.ops"}
"""The last words of names that programs for version 2 have: 1.15 knows two, for programs that were on the way."""


def says_version_2(file: File) -> bool:
    """Whether the program uses names that hardly any program for version 1 has; False where nothing tells."""
    named = ((node.attr.value, node) for node in file.tree.of(cst.Attribute))
    if any(word in _SECOND and file.value(node) == Api(_SECOND[word]) for word, node in named):
        return True
    imported = (d for found in file.flow(file.module).end.values() for d in found if d.binds is Binds.IMPORT)
    return any(d.api == "keras" or d.api.startswith(("keras.ops", "tensorflow.compat.v2")) for d in imported)


def before_version_2(file: File) -> bool:
    """Whether the program uses names where version 1 had them and version 2 does not."""
    for node in file.tree.of(cst.Attribute):
        inner = node.value.value if isinstance(node.value, cst.Attribute) else node.value
        if isinstance(inner, cst.Name) and _of_first(node) and file.value(inner) == Api("tf"):
            return True
    for definitions in file.flow(file.module).end.values():
        for d in definitions:
            if d.binds is Binds.IMPORT and d.api.startswith("tensorflow.") and d.api.count(".") == 1:
                if knowledge.of_first_version(d.api):
                    return True
            if d.binds is Binds.IMPORT and d.api.startswith("tensorflow.contrib"):
                return True
    return bool(_MAGIC.search(file.source.decoded.raw))


def _of_first(node: cst.Attribute) -> bool:
    """Whether `tf.log`, `tf.layers.dense` or `tf.contrib` is written, if the first name is TensorFlow's."""
    if isinstance(node.value, cst.Attribute):
        return knowledge.of_first_version(f"tf.{node.value.attr.value}.{node.attr.value}")
    return node.attr.value in _FIRST_MODULES or knowledge.of_first_version(f"tf.{node.attr.value}")
