"""One file repaired: the fixes that the configuration allows, applied to a fixpoint and written at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from tfmemlint.finding import Finding, Safety

if TYPE_CHECKING:
    from tfmemlint.lint.baseline import Baseline
    from tfmemlint.lint.engine import FileResult
    from tfmemlint.lint.linter import Linter
    from tfmemlint.text.source import Source

_MAX_WRITES = 10


@dataclass(frozen=True, slots=True)
class Gate:
    """Which findings count: those that no baseline accepts and, with `diff_base`, that stand in changed lines."""

    baseline: Baseline | None = None
    diff_base: str | None = None

    def known(self, result: FileResult) -> FileResult:
        """The result without findings that the baseline accepts."""
        if self.baseline is None or not result.findings:
            return result
        return self.baseline.filter([result]).results[0]

    def changed(self, result: FileResult) -> FileResult:
        """The result with findings in changed lines only. What is asked is the file as it is on disk."""
        if self.diff_base is None or not result.findings:
            return result
        from tfmemlint.lint.changed_lines import keep_changed

        return keep_changed([result], self.diff_base)[0]


@dataclass(frozen=True, slots=True)
class Repaired:
    """A file's bytes after its repairs, all that is left to find in it, and what became of the fixes."""

    data: bytes
    result: FileResult
    before: FileResult
    """What was found before the repairs."""
    applied: tuple[Finding, ...] = ()
    failed: tuple[Finding, ...] = ()
    """A TFM000 for each fix that did not do what it says and was taken back."""
    notes: tuple[str, ...] = ()
    """One line for each fix that the file could not take, and for what could not be kept of the file."""


@dataclass(frozen=True, slots=True)
class _View:
    """What the fixing sees of a result: its findings without those that are accepted, and all failures, whether the
    configuration wants them told or not: no fix may add one."""

    source: Source | None
    findings: tuple[Finding, ...]
    result: FileResult


def is_applicable(finding: Finding, *, unsafe: bool) -> bool:
    """Whether `--fix` applies the finding's fix."""
    if finding.fix is None:
        return False
    return finding.fix.safety is Safety.SAFE or (unsafe and finding.fix.safety is Safety.UNSAFE)


Chooser = Callable[[Sequence[Finding]], Sequence[Finding]]
"""Which fixes of the findings that are left the next round applies."""


def repair(data: bytes, path: str, linter: Linter, gate: Gate, choose: Chooser | None = None) -> Repaired:
    """The file's bytes after all fixes that its configuration and the gate let through, or those that `choose` does;
    nothing is written."""
    from tfmemlint.fix.apply import fix_bytes

    def lint(text: bytes) -> _View:
        result = linter.lint(text, path)
        told = gate.known(result).findings
        return _View(result.source, tuple(dict.fromkeys((*told, *result.failures))), result)

    first = lint(data)
    if choose is None:
        if not any(is_applicable(finding, unsafe=linter.config.unsafe_fixes) for finding in first.findings):
            return Repaired(data, first.result, first.result)
        choose = _chooser(first, linter, gate)
    done = fix_bytes(data, lint, choose, first)
    notes = tuple(f"{path}: the fix of {each.finding.code} was left out: {each.reason}" for each in done.refused)
    return Repaired(done.data, done.linted.result, first.result, done.applied, done.failed, notes)


def _chooser(first: _View, linter: Linter, gate: Gate) -> Chooser:
    from tfmemlint.fix.select import select_fixes

    unsafe = linter.config.unsafe_fixes
    if gate.diff_base is None:
        return lambda findings: select_fixes(findings, unsafe=unsafe)
    # Rows of the changed text are not those that git speaks of: one round, then the file is written and asked again.
    rounds = [gate.changed(replace(first.result, findings=first.findings)).findings]

    def once(findings: Sequence[Finding]) -> Sequence[Finding]:
        wanted = rounds.pop() if rounds else ()
        return select_fixes([finding for finding in findings if finding in wanted], unsafe=unsafe)

    return once


def repair_file(data: bytes, path: str, linter: Linter, gate: Gate) -> Repaired:
    """Repair a file that holds `data` and write it. Raises OSError when it cannot be written, and it is as it was."""
    from tfmemlint.fix.write import write_atomically

    done = repair(data, path, linter, gate)
    before, applied, failed, remark = done.before, done.applied, done.failed, ""
    for _ in range(_MAX_WRITES):
        if done.data == data:
            break
        remark = write_atomically(path, data, done.data) or remark
        data = done.data
        if gate.diff_base is None:
            break
        done = repair(data, path, linter, gate)
        applied, failed = (*applied, *done.applied), done.failed
    notes = (*done.notes, f"{path}: {remark}") if remark else done.notes
    return replace(done, data=data, before=before, applied=applied, failed=failed, notes=notes)
