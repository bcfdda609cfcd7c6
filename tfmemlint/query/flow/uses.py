"""Where a value goes: every place at which the code does something with what an expression gives.

What it may become is followed on the way: other names (also where functions inside read them), branches of a
conditional expression, `with value as name`, displays that are taken apart at once (`a, b = value, 1`), and as far as
is asked for parts, containers, attributes and functions of the module.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tfmemlint.query.flow.following import Follow, Search
from tfmemlint.query.flow.use import Does, Use

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.syntax.tree import Node

__all__ = ["Does", "Use", "uses"]


def uses(
    file: File,
    made: Node,
    *,
    parts: bool = False,
    containers: bool = False,
    attributes: bool = False,
    through: int = 0,
    returned: bool = False,
    path: tuple[int, ...] = (),
) -> Iterator[Use]:
    """All uses of what `made` gives: an expression, a parameter, a name where it is bound, a `def` or class.

    - `parts`: follow its items, what it is unpacked into and what loops over it bind, instead of yielding ITEM and
      ITERATE.
    - `containers`: follow displays and records that hold it (`[value]`, `{"k": value}`, `Pair(value, 1)`), instead of
      yielding STORE for these; not comprehensions, which hold one for each item.
    - `attributes`: follow the attribute, dictionary item or global that it is stored in as well, as far as code of the
      same class (of the same function, where it is no attribute of `self`) names it so. The STORE is yielded, too.
    - `through`: follow it into so many functions of the module, one called by the other (`FOLLOWED_CALLS`), instead of
      yielding PASS.
    - `returned`: follow it to all callers of its function, where they are known, instead of yielding RETURN.
    - `path`: ask about what stands there in the tuple that `made` gives: `(1,)` for `b` of `a, b = made`.

    What is promised: whatever the program does with the value, it does at one of these places or behind one. Behind
    PASS, STORE, RETURN and OTHER the value may go on unseen, behind the others it does not. Where nothing is yielded,
    it is dropped at once, or only names have it that nothing reads. Other files are not seen: a name at module level
    counts as read by this file alone. Of more than `FOLLOWED_USES` places the rest are OTHER.
    """
    return Search(file, Follow(parts, containers, attributes, returned)).uses(made, through, path)
