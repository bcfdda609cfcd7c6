"""From a finding to the pair of programs that show what it costs: never a guess, a reason where there is none."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

import libcst as cst

from tfmemlint.finding import Edit, Finding, Safety, Severity, Span
from tfmemlint.model.file import File
from tfmemlint.model.values import Array, Const, Value
from tfmemlint.syntax.scopes import parameters
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.evidence import Sample
from tfmemlint.verify.judge import Claim
from tfmemlint.verify.plan.examples import Example
from tfmemlint.verify.plan.programs import Assembly, PlanError, merged, program_text
from tfmemlint.verify.plan.slicing import LOOPS, Slice, Unit
from tfmemlint.verify.plan.statements import is_setting, owner
from tfmemlint.verify.plan.templates import Plan, of_sample
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.measure import Program

DEEPEST = 5
OWN_METRICS = ("seconds", "traces", "growth_dropped")
CONSUMERS = ("fit", "evaluate", "predict")
WORD = re.compile(r"[^\W\d]\w*")


def plan(finding: Finding, file: File, sample: Sample | None, examples: Mapping[str, Example]) -> Plan:
    """The programs for one finding. `sample` is the measured sample of its rule, where there is one.

    Raises PlanError with the reason where no programs can be made.
    """
    if sample is None and finding.severity is Severity.INFO:
        raise PlanError("the rule is advice that promises no memory, so there is nothing to measure")
    if finding.fix is None:
        return of_sample(finding, sample)
    claim = _claim(sample)
    cards = sample.pair.before.simulated_gpus if sample is not None and _is_own(claim) else 0
    planner = _Planner(finding, file, dict(examples), claim)
    before, after = planner.sources()
    path = os.path.abspath(file.source.path)
    roots, package = _import_path(path)
    program = Program(before, cards, roots, os.path.dirname(path), package, True)
    notes = planner.replaced
    if finding.fix.safety is Safety.DISPLAY:
        notes.append("the repair is one that is only shown, never applied")
    return Plan(Pair(program, replace(program, source=after), tuple(dict.fromkeys(notes))), claim)


def _is_own(claim: Claim) -> bool:
    return claim.error is not None or claim.output is not None or claim.metric is not None


def _claim(sample: Sample | None) -> Claim:
    """What to look at in the user's own code: an error or a count where the rule speaks of one, else all of memory."""
    if sample is None:
        return Claim()
    claim = sample.claim
    if claim.error is not None or claim.output is not None or claim.metric in OWN_METRICS:
        return replace(claim, min_ratio=min(claim.min_ratio, Claim.min_ratio))
    return Claim()


def _import_path(path: str) -> tuple[tuple[str, ...], str]:
    """Folders for `sys.path` and the package, so that the file's own imports work from a program elsewhere."""
    folder = os.path.dirname(path)
    names: list[str] = []
    top = folder
    while os.path.exists(os.path.join(top, "__init__.py")) and os.path.dirname(top) != top:
        names.append(os.path.basename(top))
        top = os.path.dirname(top)
    return tuple(dict.fromkeys((folder, top))), ".".join(reversed(names))


class _Planner:
    """Makes the two sources for one finding."""

    def __init__(self, finding: Finding, file: File, examples: dict[str, Example], claim: Claim) -> None:
        self.finding, self.file, self.examples, self.claim = finding, file, examples, claim
        self.text = file.source.text
        self.replaced: list[str] = []
        units = (*file.tree.of(cst.SimpleStatementLine), *_compound(file))
        self._units: list[tuple[Span, Node]] = [(file.span(unit), unit) for unit in units]

    def sources(self) -> tuple[str, str]:
        """The program with the flagged code and the one with the repaired code. Raises PlanError."""
        fix = self.finding.fix
        assert fix is not None
        flagged = self._statement(self.finding.span)
        if flagged is None:
            raise PlanError("the finding stands in no statement")
        wanted = [flagged, *self._others()]
        targets, sliced, tail = list(wanted), [], []
        for node in wanted:
            calls, functions, lines = self._reach(node)
            targets += calls
            sliced += functions
            tail += lines
        kept = Slice(self.file, sliced)
        kept.data_only = self.claim.error is None and any(map(kept.is_data, kept.made_by(flagged)))
        for node in targets:
            kept.target(node)
        if self.claim.error is None and is_setting(self.file, flagged):
            kept.target_rest(flagged)
        for word in {word for edit in fix.edits for word in WORD.findall(edit.content)}:
            kept.name(word)
        kept.close()
        around = next((above for above in self.file.tree.ancestors(flagged) if isinstance(above, LOOPS)), None)
        assembly = Assembly(self.file, kept, self.examples, around)
        tail = list(dict.fromkeys(tail))
        for unit, line in self._consumers(kept):
            if isinstance(self.file.scope_of(unit), cst.Module):
                tail.append(line)
            else:
                assembly.insert_after(unit, line)
        if self.claim.error is not None or self.claim.metric == "growth_dropped":
            tail.append("tfmemlint_initialise()")
        base = assembly.edits(tail)
        self.replaced += assembly.replaced
        before = program_text(self.text, base)
        after = program_text(self.text, merged(base, fix.edits))
        if before == after:
            raise PlanError("the repair changes nothing in the programs")
        return before, after

    # -- places ------------------------------------------------------------------------------------------------------

    def _statement(self, span: Span) -> Node | None:
        around = [(inner, unit) for inner, unit in self._units if inner.start <= span.start <= inner.end]
        return min(around, key=lambda pair: pair[0].end - pair[0].start)[1] if around else None

    def _others(self) -> list[Node]:
        """The statements of related places and of the repair's edits."""
        fix = self.finding.fix
        found: dict[int, Node] = {}
        for related in self.finding.related:
            if related.elsewhere is not None:
                continue
            unit = self._statement(related.span)
            if unit is not None:
                found[id(unit)] = unit
        for edit in fix.edits if fix is not None else ():
            for span, unit in self._units:
                inside = span.start < edit.start < span.end if edit.start == edit.end else _overlap(span, edit)
                if inside and (isinstance(unit, cst.SimpleStatementLine) or self._in_header(unit, edit.start)):
                    found[id(unit)] = unit
        return list(found.values())

    def _in_header(self, unit: Node, offset: int) -> bool:
        body = getattr(unit, "body", None)
        if not isinstance(body, cst.IndentedBlock):
            return True
        return offset < self.file.span(body.body[0]).start

    # -- how the place is reached ------------------------------------------------------------------------------------

    def _reach(self, node: Node, depth: int = 0) -> tuple[list[Node], list[cst.FunctionDef], list[str]]:
        """What makes the program come to a node: calls to keep, functions to slice, lines to add. Raises PlanError."""
        function = owner(self.file, node)
        if not isinstance(function, cst.FunctionDef):
            return [], [], []
        sliced = [function] if isinstance(self.file.scope_of(function), cst.Module) else []
        if node is function:
            sliced = []
        for call in self.file.call_graph.callers(function) or ():
            if depth >= DEEPEST or owner(self.file, call.node) is function:
                continue
            try:
                calls, functions, lines = self._reach(call.node, depth + 1)
            except PlanError:
                continue
            return [call.node, *calls], [*sliced, *functions], lines
        return [function], [], [self._call(function)]

    def _call(self, function: cst.FunctionDef) -> str:
        """A line that calls a function which the file itself does not call, with what is known of its parameters."""
        scope = self.file.scope_of(function)
        if isinstance(scope, cst.Module):
            return f"tfmemlint_consume({function.name.value}({self._arguments(function, False)}))"
        if not isinstance(scope, cst.ClassDef) or not isinstance(self.file.scope_of(scope), cst.Module):
            raise PlanError(
                f"nothing in the file calls {function.name.value}, which is defined inside another function"
            )
        make = next((each for each in scope.body.body if _is_function(each, "__init__")), None)
        made = f"{scope.name.value}({self._arguments(make, True) if isinstance(make, cst.FunctionDef) else ''})"
        name = function.name.value
        if name == "__init__":
            return f"tfmemlint_consume({made})"
        given = self._arguments(function, True)
        called = made if name in ("call", "__call__") else f"{made}.{name}"
        return f"tfmemlint_consume({called}({given}))"

    def _arguments(self, function: cst.FunctionDef, method: bool) -> str:
        given: list[str] = []
        for number, parameter in enumerate(parameters(function)):
            if (method and number == 0) or parameter.star in ("*", "**"):
                continue
            code = self._known(parameter, function)
            if code is not None:
                given.append(f"{parameter.name.value}={code}")
            elif parameter.default is None:
                name = parameter.name.value
                raise PlanError(
                    f"parameter {name} of {function.name.value} is not known; say what it is in a comment: "
                    f"# tfmemlint: example {name}=float32[32,224,224,3]"
                )
        return ", ".join(given)

    def _known(self, parameter: cst.Param, function: cst.FunctionDef) -> str | None:
        name = parameter.name.value
        if name in self.examples:
            self.replaced.append(f"{self.examples[name].words} is given to {function.name.value}")
            return self.examples[name].code
        if parameter.default is not None:
            return None
        return _code(self.file.values.functions.parameter(parameter, function, None))

    # -- what shows the cost -----------------------------------------------------------------------------------------

    def _consumers(self, kept: Slice) -> list[tuple[Node, str]]:
        """Lines that iterate the data sets which the kept code builds and does not use, each with who builds it."""
        lines: dict[str, Node] = {}
        for unit in list(kept.targets.values()):
            for definition in kept.made_by(unit):
                if not kept.is_data(definition) or not definition.name.isidentifier():
                    continue
                if not any(self._goes_on(use, kept) for use in self.file.uses_of(definition)):
                    lines[f"tfmemlint_consume({definition.name})"] = unit
        return [(unit, line) for line, unit in lines.items()]

    def _goes_on(self, use: Node, kept: Slice) -> bool:
        """Whether kept code iterates a data set here, returns it or makes another one of it."""
        unit = kept.unit(use)
        if unit is None or id(unit) not in kept.kept:
            return False
        if any(kept.is_data(definition) for definition in kept.made_by(unit)):
            return True
        for above in self.file.tree.ancestors(use):
            if isinstance(above, (cst.For, cst.CompFor, cst.Return)):
                return True
            if (
                isinstance(above, cst.Call)
                and isinstance(above.func, cst.Attribute)
                and above.func.attr.value in CONSUMERS
            ):
                return True
            if isinstance(above, Unit):
                return False
        return False


def _compound(file: File) -> Sequence[Node]:
    kinds = (cst.If, cst.For, cst.While, cst.With, cst.Try, cst.TryStar, cst.FunctionDef, cst.ClassDef, cst.Match)
    return [node for kind in kinds for node in file.tree.of(kind)]


def _overlap(span: Span, edit: Edit) -> bool:
    return span.start < edit.end and edit.start < span.end


def _is_function(node: Node, name: str) -> bool:
    return isinstance(node, cst.FunctionDef) and node.name.value == name


def _code(value: Value) -> str | None:
    """Python code for a value that is known well enough, else None."""
    if isinstance(value, Const) and isinstance(value.value, (int, float, str, bool, type(None))):
        return repr(value.value)
    if isinstance(value, Array) and value.dtype is not None and value.shape is not None and None not in value.shape:
        return f'tfmemlint_array("{value.dtype}", {tuple(value.shape)})'
    return None
