"""From a finding to the pair of programs that show what it costs: never a guess, a reason where there is none."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import libcst as cst

from tfmemlint.finding import Finding, Severity
from tfmemlint.model.file import File
from tfmemlint.syntax.scopes import own_nodes
from tfmemlint.verify.claim import too_small
from tfmemlint.verify.evidence import Sample
from tfmemlint.verify.metrics import CALLED, LOOKED_AT, STEPS, UNMIXED
from tfmemlint.verify.plan import called, device_settings
from tfmemlint.verify.plan.alone import Alone
from tfmemlint.verify.plan.claims import by_the_message, claim_of, is_of_settings, is_own, of_what_is_made
from tfmemlint.verify.plan.examples import Example
from tfmemlint.verify.plan.pairs import ExamplesOf, paired
from tfmemlint.verify.plan.planner import Planner
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.solving import FULL, NEXT, Solver
from tfmemlint.verify.plan.statements import flagged_call, flagged_loop
from tfmemlint.verify.plan.templates import Plan, of_sample, other_ranks
from tfmemlint.verify.plan.uses import shows_in_training
from tfmemlint.verify.run.runs import Run


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
    needs_other = claim.metric in LOOKED_AT and claim.metric not in UNMIXED
    if not finding.compared and not claim.growth and (finding.shows is None or needs_other):
        made = of_what_is_made(finding, file) if not is_own(claim) else None
        if made is None:
            return of_sample(finding, sample, samples_too)
        return Planner(finding, file, dict(examples), made).plan(0)
    if not finding.compared:
        claim = replace(claim, by_itself=True)
    small = too_small(finding.bytes, finding.bytes_exact, claim)
    if small is not None:
        raise PlanError(small.reason, small.kind)
    cards = sample.pair.before.simulated_gpus if sample is not None and is_own(claim) else 0
    cards = device_settings.cards(claim) if is_of_settings(finding) else cards
    made_of = claim.metric == "parameters"
    claim = replace(claim, in_training=not is_own(claim) and shows_in_training(finding, file, claim.growth))
    return Planner(finding, file, dict(examples), claim, trains=made_of).plan(cards)


def plan_alone(finding: Finding, file: File, sample: Sample | None, examples: Mapping[str, Example]) -> Plan:
    """The programs that hold the flagged statements and no others. Raises PlanError where they show nothing alone."""
    claim = claim_of(finding, sample)
    if claim.metric in CALLED:
        claim = replace(claim, by_itself=True, made_up=True)
        return _called(lambda: Planner(finding, file, dict(examples), claim, direct=True), called.RANKS)
    if claim.metric == "eager_runs" and not _in_generator(finding, file):
        raise PlanError("the flagged call stands in no generator, and runs as often as it is called")
    if (claim.metric == "repeating" and finding.compared) or claim.metric == "eager_runs":
        claim = replace(claim, made_up=True, by_itself=not finding.compared)
        return _called(lambda: Planner(finding, file, dict(examples), claim, direct=True), called.RANKS)
    if claim.metric in STEPS:
        return Planner(finding, file, dict(examples), claim, trains=True).plan(0)
    trains = not is_own(claim) and shows_in_training(finding, file, claim.growth)
    if (claim.growth and not trains) or (is_own(claim) and claim.metric not in LOOKED_AT):
        raise PlanError("what is claimed does not show in the flagged statements alone")
    if claim.metric in LOOKED_AT and not finding.compared:
        raise PlanError("there is nothing to compare with")
    if not finding.compared:
        claim = replace(claim, by_itself=True) if claim.growth else by_the_message(finding)

    if trains:
        try:
            return Planner(finding, file, dict(examples), claim, trains=True).plan(0)
        except PlanError:
            if claim.growth:
                raise  # else the layer may be part of no model, and be used alone

    def sized(target: int, skipped: int = 0) -> Plan:
        solver = Solver(file, target, skipped=skipped)
        alone = Alone(finding, file, ExamplesOf(file, dict(examples)), solver)
        made = paired(finding, alone.texts(), alone.slices, alone.replaced, claim, 0)
        made = replace(made, alone=True, of_data=alone.of_data)
        if (solver.used or alone.cut) and claim.expected is not None:
            raise PlanError("the bytes of the message are not those of made-up operands")
        if target != FULL and not solver.used:
            raise PlanError("no size was made up that could be smaller")
        less = NEXT.get(target) if solver.used or alone.guessed else None

        def again(run: Run) -> Plan | None:
            return other_ranks(made, run, skipped, lambda: sized(target, skipped + 1)) if solver.used else None

        return replace(made, again=again, smaller=(lambda: sized(less, skipped)) if less is not None else None)

    return sized(FULL)


def _in_generator(finding: Finding, file: File) -> bool:
    """Whether the flagged call, or loop, stands in a function that yields, once for each element."""
    node = flagged_call(finding, file) or flagged_loop(finding, file)
    function = file.contexts.function(node) if node is not None else None
    return isinstance(function, cst.FunctionDef) and any(own_nodes(function, cst.Yield))


def _called(planner: Callable[[], Planner], ranks: Sequence[int | None]) -> Plan:
    """The plan that calls the flagged function by itself, with the first of these ranks of what is made up for which
    there is one. Raises PlanError."""
    try:
        made = planner().plan(0, called.BYTES, ranks[0])
    except PlanError:
        if len(ranks) == 1:
            raise
        return _called(planner, ranks[1:])

    def as_called(made: Plan) -> Plan:
        def again(run: Run) -> Plan | None:
            further = made.again(run)
            if further is not None:
                return as_called(further)
            return _called(planner, ranks[1:]) if ranks[1:] else None

        return replace(made, alone=True, again=again, smaller=None, words=called.WORDS)

    return as_called(made)
