"""Rules meet the file: which rules have a word of theirs in it, which handlers a call wakes, what a crash becomes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.model.unittests import expects_error, is_test
from tfmemlint.syntax.spans import PositionsUnknown

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.rule import Rule

WORD = re.compile(r"[A-Za-z_]\w*")


def triggered(rules: Sequence[Rule], text: str) -> tuple[Rule, ...]:
    """The rules of which at least one trigger word stands in the text."""
    words = set(WORD.findall(text))
    return tuple(rule for rule in rules if not words.isdisjoint(_words_of(type(rule))))


_WORDS: dict[type[Rule], frozenset[str]] = {}


def _words_of(rule: type[Rule]) -> frozenset[str]:
    words = _WORDS.get(rule)
    if words is None:
        words = _WORDS[rule] = rule_words(rule)
    return words


def rule_words(rule: type[Rule]) -> frozenset[str]:
    """The words that wake a rule: those of its file handlers, and the last parts of its API names and their aliases."""
    called = {word for _, names in rule.call_handlers for name in names for word in knowledge.words(name)}
    return frozenset(called.union(*(words for _, words in rule.file_handlers)))


def dispatch(file: File, rules: Sequence[Rule]) -> list[Finding]:
    """Findings of all rules on one file, severities as the rules have them.

    Of the findings of one code at one place only the first stands, so that a rule may meet the same cause on several
    ways: whole-file handlers run before call handlers, and these in source order.
    """
    found: dict[tuple[str, Span], Finding] = {}
    crashes: list[Finding] = []
    if not all(rule.in_tests for rule in rules) and is_test(file):
        rules = [rule for rule in rules if rule.in_tests]
    for rule, run in _handlers(file, rules):
        try:
            for finding in run():
                found.setdefault((finding.code, finding.span), finding)
        except PositionsUnknown:  # no fault of the rule, and the same for all of them
            raise
        except Exception as error:  # a crash of one rule must not hide what the others find
            crashes.append(_crash(rule, error))
    return [*found.values(), *crashes]


def _crash(rule: Rule, error: Exception) -> Finding:
    message = f"rule {rule.code} failed on this file ({type(error).__name__}: {error}); other findings stand"
    return Finding("TFM000", "internal-error", Severity.ERROR, message, Span(0, 0))


def _handlers(file: File, rules: Sequence[Rule]) -> Iterator[tuple[Rule, Callable[[], Iterator[Finding]]]]:
    wanted: dict[str, list[tuple[Rule, str]]] = {}
    for rule in rules:
        for handler, _ in rule.file_handlers:
            yield rule, lambda rule=rule, handler=handler: getattr(rule, handler)(file)  # type: ignore[misc]
        for handler, names in rule.call_handlers:
            for name in names:
                wanted.setdefault(name, []).append((rule, handler))
    for node in _candidates(file, tuple(wanted)):
        call = file.call(node)
        awake = {pair for name in call.names for pair in wanted.get(name, ())}
        for rule, handler in sorted(awake, key=lambda pair: (pair[0].code, pair[1])):
            if rule.severity is Severity.ERROR and expects_error(node, file):
                continue
            yield rule, lambda rule=rule, handler=handler, call=call: getattr(rule, handler)(call, file)  # type: ignore[misc]


def _candidates(file: File, names: tuple[str, ...]) -> list[cst.Call]:
    words = {word for name in names for word in knowledge.words(name)}
    words |= {other for word in words for other in file.renamed.get(word, ())}
    nodes = [node for word in words for node in file.calls_by_word.get(word, ())]
    return sorted(nodes, key=file.tree.order)
