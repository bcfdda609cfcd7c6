"""Questions that are being answered, and the answers that rest on theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tfmemlint.model.values.value import BOTTOM, Unknown

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

MOST_TRIES = 8
"""Evaluations of one expression for one circle, before it is given up: as many as three loops in each other take."""

Key = tuple[Any, ...]
"""What is asked: the ids of a node or definition and of the frame in which it is looked at; or a word and an id."""

Rank = tuple[Any, ...]
"""Where a question stands among those of its circle, the first of which is its head."""

_TOO_MANY = Unknown("depends on itself in too many ways")


class Question:
    """A question, and while it is being answered the state of that."""

    depth = 0
    rests_on = 0
    """The depths of the questions in the making that were asked for since this one began, as bits."""
    rank: Rank | None = None
    restarts = 0

    def __init__(
        self, key: Key, compute: Callable[..., Any], where: tuple[Any, ...], start: Any, meet: Callable[[Any, Any], Any]
    ) -> None:
        self.key = key
        self.compute = compute
        self.where = where
        self.start = start
        """The answer to those who ask for it while it is worked out for the first time."""
        self.meet = meet
        self.answer = start
        self.held: list[Key] | None = None
        """Answers that hold until this one changes: nothing deeper is what they rest on."""
        self.tries: dict[Key, int] | None = None
        """How often what rests on this one was worked out."""


class Wanted(NamedTuple):
    """What must be answered before the question at a depth can be."""

    depth: int
    question: Question
    is_cut: bool = False
    """Whether it is wanted because the chain of questions is too long."""


class State:
    """What is known, and what is being worked out."""

    def __init__(self) -> None:
        self.answers: dict[Key, Any] = {}
        self.calls: dict[Key, Call] = {}
        self.stack: list[Question] = []
        self.running: dict[Key, Question] = {}
        self.held: dict[Key, tuple[Any, int]] = {}
        """Answers that rest on others in the making, whose depths are given as bits."""
        self.wanted: Wanted | None = None
        self.cut: set[Key] = set()
        """Questions that wait for the deepest one of a chain."""

    def give_up(self) -> None:
        """Forget what is half done."""
        self.stack.clear()
        self.running.clear()
        self.held.clear()
        self.cut.clear()
        self.wanted = None

    def leave(self, question: Question) -> None:
        """Give a question up, and what was found for it."""
        del self.stack[question.depth :]
        del self.running[question.key]
        self.forget(question)
        for key in question.tries or ():
            self.held.pop(key, None)
        question.tries = None

    def keep(self, question: Question, answer: Any) -> Any:
        """Remember an answer for good, or as long as what it rests on does not change."""
        key, depths = question.key, question.rests_on
        if not depths:
            self.answers[key] = answer
            return answer
        head, tries = self.stack[(depths & -depths).bit_length() - 1], 0
        if question.start is BOTTOM:
            head.tries = head.tries or {}
            tries = head.tries[key] = head.tries.get(key, 0) + 1
        if tries >= MOST_TRIES:
            answer = _TOO_MANY
            self.held[key] = answer, 1 << head.depth
        else:
            self.hold(key, answer, depths)
        self.stack[-1].rests_on |= depths
        return answer

    def hold(self, key: Key, answer: Any, depths: int) -> None:
        self.held[key] = answer, depths
        deepest = self.stack[depths.bit_length() - 1]
        deepest.held = deepest.held or []
        deepest.held.append(key)

    def forget(self, question: Question) -> None:
        """Forget what held as long as this question's answer was the same."""
        tries = question.tries or {}
        for key in question.held or ():
            if tries.get(key, 0) < MOST_TRIES:
                self.held.pop(key, None)
        question.held = None

    def pass_on(self, question: Question, agreed: bool) -> None:
        """What rested on a question that is answered now stands if it was worked out from that answer; it rests on what
        the answer rests on."""
        own, below = 1 << question.depth, question.rests_on
        for key in question.held or ():
            answer, depths = self.held.pop(key, (None, 0))
            depths = (depths & ~own) | below
            if not agreed or answer is None:
                continue
            if depths:
                self.hold(key, answer, depths)
            else:
                self.answers[key] = answer
        for key, tries in (question.tries or {}).items():
            if below:
                above = self.stack[(below & -below).bit_length() - 1]
                above.tries = above.tries or {}
                tries = above.tries[key] = tries + above.tries.get(key, 0)
                if tries >= MOST_TRIES:
                    self.held[key] = _TOO_MANY, 1 << above.depth
            elif tries >= MOST_TRIES:
                self.held.pop(key, None)
                self.answers.setdefault(key, _TOO_MANY)
