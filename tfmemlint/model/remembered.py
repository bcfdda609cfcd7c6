"""Answers about a whole file that are asked for at many of its places, worked out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

if TYPE_CHECKING:
    from tfmemlint.model.file import File

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def once_per_file(ask: Callable[Concatenate[File, Asked], Answer]) -> Callable[Concatenate[File, Asked], Answer]:
    """Remember with the file what a function answers; its other arguments must be hashable.

    What is asked for while a value is being computed may change yet and is not remembered.
    """

    @wraps(ask)
    def remembered(file: File, *args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        if file.values.computing:
            return ask(file, *args, **kwargs)
        key = (ask, args, tuple(kwargs.items()))
        if key not in file.answers:
            file.answers[key] = ask(file, *args, **kwargs)
        found: Answer = file.answers[key]
        return found

    return remembered
