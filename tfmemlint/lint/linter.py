"""Files linted as one configuration says: which rules run where, and what becomes of their findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from tfmemlint.config.selectors import FAILURES, INTERNAL_ERROR, UNUSED, Known, closest
from tfmemlint.finding import Finding, Safety, Severity
from tfmemlint.fix.takeable import takeable
from tfmemlint.lint import registry
from tfmemlint.text.prefilter import mentions_tensorflow

if TYPE_CHECKING:
    from tfmemlint.config.settings import Config
    from tfmemlint.lint.engine import FileResult
    from tfmemlint.project.projects import Projects
    from tfmemlint.rule import Rule


class Linter:
    """Lints the files that one configuration governs. Rules are loaded when the first file needs them. `projects` keeps
    what is seen of their projects, where these do not change before the last file is linted.

    Raises RegistryError and ConfigError when the rules or the selection cannot be used; `prepare` does so at once.
    """

    def __init__(self, config: Config, rules: Sequence[Rule] | None = None, projects: Projects | None = None) -> None:
        self.config = config
        self._projects = projects
        self._given = rules

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules that the configuration chooses."""
        return registry.select(self._installed, self.config)

    @cached_property
    def _installed(self) -> Sequence[Rule]:
        return registry.installed() if self._given is None else self._given

    @cached_property
    def _known(self) -> dict[str, Known]:
        return {each.code: each for each in registry.all_known(self._installed)}

    @cached_property
    def _codes(self) -> frozenset[str]:
        return registry.selected_codes(self._installed, self.config)

    def prepare(self) -> None:
        """Load the rules and check the selection."""
        _ = self.rules

    def lint(self, data: bytes, path: str) -> FileResult:
        """What the chosen rules find in one file, severities and repairs as configured."""
        from tfmemlint.lint.engine import FileResult, lint

        if not mentions_tensorflow(data):
            return FileResult(path, skipped=True)
        off = registry.ignored_in_file(self._known.values(), self.config, path)
        rules = tuple(rule for rule in self.rules if rule.code not in off)
        result = lint(data, path, self.config, rules, self._projects)
        return self._settled(result, off) if result.findings or result.silenced else result

    def settled(self, result: FileResult) -> FileResult:
        """The result for a file that could not even be opened, as the configuration wants it told."""
        return self._settled(result, registry.ignored_in_file(self._known.values(), self.config, result.path))

    def _settled(self, result: FileResult, off: frozenset[str]) -> FileResult:
        hidden = (off | ((FAILURES | {UNUSED}) - self._codes)) - {INTERNAL_ERROR}
        kept = [self._configured(each) for each in result.findings if each.code not in hidden]
        silenced = tuple(map(self._configured, result.silenced))
        return replace(result, findings=tuple(takeable(result.source, kept)), silenced=silenced)

    def _configured(self, finding: Finding) -> Finding:
        if finding.code == INTERNAL_ERROR:
            return finding
        rule = self._known.get(finding.code) or Known(finding.code, finding.name, True)
        severity = severity_of(rule, self.config)
        if severity is not None:
            finding = finding.with_severity(severity)
        if finding.fix is None:
            return finding
        if not is_fixable(rule, self.config):
            return finding.without_fix()
        safety = safety_of(rule, finding.fix.safety, self.config)
        return replace(finding, fix=replace(finding.fix, safety=safety))


def severity_of(rule: Known, config: Config) -> Severity | None:
    """The severity that the configuration gives a rule, or None where it says nothing."""
    best = closest(config.severity, rule)
    if best < 0:
        return None
    return next(value for selector, value in config.severity.items() if closest((selector,), rule) == best)


def is_fixable(rule: Known, config: Config) -> bool:
    """Whether the configuration allows repairs of a rule; the more specific selector wins, `unfixable` of two alike."""
    allowed = closest((*config.fixable, *config.extend_fixable), rule)
    return allowed > closest(config.unfixable, rule)


def safety_of(rule: Known, safety: Safety, config: Config) -> Safety:
    """The safety of a rule's repair after `extend-safe-fixes` and `extend-unsafe-fixes`; a repair that is only shown
    stays so."""
    if safety is Safety.DISPLAY:
        return safety
    safe, unsafe = closest(config.extend_safe_fixes, rule), closest(config.extend_unsafe_fixes, rule)
    if safe == unsafe == -1:
        return safety
    return Safety.SAFE if safe > unsafe else Safety.UNSAFE
