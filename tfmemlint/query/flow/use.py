"""One use of a value: what the code does with it at one place."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

    from tfmemlint.model.calls import Call
    from tfmemlint.syntax.tree import Node


class Does(enum.Enum):
    """What the code does with a value at one place."""

    READ = "reads an attribute"
    METHOD = "calls a method"
    CALL = "calls it"
    PASS = "passes it to a call"
    ITEM = "takes an item, or unpacks it"
    ITERATE = "runs over its items"
    COMPUTE = "computes or decides with it"
    SET = "sets or deletes an attribute or item of it"
    STORE = "puts it into an attribute, a container or a global"
    RETURN = "returns or yields it"
    ENTER = "enters it with `with`"
    DELETE = "deletes the name"
    OTHER = "goes where it is not followed"


@dataclass(frozen=True, slots=True)
class Use:
    """One use: `node` is the expression that stands for the value there.

    `word` is the attribute or method, `call` the call of the method, of the value itself, or that takes it as
    `argument` or into a container, `place` the expression or statement that does it: of a STORE the target or the
    container. `part` says that it is a part of the value that is used (`unpacked`: one of several that an assignment
    or a loop tells apart), `held` that it is a container with the value in it, `captured` that a function inside the
    value's own reads it.
    """

    node: Node
    does: Does
    word: str = ""
    call: Call | None = None
    argument: cst.Arg | None = None
    place: Node | None = None
    part: bool = False
    unpacked: bool = False
    held: bool = False
    captured: bool = False
