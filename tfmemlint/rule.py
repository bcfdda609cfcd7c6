"""What a rule is: metadata checked when its class is made, and generator handlers that yield findings.

A rule holds no state: one instance serves all files. Suppression, crashes, timing, configuration and output are the
engine's work and never a rule's.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

from tfmemlint.finding import MOST_BYTES, Edit, Finding, Fix, Related, Safety, Severity, Shows, Span
from tfmemlint.units import AtLeast, show_bytes

if TYPE_CHECKING:
    import libcst as cst

    from tfmemlint.model.calls import Call
    from tfmemlint.model.file import File
    from tfmemlint.query.facts import Fact

CODE = re.compile(r"TFM\d{3}|[A-Z]{3,6}\d{3}")
HEADINGS = (
    "## What it does",
    "## Why it costs memory",
    "## Example",
    "## Fix safety",
    "## When not to use it",
    "## References",
)
"""The sections of a rule's page in their order."""
_NOT_BY_HAND = ("## Example", "## Fix safety")
"""Those that need not stand in the docstring: examples come from the cases, and a rule without fixes has `no_fix`."""

COST = "{cost}"
"""Where a message says what the finding costs; other braces in messages are the user's code and stay as they are."""

Method = TypeVar("Method", bound=Callable[..., Iterator[Finding]])
R = TypeVar("R", bound="Rule")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Handler:
    """A method of a rule and what it waits for: calls of the APIs `names`, or with a `fact` each thing of that kind, in
    files that use one of the names where there are any."""

    method: str
    names: tuple[str, ...]
    fact: Fact[Any] | None = None


def on_call(*names: str) -> Callable[[Method], Method]:
    """Run the handler on every call of one of these canonical API names, such as `"tf.data.Dataset.cache"`.

    The handler takes `(self, call, file)`. The names are also the rule's trigger: a file in which none of their last
    parts occurs as a word is never parsed for this rule.
    """

    def mark(method: Method) -> Method:
        _waits_for(method, Handler(method.__name__, names))
        return method

    return mark


def on(
    fact: Fact[T], *names: str
) -> Callable[[Callable[[R, T, File], Iterator[Finding]]], Callable[[R, T, File], Iterator[Finding]]]:
    """Run the handler on everything of one kind that a file holds, such as its tapes: `@on(tapes)`.

    The handler takes `(self, tape, file)`. With `names` it runs only in files that use one of these APIs, too: what the
    rule has nothing to say without. A name is written as those of a fact: an API, `tf.random.` for all that begin so,
    or a word of the code.
    """

    def mark(method: Callable[[R, T, File], Iterator[Finding]]) -> Callable[[R, T, File], Iterator[Finding]]:
        _waits_for(method, Handler(method.__name__, names, fact))
        return method

    return mark


def _waits_for(method: Callable[..., Any], handler: Handler) -> None:
    method.__dict__["handlers"] = (*method.__dict__.get("handlers", ()), handler)


class Rule:
    """Base of all rules. A subclass sets the metadata, writes its page as its docstring and marks its handlers.

    Raises TypeError when the class is made with missing or malformed metadata or without a handler.
    """

    code: ClassVar[str]
    """`TFM` and three digits, or another prefix for a third party's pack; never reused."""
    name: ClassVar[str]
    """Kebab-case name that reads after "allow"; made from the class name where it is not given."""
    summary: ClassVar[str]
    """One line: what is wrong and why it costs memory."""
    severity: ClassVar[Severity] = Severity.WARNING
    default: ClassVar[bool] = True
    """Whether the rule runs without being selected by code."""
    in_tests: ClassVar[bool] = True
    """Whether the rule speaks about unit tests too, where what is made is small and gone soon."""
    worth_in_bytes: ClassVar[bool] = True
    """Whether a finding is worth its `bytes` and no more, so that one known to cost less than `least-cost` is left out.
    False where it is as much about time, growth, traces or results, or where `bytes` are those of one of many."""
    spared: ClassVar[float] = 1.0
    """The part of a finding's `bytes` that is spared where it is followed, which is what `least-cost` weighs: 0.5 where
    the same numbers take half of them in another dtype."""
    fix_safety: ClassVar[tuple[Safety, ...]] = ()
    """The kinds of fix that the rule may attach; empty when it has none."""
    no_fix: ClassVar[str] = ""
    """Why there is none, as the end of a sentence that begins "No fix:"."""

    handlers: ClassVar[tuple[Handler, ...]] = ()
    """What the marked methods wait for, in the order of their names."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if cls.__dict__.get("abstract", False):
            return
        if "name" not in cls.__dict__:
            cls.name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        methods = [getattr(cls, key, None) for key in dir(cls)]
        cls.handlers = tuple(each for method in methods for each in getattr(method, "handlers", ()))
        cls.check_metadata()

    @classmethod
    def check_metadata(cls) -> None:
        """Raise TypeError where metadata is missing or malformed."""

        def fail(why: str) -> None:
            raise TypeError(f"rule {cls.__module__}.{cls.__name__}: {why}")

        if not CODE.fullmatch(getattr(cls, "code", "")):
            fail("code must be a prefix of capitals and three digits, such as 'TFM305'")
        if not getattr(cls, "summary", "") or "\n" in cls.summary:
            fail("summary must be one line")
        if not cls.handlers:
            fail("no handler is marked with @on_call or @on")
        for handler in cls.handlers:
            if not handler.names and (handler.fact is None or not handler.fact.names):
                fail(f"{handler.method} does not say which APIs it is about, so that every file would be read")
        page = cls.__doc__ or ""
        missing = [heading for heading in HEADINGS if heading not in page and heading not in _NOT_BY_HAND]
        if cls.fix_safety and "## Fix safety" not in page:
            missing.append("## Fix safety")
        if missing:
            fail(f"the docstring lacks {', '.join(missing)}")
        if cls.fix_safety and cls.no_fix:
            fail("it has fixes and says in no_fix why it has none")

    def finding(
        self,
        where: Call | cst.CSTNode | Span,
        file: File,
        message: str,
        *,
        fix: Fix | None = None,
        contrast: Edit | Sequence[Edit] | None = None,
        related: Iterable[tuple[Call | cst.CSTNode | Span, str]] = (),
        bytes: int | None = None,
        severity: Severity | None = None,
        shows: Shows | None = None,
    ) -> Finding:
        """A finding at `where`: a call stands for its method's name, a statement for its first token.

        `bytes` is the cost in bytes where it is known: `{cost}` in the message becomes ` (18 MiB)`, of a lower bound
        (`AtLeast`) ` (at least 18 MiB)`, and nothing where it is not known. `related` are pairs of a place and what it
        has to do with it. `contrast` makes the same program without the cost where there is no `fix`: `verify` measures
        the one beside the other, and no user sees it, so that it may compute something else. `shows` is what a run
        shows where it is not about bytes: an error, a setting that was not read.
        """
        if file.took_elsewhere():  # a repair changes the file of its finding and no other
            fix = contrast = None
        compared = (contrast,) if isinstance(contrast, Edit) else tuple(contrast or ())
        exact = not isinstance(bytes, AtLeast)
        cost = None if bytes is None else min(int(bytes), MOST_BYTES)
        return Finding(
            code=self.code,
            name=self.name,
            severity=severity or self.severity,
            message=message.replace(COST, "" if cost is None else f" ({show_bytes(cost if exact else AtLeast(cost))})"),
            span=file.place(where),
            elsewhere=file.elsewhere(where),
            bytes=cost,
            bytes_exact=exact,
            related=tuple(Related(file.place(place), words, file.elsewhere(place)) for place, words in related),
            fix=fix,
            contrast=tuple(sorted(compared)) if fix is None else (),
            shows=shows,
        )
