"""From a finding to the pair of programs that show what it costs: never a guess, a reason where there is none."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import libcst as cst

from tfmemlint.finding import Finding, Safety, Severity
from tfmemlint.model.file import File
from tfmemlint.query.keras.versions import keras_2
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.evidence import Sample
from tfmemlint.verify.judge import Claim, too_small
from tfmemlint.verify.metrics import CALLED, FIRST, SETTINGS
from tfmemlint.verify.plan import called, device_settings
from tfmemlint.verify.plan.across import Slices
from tfmemlint.verify.plan.alone import Alone
from tfmemlint.verify.plan.claims import by_the_message, claim_of, has_contrast, is_of_settings, is_own
from tfmemlint.verify.plan.composing import Composer, Texts
from tfmemlint.verify.plan.examples import Example, ExampleError, read_examples
from tfmemlint.verify.plan.import_path import dots_in, import_path
from tfmemlint.verify.plan.made_up import in_place_of
from tfmemlint.verify.plan.places import Places
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.slicing import LOOPS, Home
from tfmemlint.verify.plan.solving import FULL, SMALL, Solver
from tfmemlint.verify.plan.statements import is_setting
from tfmemlint.verify.plan.templates import Plan, of_sample
from tfmemlint.verify.plan.uses import (
    consumers,
    free_loops,
    is_data,
    made_by,
    rounds,
    shows_in_training,
    trained,
    trial,
)
from tfmemlint.verify.plan.ways import Way, Ways
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.measure import Program
from tfmemlint.verify.run.runs import Run

MOST_MADE_UP = 5
"""Statements that raised whose values are made up."""

MOST_LEFT_OUT = 12
"""Statements that raised which a program about device settings can do without."""

WORD = re.compile(r"[^\W\d]\w*")


def plan(
    finding: Finding, file: File, sample: Sample | None, examples: Mapping[str, Example], samples_too: bool = False
) -> Plan:
    """The programs for one finding. `sample` is the measured sample of its rule, where there is one; with `samples_too`
    it is run where there is nothing of the user's code to compare.

    Raises PlanError with the reason where no programs can be made.
    """
    if sample is None and finding.severity is Severity.INFO:
        raise PlanError("the rule is advice that promises no memory, so there is nothing to measure")
    claim = claim_of(finding, sample)
    if not finding.compared and not claim.growth and finding.shows is None:
        return of_sample(finding, sample, samples_too)
    if not finding.compared:
        claim = replace(claim, by_itself=True)
    small = too_small(finding.bytes, finding.bytes_exact, claim)
    if small is not None:
        raise PlanError(small.reason, small.kind)
    cards = sample.pair.before.simulated_gpus if sample is not None and is_own(claim) else 0
    cards = device_settings.cards(claim) if is_of_settings(finding) else cards
    return _Planner(finding, file, dict(examples), claim).plan(cards)


def plan_alone(finding: Finding, file: File, sample: Sample | None, examples: Mapping[str, Example]) -> Plan:
    """The programs that hold the flagged statements and no others. Raises PlanError where they show nothing alone."""
    claim = claim_of(finding, sample)
    if claim.metric in CALLED:
        claim = replace(claim, by_itself=True, made_up=True)
        return _called(lambda: _Planner(finding, file, dict(examples), claim, direct=True), called.RANKS)
    trains = not is_own(claim) and shows_in_training(finding, file, claim.growth)
    if (claim.growth and not trains) or is_own(claim):
        raise PlanError("what is claimed does not show in the flagged statements alone")
    if not finding.compared:
        claim = replace(claim, by_itself=True) if claim.growth else by_the_message(finding)

    if trains:
        try:
            return _Planner(finding, file, dict(examples), claim, trains=True).plan(0)
        except PlanError:
            if claim.growth:
                raise  # else the layer may be part of no model, and be used alone

    def sized(target: int) -> Plan:
        alone = Alone(finding, file, _Examples(file, dict(examples)), solver := Solver(file, target))
        made = _plan(finding, alone.texts(), alone.slices, alone.replaced, claim, 0)
        if (solver.used or alone.cut) and claim.expected is not None:
            raise PlanError("the bytes of the message are not those of made-up operands")
        if target != FULL and not solver.used:
            raise PlanError("no size was made up that could be smaller")
        scaled = (solver.used or alone.guessed) and target == FULL
        return replace(made, alone=True, smaller=(lambda: sized(SMALL)) if scaled else None)

    return sized(FULL)


def _called(planner: Callable[[], _Planner], ranks: Sequence[int | None]) -> Plan:
    """The plan that calls the flagged function by itself, with the first of these ranks of what is made up for which
    there is one. Raises PlanError."""
    try:
        made = planner().plan(0, SMALL, ranks[0])
    except PlanError:
        if len(ranks) == 1:
            raise
        return _called(planner, ranks[1:])

    def again(run: Run) -> Plan | None:
        return _called(planner, ranks[1:]) if ranks[1:] else None

    return replace(made, alone=True, again=again, smaller=None, words=called.WORDS)


def _plan(
    finding: Finding, texts: tuple[Texts, Texts | None], slices: Slices, notes: list[str], claim: Claim, cards: int
) -> Plan:
    before, after = texts
    program = replace(_program(slices, before, cards), raised=claim.error is not None)
    if finding.shows is not None and finding.shows.started:
        program = replace(program, source=device_settings.begun(program.source))
        notes.append(device_settings.STARTED)
    asks_for_cards = "list_physical_devices" in before.source and not program.simulated_gpus
    if asks_for_cards:
        program = replace(program, simulated_gpus=1)
    if finding.fix is not None and finding.fix.safety is Safety.DISPLAY:
        notes.append("the repair is one that is only shown, never applied")
    if has_contrast(finding):
        notes.append("there is no repair to apply: compared with the same code without what is flagged")
    repaired = None if after is None else replace(program, source=after.source, modules=after.modules)
    return Plan(Pair(program, repaired, tuple(dict.fromkeys(notes))), claim)


def _program(slices: Slices, texts: Texts, cards: int) -> Program:
    path = slices.path(slices.entry)
    root = slices.siblings.layout.root if slices.siblings is not None and texts.modules else None
    folders, package = import_path(path, root, dots_in(slices.entry))
    file = slices.file
    return Program(
        texts.source,
        cards,
        folders,
        os.path.dirname(path),
        package,
        substitute=True,
        root=root or "",
        version_1=file.before_version_2,
        keras_2=keras_2(file),
        file=path,
        modules=texts.modules,
    )


class _Examples:
    """The examples in the comments of each module."""

    def __init__(self, file: File, examples: dict[str, Example]) -> None:
        self._known: dict[int, dict[str, Example]] = {id(file): examples}

    def __call__(self, home: Home) -> dict[str, Example]:
        """Those of one module. Raises PlanError for those that cannot be read."""
        found = self._known.get(id(home))
        if found is None:
            try:
                found = self._known[id(home)] = read_examples(home.source)
            except ExampleError as error:
                raise PlanError(str(error)) from error
        return found


class _Planner:
    """Makes the two sources for one finding."""

    def __init__(
        self,
        finding: Finding,
        file: File,
        examples: dict[str, Example],
        claim: Claim,
        trains: bool = False,
        direct: bool = False,
    ) -> None:
        """With `trains` the program makes the model that the flagged layer is a part of, and trains it on made-up
        data in place of what the user's code does with it; with `direct` the flagged function is called by itself, and
        not by who calls it."""
        self.finding, self.file, self.claim, self.trains, self._direct = finding, file, claim, trains, direct
        self._settings = is_of_settings(finding)
        self.replaced: list[str] = []
        self.slices = Slices(file, file)
        self._examples = _Examples(file, examples)
        self._places = Places(file)
        self._made: dict[int, tuple[Node, str]] = {}
        self._solver = Solver(file)
        self._rank: int | None = None
        self._guessed = ""

    def plan(self, cards: int, target: int = FULL, rank: int | None = None) -> Plan:
        """The plan, which can be made again with data in place of what raised. Parameters that nobody passes are made
        up for `target` bytes; for a function that is called by itself of their names, with this `rank`. Raises
        PlanError."""
        self.replaced, self._solver, self._rank, self._guessed = [], Solver(self.file, target), rank, ""
        made = _plan(self.finding, self.texts(), self.slices, self.replaced, self.claim, cards)

        def again(run: Run) -> Plan | None:
            return self.plan(cards, target) if self._make_up(made.pair.before.source, run) else None

        scaled = self._solver.used and target == FULL
        smaller = (lambda: self.plan(cards, SMALL)) if scaled else None
        guessed, claimed = self._guessed, self.finding.bytes
        return replace(made, alone=self.trains, again=again, smaller=smaller, guessed=guessed, claimed=claimed)

    def _make_up(self, source: str, run: Run) -> bool:
        """Have data made up in place of the statement that raised, if it is known what it gives; whether it is."""
        most = MOST_LEFT_OUT if self._settings else MOST_MADE_UP
        if run.error is None or len(self._made) >= most:
            return False
        lines = source.split("\n")
        raised = [lines[row - 1].strip() for row in reversed(run.error.lines) if 0 < row <= len(lines)]
        part = self.slices.at(self.slices.entry)
        for text in raised:
            for unit in part.kept.values():
                if id(unit) not in self._made and text and text == _first_line(part.file, unit):
                    found = in_place_of(part.file, unit)
                    if found is None and self._settings and unit is not self._places.statement(self.finding.span):
                        found = self._left_out(unit)
                    if found is not None:
                        self._made[id(unit)] = found
                        return True
        return False

    def _left_out(self, statement: Node) -> tuple[Node, str] | None:
        """What stands for a statement of a program about settings that raised, None for one that it cannot do without:
        an import, where one starts TensorFlow."""
        flagged = self._places.statement(self.finding.span)
        starter = device_settings.starter(self.file, flagged) if flagged is not None else None
        imports = isinstance(statement, cst.SimpleStatementLine) and isinstance(
            statement.body[0], (cst.Import, cst.ImportFrom)
        )
        if imports and starter is not None and not self.file.is_own(starter.node):
            return None
        return device_settings.left_out(statement)

    def texts(self) -> tuple[Texts, Texts | None]:
        """The program with the flagged code and the one with the repaired code, None where there is no repair. Raises
        PlanError."""
        flagged = self._places.statement(self.finding.span)
        if flagged is None:
            raise PlanError("the finding stands in no statement")
        ways = Ways(self.file, self._examples, self._solver, flagged)
        own = ways.called(flagged, self.claim.metric == "held", self._rank) if self._direct else ways.to(flagged)
        if self.claim.metric in CALLED and own.lines and not self._direct:
            raise PlanError("nothing in the file calls the flagged function")
        others = self._places.others(self.finding)
        if self._settings:
            others = list(dict.fromkeys((*others, *self._of_settings(flagged))))
        found = [own, *(way for node in others if (way := self._way(ways, node, own)) is not None)]
        self.slices = self._grown(flagged, others, found)
        inner = (flagged, *reversed(own.calls))
        loops = list(free_loops(self.slices, inner)) if self.trains else []
        if loops:
            self._made |= {id(loop): (loop.iter, rounds(loop)) for loop in loops}
            self.slices = self._grown(flagged, others, found)
        around = next((a for node in inner for a in self.file.tree.ancestors(node) if isinstance(a, LOOPS)), None)
        composer = Composer(self.slices, self._examples, around)
        lines = [line for way in found for line in way.lines]
        trials = [trial(line) for line in own.lines] if self.trains and self.claim.growth else []
        composer.add(list(dict.fromkeys(trials or lines)))
        if trials:
            self.replaced.append("the function that makes the models is called again and again, as a search does")
        ends = trained(self.slices, self.claim.growth) if self.trains else consumers(self.slices)
        if self.trains and not ends and not trials:
            raise PlanError("no model is seen that the flagged layer is a part of")
        for unit, line in () if self._settings else ends:
            scope = self.file.scope_of(unit)
            if isinstance(scope, cst.Module) and not self.trains:
                composer.add([line], self.slices.of(unit).home)
            else:
                composer.insert_after(unit, line)
        if self.claim.metric == "held":
            composer.insert_after(flagged, called.kept_at(self.file, flagged))
        elif self._settings or self.claim.metric in CALLED:
            composer.insert_before(device_settings.head(self.file, flagged), called.REACHED)
        if self.claim.error is not None or self.claim.metric in SETTINGS:
            composer.add([device_settings.STARTS])
        edits = self.finding.compared
        texts = composer.texts(self.file, edits) if edits else (composer.text(), None)
        self.replaced += [*ways.replaced, *composer.notes()]
        self._guessed = ways.guessed
        return texts

    def _of_settings(self, flagged: Node) -> Iterator[Node]:
        """The statements beside the flagged one that count for what is set: those that set variables of the cards, the
        handlers around it, and what starts TensorFlow before, in place of which an operation is run."""
        yield from device_settings.settings_before(self.file, flagged)
        yield from device_settings.handlers(self.file, flagged)
        starter = device_settings.starter(self.file, flagged)
        if starter is None:
            return
        if not starter.certain and self.claim.metric in FIRST:
            raise PlanError("whether TensorFlow has been started before is not known")
        if not self.file.is_own(starter.node):
            return  # a module that starts it as it is imported runs as it is
        unit = self.file.tree.statement(starter.node)
        made = device_settings.started(self.file, starter.node)
        if made is not None and unit is not flagged:
            self._made[id(made[0])] = made[1]
        yield unit

    def _way(self, ways: Ways, node: Node, own: Way) -> Way | None:
        """The way to a statement beside the flagged one in the program that comes to that one; None where that does not
        come there. Raises PlanError where a statement of the flagged file itself cannot be reached."""
        try:
            way = ways.to(node)
        except PlanError:
            if self.file.is_own(node):
                raise
            return None
        return way if way.entry is own.entry else None

    def _grown(self, flagged: Node, others: Sequence[Node], ways: Sequence[Way]) -> Slices:
        """The slices with all that the flagged statement and the others need."""
        slices = Slices(self.file, ways[0].entry, [function for way in ways for function in way.functions])
        slices.made, slices.models_only, slices.settings_only = self._made, self.trains, self._settings
        slices.to_the_end = self.trains or any(way.lines for way in ways)
        starter = device_settings.starter(self.file, flagged) if self._settings else None
        if starter is not None and not self.file.is_own(starter.node):
            slices.of(starter.node).keep_all()
        kept = slices.of(flagged)
        slices.data_only = self.claim.error is None and any(is_data(self.file, each) for each in made_by(kept, flagged))
        if self.trains:
            others = [node for node in others if slices.of(node).runnable.runs(node)]
        for node in (flagged, *others, *(call for way in ways for call in way.calls)):
            slices.of(node).target(node)
        if self.claim.error is None and is_setting(self.file, flagged) and not self._settings:
            kept.target_rest(flagged)
        for word in sorted({word for edit in self.finding.compared for word in WORD.findall(edit.content)}):
            kept.name(word)
        slices.close()
        return slices


def _first_line(file: File, unit: Node) -> str:
    return file.text(unit).partition("\n")[0].strip()
