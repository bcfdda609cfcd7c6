"""Programs that end behind what is flagged, where what follows raises: bytes of what is made show there already."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import libcst as cst

from tfmemlint.finding import Finding
from tfmemlint.model.file import File
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.plan.claims import is_own
from tfmemlint.verify.plan.slicing import LOOPS, Slice
from tfmemlint.verify.plan.uses import made_by
from tfmemlint.verify.plan.wrapping import USED

STOPPED = "what follows the flagged statement raised: measured up to there"


def shows_there(claim: Claim) -> bool:
    """Whether a claim is about the bytes of what is made, and not about what rounds, errors or calls come to."""
    return not is_own(claim) and not claim.growth and claim.expected is None


def last_of(file: File, held: Iterable[Node], finding: Finding) -> Node | None:
    """The last of the statements that are flagged or repaired, None where no line can follow that."""
    starts = [finding.span.start, *(edit.start for edit in finding.compared)]
    simple = [
        each
        for each in held
        if isinstance(each, cst.SimpleStatementLine)
        and file.is_own(each)
        and any(file.span(each).start <= start <= file.span(each).end for start in starts)
    ]
    leaves = any(isinstance(small, (cst.Return, cst.Raise)) for each in simple for small in each.body)
    return max(simple, key=lambda each: file.span(each).start) if simple and not leaves else None


def stop(part: Slice, last: Node) -> str:
    """The line that ends a program behind a statement, when what that makes has been used as training would."""
    names = (each.name for each in made_by(part, last) if each.name.isidentifier())
    return "; ".join((*(f"{USED}{name})" for name in names), "raise SystemExit(0)"))


def loop_around(file: File, inner: Sequence[Node], others: Sequence[Node], growth: bool) -> Node | None:
    """The loop whose rounds are counted: for growth one of the finding's places inside of the flagged statement, else
    the one around that or around the calls that lead to it, else, for growth, one of the finding's other places."""
    held = (each for each in others if growth and file.tree.contains(inner[0], each))
    around = (above for node in inner for above in file.tree.ancestors(node))
    named = others if growth else ()
    return next((each for each in (*held, *around, *named) if isinstance(each, LOOPS)), None)
