"""The programs around one finding: the flagged code with all that it needs, before and after the repair."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import libcst as cst

from tfmemlint.finding import Finding
from tfmemlint.model.file import File
from tfmemlint.syntax.tree import Node
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.metrics import AT_ONCE, CALLED, FIRST, LOOKED_AT, MADE, SETTINGS, STEPS, TRACED
from tfmemlint.verify.plan import called, device_settings, left_out
from tfmemlint.verify.plan.across import Slices
from tfmemlint.verify.plan.claims import is_of_settings
from tfmemlint.verify.plan.composing import Composer, Texts
from tfmemlint.verify.plan.examples import Example
from tfmemlint.verify.plan.made_up import counts_unknown, in_place_of
from tfmemlint.verify.plan.misfits import Made, misfit
from tfmemlint.verify.plan.pairs import ExamplesOf, paired
from tfmemlint.verify.plan.places import Places
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.solving import FULL, NEXT, Solver
from tfmemlint.verify.plan.statements import is_setting
from tfmemlint.verify.plan.templates import Plan, other_ranks
from tfmemlint.verify.plan.unset import Unset, unset
from tfmemlint.verify.plan.up_to import STOPPED, last_of, loop_around, shows_there, stop
from tfmemlint.verify.plan.uses import consumers, free_loops, is_data, made_by, rounds, timed, trained, trial
from tfmemlint.verify.plan.ways import Way, Ways
from tfmemlint.verify.plan.wrapping import CONSUME, LOOK, put_around
from tfmemlint.verify.run.runs import Run

MOST_MADE_UP = 5
"""Statements that raised whose values are made up."""

MOST_LEFT_OUT = 12
"""Statements that raised which a program about device settings can do without."""

WORD = re.compile(r"[^\W\d]\w*")


class Planner:
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
        self._examples = ExamplesOf(file, examples)
        self._places = Places(file)
        self._made: dict[int, tuple[Node, str]] = {}
        self._solver = Solver(file)
        self._rank: int | None = None
        self._skipped = 0
        self._unset: list[Unset] = []
        self._made_up: dict[int, Made] = {}
        self._kinds: dict[int, str] = {}
        self._left: list[left_out.LeftOut] = []
        self._held: list[Node] = []
        self._guessed = self._uncounted = ""
        self._stop: Node | None = None
        """Behind which statement the program ends, where what follows raises."""

    def plan(self, cards: int, target: int = FULL, rank: int | None = None) -> Plan:
        """The plan, which can be made again with data in place of what raised. Parameters that nobody passes are made
        up for `target` bytes; for a function that is called by itself of their names, with this `rank`. Raises
        PlanError."""
        self.replaced, self._solver, self._rank, self._guessed = [], Solver(self.file, target), rank, ""
        self._solver.skipped = self._skipped
        made = paired(self.finding, self.texts(), self.slices, self.replaced, self.claim, cards)

        def again(run: Run) -> Plan | None:
            if self._make_up(made.pair.before.source, run):
                return self.plan(cards, target, rank)
            return other_ranks(made, run, self._skipped, next_ranks) if self._solver.used else None

        def without(run: Run) -> Plan | None:
            if self._stop is None and run.error is not None and made.pair.after is not None and shows_there(self.claim):
                self._stop = last_of(self.file, self._held, self.finding)
            if self._stop is not None and not self._left and STOPPED not in self.replaced:
                return self.plan(cards, target, rank)
            found = left_out.further(self.slices, run, self._held, self._left) if self.claim.error is None else []
            self._left += found
            return self.plan(cards, target, rank) if found and not self._settings else None

        def next_ranks() -> Plan:
            self._skipped += 1
            return self.plan(cards, target, rank)

        less = NEXT.get(target) if self._solver.used else None
        smaller = (lambda: self.plan(cards, less)) if less is not None else None
        guessed, claimed = self._guessed, self.finding.bytes
        alone = self.trains and self.claim.metric not in MADE
        made = replace(made, alone=alone, again=again, without=without, smaller=smaller)
        return replace(made, guessed=guessed, claimed=claimed)

    def _make_up(self, source: str, run: Run) -> bool:
        """Have data made up in place of the statement that raised, if it is known what it gives; whether it is."""
        most = MOST_LEFT_OUT if self._settings else MOST_MADE_UP
        if run.error is None or len(self._made) + len(self._unset) + len(self._kinds) >= most:
            return False
        missing = unset(self.slices, run)
        if missing is not None and missing not in self._unset:
            self._unset.append(missing)
            return True
        lines = source.split("\n")
        raised = [lines[row - 1].strip() for row in reversed(run.error.lines) if 0 < row <= len(lines)]
        part = self.slices.at(self.slices.entry)
        for text in raised:
            for unit in part.kept.values():
                if id(unit) not in self._made and text and text == _first_line(part.file, unit):
                    found = in_place_of(part.file, unit)
                    free = self._settings or is_setting(part.file, unit)
                    if found is None and free and unit is not self._places.statement(self.finding.span):
                        found = self._left_out(unit)
                    if found is not None:
                        self._uncounted = self._uncounted or counts_unknown(part.file, unit)
                        self._made[id(unit)] = found
                        return True
        unlike = ((key, made) for key, made in self._made_up.items() if key not in self._kinds)
        wrong = misfit(run.error, raised[::-1], unlike)
        if wrong is not None:
            self._kinds[wrong[0]] = wrong[1]
        return wrong is not None

    def _left_out(self, statement: Node) -> tuple[Node, str] | None:
        """What stands for a statement of a program about settings that raised, None for one that it cannot do without:
        an import, where one starts TensorFlow."""
        flagged = self._places.statement(self.finding.span)
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        if isinstance(small, (cst.Import, cst.ImportFrom)) and self._started_by_import(flagged) is not None:
            return None
        return device_settings.left_out(statement)

    def _started_by_import(self, flagged: Node | None) -> Node | None:
        """What starts TensorFlow before the flagged statement, in another module as that is imported."""
        starter = device_settings.starter(self.file, flagged) if self._settings and flagged is not None else None
        return starter.node if starter is not None and not self.file.is_own(starter.node) else None

    def texts(self) -> tuple[Texts, Texts | None]:
        """The program with the flagged code and the one with the repaired code, None where there is no repair. Raises
        PlanError."""
        flagged = self._places.statement(self.finding.span)
        if flagged is None:
            raise PlanError("the finding stands in no statement")
        others = self._places.others(self.finding)
        near = others if self.claim.growth else ()
        ways = Ways(self.file, self._examples, self._solver, flagged, self._kinds, near)
        self._made_up = ways.made
        own = ways.called(flagged, self.claim.metric in TRACED, self._rank) if self._direct else ways.to(flagged)
        if self.claim.metric in CALLED and own.lines and not self._direct:
            raise PlanError("nothing in the file calls the flagged function")
        if self._settings:
            others = list(dict.fromkeys((*others, *self._of_settings(flagged))))
        looks_alone = self._direct and self.claim.metric in LOOKED_AT
        beside = [] if looks_alone else [self._way(ways, node, own) for node in others]
        found = [own, *(way for way in beside if way is not None)]
        self.slices = self._grown(flagged, others, found)
        inner = (flagged, *reversed(own.calls))
        self._held = [*inner, *others]
        loops = list(free_loops(self.slices, inner)) if self.trains else []
        if loops:
            self._made |= {id(loop): (loop.iter, rounds(loop)) for loop in loops}
            self.slices = self._grown(flagged, others, found)
        counted = loop_around(self.file, inner, others, self.claim.growth)
        composer = Composer(self.slices, self._examples, counted)
        lines = [line for way in found for line in way.lines]
        if looks_alone:
            lines = [line.replace(called.CALLED, called.LOOKED, 1) for line in own.lines]
        trials = [trial(line) for line in own.lines] if self.trains and self.claim.growth else []
        composer.add(list(dict.fromkeys(trials or lines)))
        if trials:
            self.replaced.append("the function that makes the models is called again and again, as a search does")
        ends = self._ends()
        if self.trains and not ends and not trials and self.claim.metric not in MADE:
            raise PlanError("no model is seen that the flagged layer is a part of")
        for unit, line in () if self._settings else ends:
            scope = self.file.scope_of(unit)
            if isinstance(scope, cst.Module) and not self.trains:
                composer.add([line], self.slices.of(unit).home)
            else:
                composer.insert_after(unit, line)
        if counted is not None and self.file.tree.contains(flagged, counted):
            composer.insert_after(flagged, "raise SystemExit(0)")  # the rounds of another time start anew
        put_around(composer, self.finding, self.file, self.claim, flagged)
        if self.claim.metric == "held":
            composer.insert_after(flagged, called.kept_at(self.file, flagged))
        elif self._settings or self.claim.metric in CALLED or self._is_guarded():
            composer.insert_before(device_settings.head(self.file, flagged), called.REACHED)
        if self.claim.error is not None or self.claim.metric in SETTINGS:
            composer.add([device_settings.STARTS])
        if self._stop is not None:
            composer.insert_after(self._stop, stop(self.slices.of(self._stop), self._stop))
        for each in self._unset:
            composer.insert_after(each.statement, each.line)
        for gone in self._left:
            composer.replace(gone.node, gone.code)
        edits = () if self.claim.metric in CALLED and self.claim.expected is not None else self.finding.compared
        texts = composer.texts(self.file, edits) if edits else (composer.text(), None)
        self.replaced += [*ways.replaced, *self._beyond(), *composer.notes()]
        self._guessed = next(filter(None, (ways.guessed, *self._beyond(), self._uncounted)), "")
        return texts

    def _beyond(self) -> list[str]:
        """What was made up or left out after runs that raised."""
        stopped = [STOPPED] if self._stop is not None else []
        return [*stopped, *(each.words for each in self._unset), *(each.words for each in self._left)]

    def _is_guarded(self) -> bool:
        """Whether settings may keep the program from the flagged statement, which it says then."""
        found = bool(left_out.guards(self.slices, self._held, ()))
        self.claim = replace(self.claim, reaches=self.claim.reaches or found)
        return found

    def _ends(self) -> list[tuple[Node, str]]:
        """The lines that do with what the kept code makes what its program would do, or look at it."""
        if self.claim.metric in AT_ONCE:
            return []
        if self.trains:
            lines = trained(self.slices, self.claim.growth)
            return [(unit, timed(line)) for unit, line in lines] if self.claim.metric in STEPS else lines
        if self.claim.metric in LOOKED_AT:
            if self._direct:
                return []
            looks = [(unit, line.replace(CONSUME, LOOK, 1)) for unit, line in consumers(self.slices)]
            flagged = self._places.statement(self.finding.span)
            made = made_by(self.slices.of(flagged), flagged) if flagged is not None else ()
            return [each for each in looks if each[1] in {f"{LOOK}{one.name})" for one in made}] or looks
        return consumers(self.slices)

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
        slices.follows = not (self._direct and self.claim.metric in LOOKED_AT)
        slices.to_the_end = self.trains or any(way.lines for way in ways)
        elsewhere = self._started_by_import(flagged)
        if elsewhere is not None:
            slices.of(elsewhere).keep_all()
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
