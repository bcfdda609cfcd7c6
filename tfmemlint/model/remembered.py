"""Answers about a whole file that are asked for at many of its places, worked out once."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, ParamSpec, TypeVar, cast

if TYPE_CHECKING:
    from tfmemlint.model.file import File

Asked = ParamSpec("Asked")
Answer = TypeVar("Answer")


def once_per_file(ask: Callable[Asked, Answer]) -> Callable[Asked, Answer]:
    """Remember with the file, its first argument, what a function answers; its other arguments must be hashable.

    What is asked for while a value is being computed may change yet and is not remembered.
    """

    @wraps(ask)
    def remembered(*args: Asked.args, **kwargs: Asked.kwargs) -> Answer:
        file = cast("File", args[0])
        if file.values.memo.computing:
            return ask(*args, **kwargs)
        key = (ask, args[1:], tuple(kwargs.items()))
        if key not in file.answers:
            file.answers[key] = ask(*args, **kwargs)
        found: Answer = file.answers[key]
        return found

    return remembered
