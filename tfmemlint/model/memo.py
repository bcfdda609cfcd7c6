"""Answers worked out on demand and remembered, also where an answer depends on itself.

What is remembered is a function of the question: not of who asked first, nor of what was asked before.

Such an answer (a loop's value) is worked out from the outside in: first from what enters the loop, then assuming that
result; where both agree it stands, else they are widened. Of the questions in a circle the one that stands first in
the file is its head, whichever was asked for: where the circle was entered elsewhere, what was begun is given up, the
head is answered, and then the question again. Answers found on the way hold as long as what they rest on.

A long chain of questions is cut in the same way: the deepest one is answered for itself, then the first one again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tfmemlint.model.pending import Key, Question, Rank, State, Wanted
from tfmemlint.model.values.value import BOTTOM, HEAVIEST, TOO_LARGE, Unknown, Value
from tfmemlint.model.widening import widen

if TYPE_CHECKING:
    from tfmemlint.model.calls import Call

BUDGET_PER_NODE = 6
BUDGET_BASE = 20_000
"""Evaluations of one file beyond which all is Unknown: ten times what any program was seen to take."""

DEEPEST = 70
"""Questions inside each other before the chain is cut; keeps Python's own stack out of the question."""

MOST_RESTARTS = 16
"""How often the head of a circle may turn out to be another; the first one then stays."""

WEIGHT_BITS = 5
"""Looking at a value is one evaluation more for each 32 of its weight."""

Answer = TypeVar("Answer")

_MISSING = object()
_NOT_SEEN = Unknown("only what a circle gives itself")


def latter(first: Answer, second: Answer) -> Answer:
    """The answer that assumes the one before: for what is no value and changes once at most."""
    return second


class Memory:
    """What is known of a file with this many nodes; `spent` of `budget` evaluations are used up.

    `state` is what is known now: for a while it may be another one (see `anew`).

    `rank` orders questions by where they were asked to be answered (the `where` of `once`), independent of the asker.
    """

    def __init__(self, nodes: int, rank: Callable[..., Rank] = lambda *where: where) -> None:
        self.budget = BUDGET_BASE + BUDGET_PER_NODE * nodes
        self.spent = 0
        self._rank = rank
        self.state = State()

    def more(self, nodes: int) -> None:
        """Raise the budget for further code of so many nodes."""
        self.budget += BUDGET_PER_NODE * nodes

    def once(
        self,
        key: Key,
        compute: Callable[..., Answer],
        *where: Any,
        start: Any = BOTTOM,
        meet: Callable[[Any, Any], Any] = widen,
    ) -> Answer:
        """The remembered answer to `key`, which `compute` works out from `where`.

        An answer that depends on itself is worked out assuming `start`, then assuming the result; `meet` makes one of
        the two.
        """
        state = self.state
        known = state.answers.get(key, _MISSING)
        if known is not _MISSING:
            return cast(Answer, known)
        if state.wanted is not None:  # what is being worked out is given up; it will be asked again
            return cast(Answer, start)
        running = state.running.get(key)
        if running is not None:
            self._rest(state, 1 << running.depth)
            return cast(Answer, running.answer)
        held = state.held.get(key)
        if held is not None:
            self._rest(state, held[1])
            return cast(Answer, held[0])
        question = Question(key, compute, where, start, meet)
        depth = question.depth = len(state.stack)
        if depth >= DEEPEST:
            state.wanted = Wanted(0, question, is_cut=True)
            return cast(Answer, start)
        if key in state.cut:  # a circle that is longer than chains may be
            return cast(Answer, _too_long(question))
        if not depth:
            return cast(Answer, self._from_outside(question, state))
        answer = self._attempt(question, state)
        return cast(Answer, answer if state.wanted is None else self._again(question, state))

    def _rest(self, state: State, depths: int) -> None:
        """What is being worked out rests on these; where one of them should not be the head of the circle that this
        closes, it is given up until the head is known."""
        stack = state.stack
        stack[-1].rests_on |= depths
        while depths:
            depth = (depths & -depths).bit_length() - 1
            depths &= depths - 1
            head = stack[depth]
            if len(stack) > depth + 1 and head.restarts < MOST_RESTARTS:
                first = min(stack[depth:], key=self._rank_of)
                if first is not head:
                    state.wanted = Wanted(depth, first)
                    return

    def _rank_of(self, question: Question) -> Rank:
        if question.rank is None:
            question.rank = self._rank(*question.where)
        return question.rank

    # -- answers -----------------------------------------------------------------------------------------------------

    def _from_outside(self, question: Question, state: State) -> Any:
        """The answer to somebody who is not working out another one."""
        try:
            answer = self._attempt(question, state)
            return answer if state.wanted is None else self._again(question, state)
        except Exception as error:
            state.give_up()  # the next rule that asks finds nothing half done
            if not isinstance(error, RecursionError):
                raise
            return _too_long(question)  # the rule may stand deep in a stack of its own

    def _again(self, question: Question, state: State) -> Any:
        """The answer to a question that was given up, after those that are wanted first."""
        waiting = [question]
        answer = question.start
        while waiting:
            wanted = state.wanted
            if wanted is None:
                state.cut.discard(waiting.pop().key)
            elif wanted.depth < question.depth:
                return question.start
            else:
                state.wanted = None
                waiting[-1].restarts += 1
                if wanted.is_cut:
                    state.cut.add(waiting[-1].key)
                first = wanted.question
                if any(other.key == first.key for other in waiting):
                    state.answers[first.key] = _too_long(first)
                else:
                    waiting.append(Question(first.key, first.compute, first.where, first.start, first.meet))
                    waiting[-1].depth = question.depth
            if waiting:
                answer = self._attempt(waiting[-1], state)
        return answer

    def _attempt(self, question: Question, state: State) -> Any:
        """Work out an answer and keep it, unless it turns out that another one is wanted first."""
        state.stack.append(question)
        state.running[question.key] = question
        question.rests_on, question.answer, question.held = 0, question.start, None
        own = 1 << question.depth
        agreed = True
        try:
            answer = self._computed(question)
            if question.rests_on & own and state.wanted is None:
                # Where nothing enters the circle that is seen, it holds what is not known.
                assumed = _NOT_SEEN if answer is BOTTOM else answer
                answer = question.meet(answer, self._assuming(question, assumed, state))
                agreed = answer is assumed or answer == assumed
                if not agreed and question.rests_on == own:
                    # It stands now: what rests on it is looked at once more, and stands too.
                    self._assuming(question, answer, state)
                    agreed = True
        except BaseException:
            state.leave(question)
            raise
        if state.wanted is not None:
            state.leave(question)
            return answer
        state.stack.pop()
        del state.running[question.key]
        question.rests_on &= ~own
        if question.held or question.tries:
            state.pass_on(question, agreed)
        return state.keep(question, answer)

    def _assuming(self, question: Question, answer: Any, state: State) -> Any:
        """Work the answer out once more, assuming this one."""
        question.answer = answer
        state.forget(question)
        return self._computed(question) if state.wanted is None else answer

    def _computed(self, question: Question) -> Any:
        if self.spent >= self.budget:
            return Unknown("the file's evaluation budget is spent") if question.start is BOTTOM else question.start
        self.spent += 1
        answer = question.compute(*question.where)
        if isinstance(answer, Value):
            weight = answer.weight
            if weight > HEAVIEST:
                return TOO_LARGE
            if answer.known:
                self.spent += weight >> WEIGHT_BITS  # what it takes to walk over it
        return answer

    # -- parts of answers --------------------------------------------------------------------------------------------

    @property
    def computing(self) -> bool:
        """Whether an answer is being worked out right now."""
        return bool(self.state.stack)

    def settled(self, compute: Callable[[], Answer]) -> tuple[Answer, bool]:
        """A result, and whether it stands: nothing was asked for on the way to it that is still being worked out."""
        stack = self.state.stack
        if not stack:
            return compute(), True
        outer, stack[-1].rests_on = stack[-1].rests_on, 0
        result = compute()
        stands = not stack[-1].rests_on and self.state.wanted is None
        stack[-1].rests_on |= outer
        return result, stands

    def calls(self) -> dict[Key, Call]:
        """The call objects that belong to what is known now."""
        return self.state.calls

    def anew(self, state: State | None = None) -> State:
        """Forget all values, or remember those of `state` again; gives what was known until now."""
        known, self.state = self.state, state or State()
        return known


def _too_long(question: Question) -> Any:
    return Unknown("nested too deeply") if question.start is BOTTOM else question.start
