"""Which rules can have anything to say about a file, by the words of its code alone.

What a rule waits for names APIs, and a file that uses an API holds the last part of its name, or of an alias of it. So
a file that lacks the words holds no finding, and is not even parsed; a word too many, in a string say, costs time and
changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import TYPE_CHECKING

from tfmemlint import knowledge

if TYPE_CHECKING:
    from tfmemlint.rule import Handler, Rule

Clause = frozenset[str]
"""Words of which a text must hold one."""

Wait = tuple[bool, tuple[Clause, ...]]
"""What a text must meet to wake a handler, every clause, and whether the handler waits for facts."""


def triggered(
    rules: Sequence[Rule], words: frozenset[str], beyond: Callable[[], frozenset[str]] = frozenset
) -> tuple[Rule, ...]:
    """The rules that the words of a program's code let speak.

    A fact may rest on what another module holds: `beyond` gives the words of those that the program imports. A call
    that a rule waits for stands in the program itself.
    """
    awake = [any(_is_met(clauses, words) for _, clauses in waits(rule)) for rule in rules]
    if not all(awake):
        more = words | beyond()
        if len(more) > len(words):
            asleep = (number for number, is_awake in enumerate(awake) if not is_awake)
            for number in asleep:
                awake[number] = any(_is_met(clauses, more) for of_fact, clauses in waits(rules[number]) if of_fact)
    return tuple(rule for rule, is_awake in zip(rules, awake, strict=True) if is_awake)


def _is_met(clauses: Iterable[Clause], words: frozenset[str]) -> bool:
    return not any(words.isdisjoint(clause) for clause in clauses)


def waits(rule: Rule) -> tuple[Wait, ...]:
    """What wakes each handler of a rule."""
    told: tuple[Wait, ...] | None = getattr(rule, "told_waits", None)
    return _waits(rule.handlers) if told is None else told


@cache
def _waits(handlers: tuple[Handler, ...]) -> tuple[Wait, ...]:
    return tuple((handler.fact is not None, clauses(handler)) for handler in handlers)


@cache
def clauses(handler: Handler) -> tuple[Clause, ...]:
    """What a text must meet to wake a handler: every clause."""
    if handler.fact is None:
        return (_words(knowledge.words, handler.names),)
    return tuple(_words(knowledge.words_needed, names) for names in (handler.fact.names, handler.names) if names)


def _words(words: Callable[[str], frozenset[str]], names: Iterable[str]) -> Clause:
    return frozenset(word for name in names for word in words(name))
