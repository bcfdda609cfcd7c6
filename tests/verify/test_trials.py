"""What the ways in which a finding is measured come to together, from made-up runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pytest

from tfmemlint.verify.claim import Claim
from tfmemlint.verify.judge import NEXT_TO_NO_DATA
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.templates import Plan
from tfmemlint.verify.rests_on import rests_on_made_up
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.measure import Program, Settings
from tfmemlint.verify.run.runs import Failure, Run
from tfmemlint.verify.same_end import at_the_same_end
from tfmemlint.verify.trials import Trial, all_tried, decisive, tried
from tfmemlint.verify.verdicts import (
    CONFIRMED,
    INCONCLUSIVE,
    NEEDS_MORE,
    NOT_CONFIRMED,
    REPAIR_FAILS,
    RULE_ONLY,
    Verdict,
)

MIB = 1024**2
SETTINGS = Settings(repeat=1)


def peak(size: int) -> Run:
    return Run("ok", peak_bytes=size)


RAISED = Run("error", error=Failure("FileNotFoundError", message="no such file"))


@dataclass(frozen=True)
class Runs(Pair):
    """A pair with what its programs cost, without running any."""

    first: Run = RAISED
    second: Run | None = None

    def run(self, *_: Any) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
        return (self.first,), () if self.second is None else (self.second,)


def plan(before: Run, after: Run | None = None, **how: Any) -> Plan:
    return Plan(Runs(Program(""), None, (), before, after), Claim("peak_bytes"), **how)


def outcome(made: Plan) -> Verdict:
    return tried(made, SETTINGS, lambda: None).verdict


def trial(kind: str, alone: bool, **figures: Any) -> Trial:
    return Trial(plan(RAISED, alone=alone), (), (), Verdict(kind, "", **figures))


class TestAllTried:
    def test_what_ends_at_the_lower_limits_behind_a_confirmed_claim_says_nothing(self) -> None:
        starved = plan(Run("memory", reason="killed"), peak(MIB))
        assert tried(starved, SETTINGS, lambda: None).verdict.kind == CONFIRMED
        confirmed = plan(peak(4 * MIB), peak(MIB), alone=True)
        kinds = [trial.verdict.kind for trial in all_tried([confirmed, starved], SETTINGS, lambda: None)]
        assert kinds == [CONFIRMED, INCONCLUSIVE]

    def test_the_lower_limits_are_no_higher(self) -> None:
        limits = SETTINGS.limits.lowered()
        assert limits.wall < SETTINGS.limits.wall and limits.memory < SETTINGS.limits.memory
        small = replace(SETTINGS.limits, wall=1.0, memory=MIB)
        assert small.lowered() == small


class TestTried:
    def test_what_could_not_be_read_is_made_up_and_run_again(self) -> None:
        second = plan(peak(4 * MIB), peak(MIB))
        first = plan(RAISED, again=lambda run: second if run is RAISED else None)
        assert outcome(first).kind == CONFIRMED

    def test_it_ends_where_nothing_more_can_be_made_up(self) -> None:
        verdict = outcome(plan(RAISED))
        assert verdict.kind == INCONCLUSIVE

    def test_a_further_plan_that_cannot_be_made_ends_nothing_but_the_tries(self) -> None:
        def again(run: Run) -> Plan:
            raise PlanError("the repair changes nothing in the programs")

        assert outcome(plan(RAISED, again=again)).kind == INCONCLUSIVE

    def test_float64_arrays_that_were_made_up_tell_nothing(self) -> None:
        def of(source: str) -> Verdict:
            given = Runs(Program(source), None, (), Run("ok", wide=MIB))
            return outcome(Plan(given, Claim("wide", by_itself=True, shown=True)))

        verdict = of("model.fit(x)")
        assert (verdict.kind, verdict.before) == (CONFIRMED, MIB)
        assert verdict.reason == "it is given float64 arrays of 1 MiB, half of which would do as float32"
        assert of('x = tfmemlint_array("float64", (3,))\nmodel.fit(x)').kind == INCONCLUSIVE
        assert of('x = tfmemlint_array("float32", (3,))\nmodel.fit(x)').kind == CONFIRMED

    def test_a_sample_is_never_more_than_the_rule_s(self) -> None:
        verdict = outcome(plan(peak(4 * MIB), peak(MIB), own=False))
        assert (verdict.kind, verdict.reason) == (RULE_ONLY, "the sample is confirmed")


def smaller(before: int, after: int) -> Callable[[], Plan]:
    return lambda: plan(peak(before), peak(after))


def unmade() -> Plan:
    raise PlanError("the repair changes nothing in the programs")


@dataclass(frozen=True)
class WithMany(Pair):
    """A pair that saves something only where folders have many files."""

    note: str = ""

    def run(self, *_: Any) -> tuple[tuple[Run, ...], tuple[Run, ...]]:
        before = 32 * MIB if self.before.many else 16 * MIB
        made = (Run("ok", peak_bytes=size, sizes_made_up=True, notes=(self.note,)) for size in (before, 16 * MIB))
        return tuple((run,) for run in made)  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("note", "kind"),
    [
        ("data is not there: a folder with 64 files (.jpg) was made up", CONFIRMED),
        ("tfds.load('large') gave 256 made-up elements of the same dtypes", CONFIRMED),
        ("tfds.load('mnist') gave made-up elements of the same dtypes and shapes", INCONCLUSIVE),
        ("data.csv is not there: a text of 200 lines was made up", INCONCLUSIVE),
    ],
)
def test_a_saving_that_few_files_do_not_show_is_looked_for_with_many(note: str, kind: str) -> None:
    verdict = outcome(replace(plan(RAISED), pair=WithMany(Program(""), Program(""), note=note)))
    assert verdict.kind == kind


class TestTheSameEnd:
    """Programs that raise before and after the repair."""

    @pytest.mark.parametrize(
        ("first", "second", "kind"),
        [
            ({"peak_bytes": 32 * MIB}, {"peak_bytes": 16 * MIB}, CONFIRMED),
            ({"arrays_peak": 32 * MIB}, {"arrays_peak": 16 * MIB}, CONFIRMED),
            ({"peak_bytes": 16 * MIB}, {"peak_bytes": 16 * MIB}, None),
            ({"peak_bytes": 16 * MIB}, {"peak_bytes": 32 * MIB}, None),
            ({"peak_bytes": MIB, "live_bytes": 32 * MIB}, {"peak_bytes": MIB, "live_bytes": MIB}, None),
            ({"peak_bytes": 32 * MIB}, {"peak_bytes": 16 * MIB, "error": Failure("KeyError")}, None),
            ({"peak_bytes": 32 * MIB}, {"peak_bytes": 16 * MIB, "status": "ok", "error": None}, None),
        ],
    )
    def test_a_saving_of_the_peak_until_then_counts(
        self, first: dict[str, Any], second: dict[str, Any], kind: str | None
    ) -> None:
        before, after = (Run(**{"status": "error", "error": RAISED.error, **each}) for each in (first, second))
        verdict = at_the_same_end(replace(plan(before), claim=Claim()), [before], [after])
        assert (None if verdict is None else verdict.kind) == kind


class TestMadeUpSizes:
    @pytest.mark.parametrize(
        ("make", "kind", "words"),
        [
            (smaller(8 * MIB, 4 * MIB), CONFIRMED, "4 MiB at smaller ones"),
            (smaller(24 * MIB, 8 * MIB), INCONCLUSIVE, "does not grow with the sizes"),
            (unmade, CONFIRMED, "one size"),
        ],
        ids=["grows", "stays", "no smaller plan"],
    )
    def test_a_saving_is_held_against_smaller_sizes(self, make: Callable[[], Plan], kind: str, words: str) -> None:
        verdict = outcome(plan(peak(32 * MIB), peak(16 * MIB), smaller=make))
        assert verdict.kind == kind and words in verdict.reason

    @pytest.mark.parametrize(
        ("make", "kind", "words"),
        [
            (smaller(8 * MIB, 4 * MIB), CONFIRMED, "4 MiB at smaller ones"),
            (smaller(24 * MIB, 8 * MIB), INCONCLUSIVE, "does not grow with the sizes"),
        ],
    )
    def test_sizes_for_which_there_is_no_room_are_made_smaller(
        self, make: Callable[[], Plan], kind: str, words: str
    ) -> None:
        """Of a program that is killed, whose saving at smaller sizes is held against one at still smaller ones."""
        less = plan(peak(32 * MIB), peak(16 * MIB), smaller=make)
        verdict = outcome(plan(Run("memory", "killed at the memory limit"), smaller=lambda: less))
        assert verdict.kind == kind and words in verdict.reason
        assert outcome(plan(Run("time", "killed at the time limit"), smaller=lambda: less)).kind == INCONCLUSIVE

    def test_a_saving_that_is_what_the_message_says_need_not_grow(self) -> None:
        verdict = outcome(plan(peak(32 * MIB), peak(16 * MIB), smaller=smaller(32 * MIB, 16 * MIB), claimed=32 * MIB))
        assert verdict.kind == CONFIRMED and "do not matter" in verdict.reason

    @pytest.mark.parametrize("before", [peak(MIB), RAISED], ids=["nothing seen", "raised"])
    def test_what_is_made_up_of_names_confirms_or_says_nothing(self, before: Run) -> None:
        verdict = outcome(plan(before, peak(MIB), guessed="say what x is"))
        assert verdict.kind == INCONCLUSIVE and verdict.reason.endswith("say what x is")

    def test_what_is_not_seen_at_made_up_sizes_says_nothing(self) -> None:
        assert outcome(plan(peak(MIB), peak(MIB), smaller=unmade)).kind == INCONCLUSIVE


class TestDecisive:
    @pytest.mark.parametrize("kind", [CONFIRMED, REPAIR_FAILS, NEEDS_MORE])
    def test_the_whole_program_decides_where_it_shows_something(self, kind: str) -> None:
        trials = [trial(NOT_CONFIRMED, alone=True), trial(kind, alone=False)]
        assert decisive(trials).verdict == Verdict(kind, "")

    @pytest.mark.parametrize("how", [{"smaller": unmade}, {"guessed": "say what n is"}, {"of_data": True}])
    def test_operands_that_the_code_may_not_have_show_less_than_the_program(self, how: dict[str, Any]) -> None:
        figures = {"unit": "bytes", "before": 9.0 * MIB, "after": 9.0 * MIB}
        alone = Verdict(CONFIRMED, "", unit="bytes", before=4.0 * MIB, after=1.0 * MIB)
        trials = [Trial(plan(RAISED, alone=True, **how), (), (), alone), trial(NOT_CONFIRMED, alone=False, **figures)]
        found = decisive(trials).verdict
        assert found.kind == NOT_CONFIRMED and found.before == 9.0 * MIB
        assert "4 MiB before and 1 MiB after" in found.reason

    @pytest.mark.parametrize(("peak", "kind"), [(8.0 * MIB, CONFIRMED), (3.0 * MIB, NOT_CONFIRMED)])
    def test_a_program_that_takes_less_than_the_statement_alone_hides_nothing(self, peak: float, kind: str) -> None:
        alone = trial(CONFIRMED, alone=True, unit="bytes", before=4.0 * MIB, after=1.0 * MIB)
        whole = trial(NOT_CONFIRMED, alone=False, unit="bytes", before=peak, after=peak)
        assert decisive([alone, whole]).verdict.kind == kind

    @pytest.mark.parametrize("kind", [NOT_CONFIRMED, INCONCLUSIVE])
    def test_the_statements_alone_decide_where_it_does_not(self, kind: str) -> None:
        found = decisive([trial(CONFIRMED, alone=True), trial(kind, alone=False)])
        assert found.verdict.kind == CONFIRMED and found.plan.alone
        assert "measured alone" in found.verdict.reason and "in the whole program" in found.verdict.reason

    def test_both_figures_are_said(self) -> None:
        whole = trial(NOT_CONFIRMED, alone=False, unit="bytes", before=208.0 * MIB, after=208.0 * MIB)
        reason = decisive([trial(CONFIRMED, alone=True), whole]).verdict.reason
        assert reason.endswith("in the whole program 208 MiB before and 208 MiB after")

    def test_what_could_not_be_run_alone_says_nothing(self) -> None:
        trials = [trial(INCONCLUSIVE, alone=True), trial(NOT_CONFIRMED, alone=False)]
        assert decisive(trials).verdict.kind == NOT_CONFIRMED

    def test_one_trial_decides(self) -> None:
        assert decisive([trial(CONFIRMED, alone=False)]).verdict == Verdict(CONFIRMED, "")


class TestShapes:
    def test_a_program_is_run_again_with_the_shape_that_the_error_asks_for(self) -> None:
        message = "expected shape=(None, 784), found shape=(32, 1021)"
        failed = Run("error", error=Failure("ValueError", message=message))
        made = plan(failed)
        source = Program('model.fit(tfmemlint_array("float32", (512, 1021)))')
        found = tried(replace(made, pair=replace(made.pair, before=source)), SETTINGS, lambda: None)
        assert found.plan.pair.before.shapes == (((1021,), (784,)),)
        assert found.verdict.kind == INCONCLUSIVE


@pytest.mark.parametrize(
    ("traceback", "message", "known", "tried_so"),
    [
        ('File "/lib/keras/src/layers/core/dense.py", line 100', "no", {}, True),
        ('File "program.py", line 3', "A KerasTensor cannot be used", {}, True),
        ('File "program.py", line 3', "'tuple' object has no attribute 'as_list'", {}, True),
        ('File "program.py", line 3', "LSTMCell.get_initial_state() got an unexpected keyword", {}, True),
        ('File "program.py", line 3', "no such file", {}, False),
        ('File "/lib/keras/src/layers/core/dense.py", line 100', "no", {"version_1": True}, False),
    ],
)
def test_what_keras_3_refuses_is_run_with_keras_2(
    traceback: str, message: str, known: dict[str, bool], tried_so: bool
) -> None:
    failed = Run("error", error=Failure("ValueError", message=message, traceback=traceback))
    made = plan(failed)
    pair = replace(made.pair, before=replace(made.pair.before, **known))
    assert tried(replace(made, pair=pair), SETTINGS, lambda: None).plan.pair.before.keras_2 is tried_so


@pytest.mark.parametrize(
    ("source", "failure", "there"),
    [
        ("x = load() if os.path.exists(p) else None", Failure("TypeError", message="'NoneType' object is no"), True),
        ("assert os.path.isfile(p)", Failure("AssertionError"), True),
        ("assert os.path.isfile(p)", Failure("KeyError", message="a"), False),
        ("assert rows", Failure("AssertionError"), False),
    ],
)
def test_files_that_a_program_looks_for_are_there_at_the_second_try(source: str, failure: Failure, there: bool) -> None:
    made = plan(Run("error", error=failure))
    pair = replace(made.pair, before=Program(source))
    assert tried(replace(made, pair=pair), SETTINGS, lambda: None).plan.pair.before.present is there


@pytest.mark.parametrize(("reason", "shown"), [(NEXT_TO_NO_DATA, INCONCLUSIVE), ("not seen", CONFIRMED)])
def test_sizes_that_the_code_tells_outweigh_made_up_ones(reason: str, shown: str) -> None:
    made_up = plan(peak(9 * MIB), peak(MIB), alone=True, smaller=lambda: plan(RAISED))
    alone = Trial(made_up, (peak(9 * MIB),), (peak(MIB),), Verdict(CONFIRMED, "", unit="bytes"))
    whole = Trial(plan(peak(9), peak(9)), (peak(9),), (peak(9),), Verdict(INCONCLUSIVE, reason))
    assert decisive([alone, whole]).verdict.kind == shown


def test_how_long_a_model_takes_that_was_made_up_decides_nothing() -> None:
    note = "vgg.h5 is not there: a model of one small layer was made up"
    run = Run("ok", seconds=9.0, clocked=0.06, notes=(note,))
    assert "sets up takes 50 ms each time" in rests_on_made_up(Claim("seconds"), "", [run], 1.0)
    assert rests_on_made_up(Claim("seconds"), "", [Run("ok", seconds=9.0)], 1.0) == ""
    assert rests_on_made_up(Claim("peak_bytes"), "", [run], 1.0) == ""
