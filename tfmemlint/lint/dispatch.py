"""Rules meet the file: which handlers its facts and calls wake, and what a crash becomes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import libcst as cst

from tfmemlint import knowledge
from tfmemlint.finding import Finding, Severity, Span
from tfmemlint.model.unittests import expects_error, is_test
from tfmemlint.syntax.first_pass.positions import wants_libcst
from tfmemlint.syntax.spans import PositionsUnknown

if TYPE_CHECKING:
    from tfmemlint.model.file import File
    from tfmemlint.query.facts import Fact
    from tfmemlint.rule import Rule


def dispatch(file: File, rules: Sequence[Rule]) -> list[Finding]:
    """Findings of all rules on one file, severities as the rules have them.

    Of the findings of one code at one place only the first stands, so that a rule may meet the same cause on several
    ways: handlers of facts run before those of calls, and these in source order. Of code that certainly never runs
    nothing is said: no rule needs to ask for that.
    """
    found: dict[tuple[str, Span], Finding] = {}
    crashes: list[Finding] = []
    if not all(rule.in_tests for rule in rules) and is_test(file):
        rules = [rule for rule in rules if rule.in_tests]
    for rule, findings in _runs(file, rules):
        try:
            for finding in _standing(file, rule, findings):
                found.setdefault((finding.code, finding.span), finding)
        except PositionsUnknown:  # no fault of the rule, and the same for all of them
            raise
        except Exception as error:  # a crash of one rule must not hide what the others find
            if wants_libcst(error):
                raise
            crashes.append(_crash(rule, error))
    return [*found.values(), *crashes]


def first_findings(file: File, rules: Sequence[Rule]) -> tuple[list[Finding], list[Rule]]:
    """What rules find on a tree of the first pass, and the rules, in their order, that must run on libcst's tree
    instead: those that have repairs to offer, and those that fail, be it for what the first tree lacks."""
    found: dict[tuple[str, Span], tuple[Rule, Finding]] = {}
    again: set[Rule] = set()
    if not all(rule.in_tests for rule in rules) and is_test(file):
        rules = [rule for rule in rules if rule.in_tests]
    for rule, findings in _runs(file, rules):
        if rule in again:
            continue
        try:
            for finding in _standing(file, rule, findings):
                if finding.fix is not None or finding.contrast:
                    again.add(rule)
                    break
                found.setdefault((finding.code, finding.span), (rule, finding))
        except Exception:  # its failure, if it is one, is told by the other run
            again.add(rule)
    return [each for rule, each in found.values() if rule not in again], [rule for rule in rules if rule in again]


def _standing(file: File, rule: Rule, findings: Iterable[Finding]) -> Iterator[Finding]:
    """Those findings of a rule that are about code of the file which runs."""
    for finding in findings:
        if finding.elsewhere is None and not _never_runs(file, finding) and not _is_expected(file, rule, finding):
            yield finding


def _is_expected(file: File, rule: Rule, finding: Finding) -> bool:
    """Whether a finding is an error that a unit test runs the place to see."""
    return rule.severity is Severity.ERROR and _within(finding, expects_error(file))


def _never_runs(file: File, finding: Finding) -> bool:
    """Whether what a finding points at certainly never runs, whichever rule found it."""
    return _within(finding, map(file.span, file.contexts.unreached.nodes))


def _within(finding: Finding, codes: Iterable[Span]) -> bool:
    return any(code.start <= finding.span.start < code.end for code in codes)


def _crash(rule: Rule, error: Exception) -> Finding:
    message = f"rule {rule.code} failed on this file ({type(error).__name__}: {error}); other findings stand"
    return Finding("TFM000", "internal-error", Severity.ERROR, message, Span(0, 0))


def _runs(file: File, rules: Sequence[Rule]) -> Iterator[tuple[Rule, Iterator[Finding]]]:
    """What each handler finds, not yet run."""
    wanted: dict[str, list[tuple[Rule, str]]] = {}
    for rule in rules:
        for handler in type(rule).handlers:
            if handler.fact is not None:
                yield rule, _on_facts(file, handler.fact, getattr(rule, handler.method))
            else:
                for name in handler.names:
                    wanted.setdefault(name, []).append((rule, handler.method))
    for node in _candidates(file, tuple(wanted)):
        call = file.call(node)
        awake = {pair for name in call.names for pair in wanted.get(name, ())}
        for rule, method in sorted(awake, key=lambda pair: (pair[0].code, pair[1])):
            yield rule, getattr(rule, method)(call, file)


def _on_facts(file: File, fact: Fact[Any], handle: Callable[[Any, File], Iterator[Finding]]) -> Iterator[Finding]:
    for each in fact.of(file):
        yield from handle(each, file)


def _candidates(file: File, names: tuple[str, ...]) -> list[cst.Call]:
    words = {word for name in names for word in knowledge.words(name)}
    words |= {other for word in words for other in file.renamed.get(word, ())}
    nodes = {id(node): node for word in words for node in file.calls_by_word.get(word, ())}  # one may have two words
    return sorted(nodes.values(), key=file.tree.order)
