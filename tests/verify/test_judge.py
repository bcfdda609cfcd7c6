"""Verdicts from made-up figures."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tfmemlint.verify.claim import Claim, too_small
from tfmemlint.verify.judge import judge
from tfmemlint.verify.run.measure import Failure, Run
from tfmemlint.verify.verdicts import (
    CONFIRMED,
    INCONCLUSIVE,
    NEEDS_MORE,
    NOT_CONFIRMED,
    REPAIR_FAILS,
    TOO_SMALL,
    Verdict,
)

MIB = 1024**2


def ok(**figures: Any) -> Run:
    return Run("ok", **figures)


def failed(kind: str, message: str = "", out_of_memory: bool = False) -> Run:
    error = Failure(kind, message=message, out_of_memory=out_of_memory)
    return Run("error", reason=error.text, error=error)


def stepping(*live: int) -> Run:
    return ok(marks=tuple((float(step), size, size, size, step, 0) for step, size in enumerate(live)))


def peaks(*sizes: int) -> list[Run]:
    return [ok(peak_bytes=size) for size in sizes]


def test_of_arrays_and_tensors_at_the_end_arrays_count_where_they_save_more() -> None:
    def run(live: int, arrays: int) -> Run:
        return ok(peak_bytes=9 * MIB, live_bytes=live * MIB, arrays_peak=arrays * MIB)

    verdict = judge(Claim(), [run(7, 800)], [run(5, 400)])
    assert (verdict.kind, verdict.metric, verdict.saved) == (CONFIRMED, "array_bytes", 400 * MIB)


def test_a_loop_without_rounds_shows_nothing_of_what_is_in_it() -> None:
    claim = Claim("seconds")
    before, after = (Run("ok", seconds=each, rounds_in_all=0) for each in (9.0, 1.0))
    assert judge(claim, [before], [after]).kind == INCONCLUSIVE
    ran = Run("ok", seconds=9.0, rounds=5, rounds_in_all=5)
    assert judge(claim, [ran], [Run("ok", seconds=1.0)]).kind == CONFIRMED  # without the loop
    assert judge(claim, [ran], [after]).kind == INCONCLUSIVE


def test_a_little_growth_is_too_small_unless_the_rounds_are_many() -> None:
    marks = stepping(*range(0, 200 * 1024, 10 * 1024)).marks
    claim = Claim("live_slope", by_itself=True, growth=True)
    assert judge(claim, [ok(marks=marks, rounds=20, rounds_in_all=20)], ()).kind == TOO_SMALL
    assert judge(claim, [ok(marks=marks, rounds=20, rounds_cut=True)], ()).kind == TOO_SMALL
    assert judge(claim, [ok(marks=marks, rounds=20, rounds_cut=True, rounds_in_all=2000)], ()).kind == CONFIRMED
    nodes = tuple((*mark[:4], 0, 9 * step) for step, mark in enumerate(marks))
    assert judge(Claim(by_itself=True, growth=True), [ok(marks=nodes, rounds=20)], ()).metric == "nodes_slope"


def test_a_statement_that_is_clocked_tells_its_own_time() -> None:
    before, after = ok(seconds=60.0, clocked=0.05), ok(seconds=59.0, clocked=0.005)
    verdict = judge(Claim("seconds"), [before], [after])
    assert (verdict.kind, verdict.before, verdict.after) == (CONFIRMED, 1.0, 0.1) and "20 times" in verdict.reason
    assert judge(Claim("seconds"), [before], [ok(seconds=59.0, clocked=0.049)]).kind == NOT_CONFIRMED
    assert judge(Claim("seconds"), [before], [ok(seconds=9.0)]).kind == INCONCLUSIVE


def test_a_program_that_comes_to_no_training_says_nothing_against_what_that_costs() -> None:
    runs = peaks(9 * MIB)
    verdict = judge(Claim(in_training=True), runs, runs)
    assert (verdict.kind, verdict.reason) == (INCONCLUSIVE, "the program does not come to the training that costs it")
    trained = [ok(peak_bytes=9 * MIB, traces=1)]
    assert judge(Claim(in_training=True), trained, trained).kind == NOT_CONFIRMED
    assert judge(Claim(in_training=True), runs, peaks(MIB)).kind == CONFIRMED


def seconds(*runs: float) -> list[Run]:
    return [ok(seconds=each) for each in runs]


def test_what_else_the_machine_does_can_only_add_to_the_seconds() -> None:
    verdict = judge(Claim("seconds", 1.5), seconds(6.0, 2.4, 2.5), seconds(0.4, 0.36, 3.1))
    assert (verdict.kind, verdict.before, verdict.after) == (CONFIRMED, 2.4, 0.36)
    assert judge(Claim("seconds"), seconds(1.0, 1.4, 1.5), seconds(0.8, 1.3, 1.2)).kind == NOT_CONFIRMED


def test_trainings_that_were_cut_may_differ_at_their_peaks() -> None:
    cut = {"rounds": 2, "rounds_cut": True}
    before, after = ok(peak_bytes=700 * MIB, **cut), ok(peak_bytes=750 * MIB, **cut)
    assert judge(Claim(), [before], [after]).kind == INCONCLUSIVE
    assert judge(Claim(), [before], [ok(peak_bytes=900 * MIB, **cut)]).kind == NEEDS_MORE
    assert judge(Claim(), [ok(peak_bytes=700 * MIB)], [ok(peak_bytes=750 * MIB)]).kind == NEEDS_MORE


def test_what_is_held_where_trainings_were_cut_says_nothing() -> None:
    def run(live: int, arrays: int, rounds: int) -> Run:
        return ok(peak_bytes=9 * MIB, live_bytes=live * MIB, arrays_peak=arrays * MIB, rounds=rounds, rounds_cut=True)

    verdict = judge(Claim(), [run(7, 800, 7)], [run(5, 400, 10)])
    assert (verdict.kind, verdict.metric) == (CONFIRMED, "array_bytes")
    assert judge(Claim(), [run(7, 400, 7)], [run(5, 400, 10)]).kind == INCONCLUSIVE
    assert judge(Claim(), [run(7, 400, 7)], [run(5, 400, 7)]).metric == "live_bytes"

    def ended(live: int, arrays: int, steps: int) -> Run:
        return msgspec.structs.replace(run(live, arrays, 2), steps_in_time=steps)

    assert judge(Claim(), [ended(7, 800, 7)], [ended(5, 400, 10)]).metric == "array_bytes"
    assert judge(Claim(), [ended(7, 400, 7)], [ended(5, 400, 10)]).kind == INCONCLUSIVE
    assert judge(Claim(), [ended(7, 400, 7)], [ended(5, 400, 7)]).metric == "live_bytes"


class TestHeldWhileIterated:
    """What is held while data sets are iterated, in programs whose peak lies elsewhere."""

    @staticmethod
    def verdict(before: tuple[int, ...], after: tuple[int, ...], **others: Any) -> Verdict:
        runs = [ok(peak_bytes=300 * MIB, held_by_data_sets=held, **others) for held in (before, after)]
        return judge(Claim(), runs[:1], runs[1:])

    def test_a_buffer_is_seen(self) -> None:
        verdict = self.verdict((38 * MIB,), (2 * MIB,))
        assert (verdict.kind, verdict.metric) == (CONFIRMED, "iterated_bytes")
        assert (verdict.before, verdict.after) == (38 * MIB, 2 * MIB)
        assert verdict.reason == "the peak of the program, 300 MiB, lies elsewhere"

    def test_of_several_data_sets_the_one_that_differs_counts(self) -> None:
        verdict = self.verdict((90 * MIB, 38 * MIB, 1), (90 * MIB, 2 * MIB, 1))
        assert (verdict.kind, verdict.before, verdict.after) == (CONFIRMED, 38 * MIB, 2 * MIB)

    def test_others_say_nothing(self) -> None:
        assert self.verdict((38 * MIB,), (36 * MIB,)).kind == NOT_CONFIRMED
        assert self.verdict((2 * MIB,), (38 * MIB,)).kind == NOT_CONFIRMED
        assert self.verdict((90_000,), (40_000,)).kind == NOT_CONFIRMED
        assert self.verdict((), ()).kind == NOT_CONFIRMED
        assert self.verdict((38 * MIB, 38 * MIB), (2 * MIB,)).kind == NOT_CONFIRMED

    def test_a_claim_about_arrays_is_none_about_them(self) -> None:
        runs = [ok(arrays_peak=9 * MIB, held_by_data_sets=(held,), peak_bytes=MIB) for held in (38 * MIB, 2 * MIB)]
        assert judge(Claim("array_bytes", shown=True), runs[:1], runs[1:]).kind == NOT_CONFIRMED

    def test_one_that_was_left_has_shown_it_all_the_same(self) -> None:
        assert self.verdict((38 * MIB,), (2 * MIB,), rounds=9, rounds_cut=True).kind == CONFIRMED
        assert self.verdict((2 * MIB,), (2 * MIB,), rounds=9, rounds_cut=True).kind == INCONCLUSIVE


class TestFigures:
    def test_a_clear_difference_is_confirmed_with_its_numbers(self) -> None:
        verdict = judge(Claim("peak_bytes", 1.5), peaks(300 * MIB, 300 * MIB), peaks(100 * MIB, 100 * MIB))
        assert verdict.kind == CONFIRMED
        assert (verdict.before, verdict.after, verdict.saved) == (300 * MIB, 100 * MIB, 200 * MIB)
        assert verdict.ratio == 3.0 and verdict.repeats == 2

    def test_a_difference_smaller_than_the_spread_of_the_repeats_is_not(self) -> None:
        before, after = peaks(300 * MIB, 340 * MIB, 310 * MIB), peaks(280 * MIB, 282 * MIB, 281 * MIB)
        verdict = judge(Claim("peak_bytes"), before, after)
        assert verdict.kind == NOT_CONFIRMED
        assert verdict.noise == 40 * MIB and "noise" in verdict.reason

    def test_a_ratio_under_the_threshold_is_not_confirmed(self) -> None:
        verdict = judge(Claim("peak_bytes", 2.0), peaks(150 * MIB), peaks(100 * MIB))
        assert verdict.kind == NOT_CONFIRMED and "under 2" in verdict.reason

    def test_a_repair_that_costs_more_is_said_to(self) -> None:
        verdict = judge(Claim("peak_bytes"), peaks(100 * MIB), peaks(200 * MIB))
        assert verdict.kind == NEEDS_MORE and verdict.saved == -100 * MIB

    def test_a_small_part_of_little_is_too_small_and_not_none(self) -> None:
        before, after = [ok(peak_bytes=197_120)], [ok(peak_bytes=176_896)]
        verdict = judge(Claim(), before, after)
        assert (verdict.kind, verdict.reason) == (TOO_SMALL, "saves 20 KiB, where little is to be saved")
        assert judge(Claim(), peaks(MIB, MIB), peaks(MIB - 20_000, MIB - 20_000)).kind == NOT_CONFIRMED

    def test_a_little_more_after_the_repair_is_no_more_than_a_little_less(self) -> None:
        assert judge(Claim("peak_bytes"), peaks(100 * MIB), peaks(101 * MIB)).kind == NOT_CONFIRMED

    def test_nothing_left_after_the_repair_has_no_ratio(self) -> None:
        verdict = judge(Claim("traces"), [ok(traces=5)], [ok(traces=0)])
        assert verdict.kind == CONFIRMED and verdict.ratio is None and verdict.saved == 5

    def test_one_trace_more_is_more_than_noise(self) -> None:
        assert judge(Claim("traces"), [ok(traces=2)], [ok(traces=1)]).kind == CONFIRMED

    def test_resident_memory_counts_from_the_program_s_start(self) -> None:
        before = [ok(rss_start=500 * MIB, rss_peak=900 * MIB)]
        after = [ok(rss_start=510 * MIB, rss_peak=610 * MIB)]
        verdict = judge(Claim("rss"), before, after)
        assert (verdict.before, verdict.after) == (400 * MIB, 100 * MIB)

    def test_resident_memory_that_differs_by_little_is_no_difference(self) -> None:
        before, after = [ok(rss_start=0, rss_peak=420 * MIB)], [ok(rss_start=0, rss_peak=380 * MIB)]
        verdict = judge(Claim("rss"), before, after)
        assert (verdict.kind, verdict.reason) == (NOT_CONFIRMED, "the ratio is under 1.25")

    def test_a_program_s_own_value_has_the_unit_of_the_claim(self) -> None:
        assert judge(Claim("value", unit="bytes"), [ok(value=9.0)], [ok(value=1.0)]).unit == "bytes"
        assert judge(Claim("value"), [ok(value=9.0)], [ok(value=1.0)]).unit == ""

    @pytest.mark.parametrize(
        ("metric", "words"),
        [("peak_bytes", "no TensorFlow operation"), ("value", "tfmemlint_value"), ("live_slope", "tfmemlint_mark")],
    )
    def test_a_missing_figure_is_inconclusive_and_says_why(self, metric: str, words: str) -> None:
        verdict = judge(Claim(metric), [ok()], [ok()])
        assert verdict.kind == INCONCLUSIVE and words in verdict.reason

    def test_the_allocator_s_own_problem_is_passed_on(self) -> None:
        broken = ok(allocator_problem="ValueError: Allocator stats not available")
        assert "stats not available" in judge(Claim("peak_bytes"), [broken], [broken]).reason

    def test_memory_growth_that_was_dropped(self) -> None:
        dropped, kept = ok(gpu_options={"allow_growth": False}), ok(gpu_options={"allow_growth": True})
        assert judge(Claim("growth_dropped"), [dropped], [kept]).kind == CONFIRMED
        assert judge(Claim("growth_dropped"), [kept], [kept]).kind == NOT_CONFIRMED


class TestSlopes:
    def test_a_leak_is_the_growth_per_step(self) -> None:
        verdict = judge(Claim("live_slope"), [stepping(*range(0, 20 * MIB, MIB))], [stepping(*[MIB] * 20)])
        assert verdict.kind == CONFIRMED
        assert verdict.before == pytest.approx(MIB) and verdict.after == pytest.approx(0)

    def test_what_shrinks_by_less_is_no_leak(self) -> None:
        before, after = ([stepping(*range(90 * MIB, 0, -step))] for step in (8 * MIB, 9 * MIB))
        assert judge(Claim("live_slope"), before, after).kind == NOT_CONFIRMED

    def test_growth_that_ends_after_the_first_steps_is_no_leak(self) -> None:
        warming = [MIB * min(step, 8) for step in range(20)]
        assert judge(Claim("live_slope"), [stepping(*warming)], [stepping(*[MIB] * 20)]).kind == NOT_CONFIRMED


class TestWithoutMetric:
    def test_the_first_figure_that_differs_decides(self) -> None:
        before, after = [ok(peak_bytes=MIB, traces=9)], [ok(peak_bytes=MIB, traces=1)]
        verdict = judge(Claim(), before, after)
        assert (verdict.kind, verdict.metric) == (CONFIRMED, "traces")

    def test_programs_that_run_nothing_show_nothing(self) -> None:
        verdict = judge(Claim(), [ok(rss_start=0, rss_peak=MIB)], [ok(rss_start=0, rss_peak=MIB)])
        assert verdict.kind == INCONCLUSIVE and "no TensorFlow operation" in verdict.reason

    def test_arrays_show_where_no_operation_runs(self) -> None:
        verdict = judge(Claim(), [ok(arrays_peak=50 * MIB)], [ok(arrays_peak=10 * MIB)])
        assert (verdict.kind, verdict.metric) == (CONFIRMED, "array_bytes")

    @pytest.mark.parametrize(("tensors", "arrays"), [(40, 2), (2, 40)])
    def test_of_tensors_and_arrays_those_decide_that_save_more(self, tensors: int, arrays: int) -> None:
        before = ok(peak_bytes=(50 + tensors) * MIB, arrays_peak=(50 + arrays) * MIB)
        verdict = judge(Claim(min_ratio=1.0), [before], [ok(peak_bytes=50 * MIB, arrays_peak=50 * MIB)])
        assert (verdict.metric, verdict.saved) == ("peak_bytes" if tensors > arrays else "array_bytes", 40 * MIB)

    def test_a_named_figure_alone_decides_on_a_contrast(self) -> None:
        claim = Claim("array_bytes", contrast=True, shown=True)
        runs = [ok(peak_bytes=90 * MIB, arrays_peak=50 * MIB)], [ok(peak_bytes=10 * MIB, arrays_peak=50 * MIB)]
        assert judge(claim, *runs).kind == NOT_CONFIRMED

    def test_bytes_of_a_message_are_looked_for_among_tensors_and_arrays(self) -> None:
        verdict = judge(Claim(expected=48 * MIB), [ok(peak_bytes=MIB, arrays_peak=50 * MIB)], [])
        assert (verdict.kind, verdict.reason) == (CONFIRMED, "claimed 48 MiB, seen 50 MiB")

    def test_what_is_held_where_each_was_cut_speaks_against_no_repair(self) -> None:
        before = ok(peak_bytes=90 * MIB, live_bytes=31 * MIB, rounds=10, rounds_cut=True)
        verdict = judge(Claim(), [before], [ok(peak_bytes=90 * MIB, live_bytes=33 * MIB)])
        assert (verdict.kind, verdict.reason) == (INCONCLUSIVE, "not seen in the 10 rounds that ran")

    def test_one_operation_alone_is_no_program(self) -> None:
        assert judge(Claim(), peaks(256), peaks(256)).kind == INCONCLUSIVE

    def test_without_data_a_contrast_says_nothing(self) -> None:
        nothing, enough = [ok(peak_bytes=20_000, arrays_peak=900)], [ok(peak_bytes=20_000, arrays_peak=MIB)]
        verdict = judge(Claim(contrast=True), nothing, nothing)
        assert verdict.kind == INCONCLUSIVE and "no data" in verdict.reason
        assert judge(Claim(contrast=True), enough, enough).kind == NOT_CONFIRMED
        assert judge(Claim(), nothing, nothing).kind == NOT_CONFIRMED

    def test_programs_without_any_data_say_nothing(self) -> None:
        empty, small = [ok(initialized=True, peak_bytes=0, arrays_peak=2)], [ok(initialized=True, peak_bytes=4096)]
        verdict = judge(Claim(), empty, empty)
        assert verdict.kind == INCONCLUSIVE and "no data" in verdict.reason
        assert judge(Claim(), small, small).kind == NOT_CONFIRMED

    def test_strings_take_memory_that_is_not_counted(self) -> None:
        verdict = judge(Claim(), [ok(peak_bytes=MIB, strings=True)], [ok(peak_bytes=MIB, strings=True)])
        assert verdict.kind == INCONCLUSIVE and "strings" in verdict.reason
        little = judge(Claim(), [ok(peak_bytes=MIB // 8, strings=True)], [ok(peak_bytes=4096, strings=True)])
        assert little.kind == INCONCLUSIVE and "strings" in little.reason
        more = judge(Claim(), [ok(peak_bytes=9 * MIB, strings=True)], [ok(peak_bytes=MIB, strings=True)])
        assert more.kind == CONFIRMED

    def test_pages_of_libraries_are_no_growth(self) -> None:
        before = ok(rss_start=0, rss_peak=900 * MIB, rss_files=800 * MIB)
        after = ok(rss_start=0, rss_peak=820 * MIB, rss_files=800 * MIB)
        verdict = judge(Claim("rss"), [before], [after])
        assert (verdict.kind, verdict.before, verdict.after) == (CONFIRMED, 100 * MIB, 20 * MIB)

    def test_a_runtime_that_only_one_program_starts_is_no_saving(self) -> None:
        before = ok(initialized=True, rss_start=0, rss_peak=300 * MIB)
        verdict = judge(Claim("rss"), [before], [ok(initialized=False, rss_start=0, rss_peak=MIB)])
        assert verdict.kind == INCONCLUSIVE and "runtime" in verdict.reason

    def test_equal_figures_are_not_confirmed(self) -> None:
        assert judge(Claim(), peaks(MIB), peaks(MIB)).kind == NOT_CONFIRMED


class TestLoops:
    def run(self, step: int, **known: Any) -> Run:
        sizes = [MIB + number * step for number in range(8)]
        marks = tuple((float(number), size, size, size, 0, 0) for number, size in enumerate(sizes))
        return ok(peak_bytes=MIB, marks=marks, **known)

    def test_a_function_that_is_never_called_tells_nothing(self) -> None:
        claim = Claim("traces_slope", by_itself=True, growth=True, function="step")
        assert judge(claim, [self.run(0)], []).kind == INCONCLUSIVE
        assert judge(claim, [self.run(0, traces_by_name={"step": 1})], []).kind == NOT_CONFIRMED

    def test_traces_tell_nothing_of_data_that_is_kept(self) -> None:
        marks = tuple((float(number), MIB, MIB, MIB, 3 * number, 0) for number in range(8))
        for of_bytes, kind in ((False, CONFIRMED), (True, NOT_CONFIRMED)):
            claim = Claim(by_itself=True, growth=True, of_bytes=of_bytes)
            assert judge(claim, [ok(peak_bytes=MIB, marks=marks)], []).kind == kind

    def test_growth_shows_in_the_rounds_before_it_shows_in_the_peak(self) -> None:
        grows, stays = self.run(4096, rounds=8, rounds_cut=True, rounds_in_all=198), self.run(0, rounds=8)
        verdict = judge(Claim(growth=True), [grows], [stays])
        assert (verdict.kind, verdict.metric, verdict.before) == (CONFIRMED, "live_slope", 4096)
        assert verdict.reason == "792 KiB in the 198 rounds of the loop, of which 8 ran"

    def test_growth_of_a_loop_without_a_known_end_is_that_of_a_round(self) -> None:
        verdict = judge(Claim(growth=True), [self.run(4096, rounds=8, rounds_cut=True)], [self.run(0)])
        assert (verdict.kind, verdict.reason) == (CONFIRMED, "")

    @pytest.mark.parametrize("growth", [True, False])
    def test_what_a_cut_loop_does_not_show_may_show_later(self, growth: bool) -> None:
        verdict = judge(Claim(growth=growth), [self.run(0, rounds=50, rounds_cut=True)], [self.run(0)])
        assert (verdict.kind, verdict.reason) == (INCONCLUSIVE, "not seen in the 50 rounds that ran")

    def test_a_loop_that_came_to_its_end_showed_all(self) -> None:
        assert judge(Claim(growth=True), [self.run(0, rounds=8)], [self.run(0)]).kind == NOT_CONFIRMED

    def test_a_repair_that_costs_more_in_a_cut_loop_does_so(self) -> None:
        cut = self.run(0, rounds=8, rounds_cut=True)
        assert judge(Claim(), [cut], peaks(9 * MIB)).kind == NEEDS_MORE


class TestWithoutRepair:
    @pytest.mark.parametrize(("seen", "kind"), [(750, CONFIRMED), (610, CONFIRMED), (590, NOT_CONFIRMED)])
    def test_what_a_message_claims_must_be_seen(self, seen: int, kind: str) -> None:
        verdict = judge(Claim(expected=750 * MIB), peaks(seen * MIB), ())
        assert (verdict.kind, verdict.reason) == (kind, f"claimed 750 MiB, seen {seen} MiB")

    @pytest.mark.parametrize(("step", "kind"), [(MIB, CONFIRMED), (0, NOT_CONFIRMED)])
    def test_growth_must_show_in_the_rounds(self, step: int, kind: str) -> None:
        marks = tuple((float(number), *[MIB + number * step] * 3, 0, 0) for number in range(8))
        assert judge(Claim(growth=True, by_itself=True), [ok(marks=marks)], ()).kind == kind

    def test_no_growth_in_a_cut_loop_is_no_contradiction(self) -> None:
        cut = ok(marks=((0.0, MIB, MIB, MIB, 0, 0),) * 8, rounds=8, rounds_cut=True)
        verdict = judge(Claim(growth=True, by_itself=True), [cut], ())
        assert (verdict.kind, verdict.reason) == (INCONCLUSIVE, "not seen in the 8 rounds that ran")

    def test_nodes_of_a_graph_are_growth_too(self) -> None:
        grown = ok(marks=tuple((float(step), MIB, MIB, MIB, 0, 3 * step) for step in range(8)))
        verdict = judge(Claim(growth=True, by_itself=True), [grown], ())
        assert (verdict.kind, verdict.metric, verdict.before) == (CONFIRMED, "nodes_slope", 3.0)


class TestSmall:
    def test_what_is_below_the_floor_is_not_run(self) -> None:
        verdict = too_small(24, True, Claim())
        assert verdict is not None and verdict.kind == TOO_SMALL and verdict.reason.startswith("24 bytes")

    @pytest.mark.parametrize(
        ("claimed", "exact", "claim"),
        [
            (None, True, Claim()),
            (1 << 20, True, Claim()),
            (24, False, Claim()),
            (24, True, Claim(growth=True)),
            (24, True, Claim("traces")),
            (24, True, Claim(error="ValueError")),
        ],
        ids=["unknown", "large", "at least", "grows", "traces", "error"],
    )
    def test_anything_else_is(self, claimed: int | None, exact: bool, claim: Claim) -> None:
        assert too_small(claimed, exact, claim) is None


class TestErrors:
    CLAIM = Claim(error="RuntimeError: cannot be modified")
    RAISED = failed("RuntimeError", "Physical devices cannot be modified after being initialized")

    def test_raised_before_and_not_after(self) -> None:
        verdict = judge(self.CLAIM, [self.RAISED], [ok()])
        assert verdict.kind == CONFIRMED and "Physical devices" in verdict.reason

    def test_never_raised(self) -> None:
        assert judge(self.CLAIM, [ok()], [ok()]).kind == NOT_CONFIRMED

    def test_raised_after_the_repair_too(self) -> None:
        assert judge(self.CLAIM, [self.RAISED], [self.RAISED]).kind == REPAIR_FAILS

    @pytest.mark.parametrize(
        "other", [failed("RuntimeError", "something else"), failed("ValueError", "cannot be modified")]
    )
    def test_another_error_tells_nothing(self, other: Run) -> None:
        assert judge(self.CLAIM, [other], [ok()]).kind == INCONCLUSIVE
        assert judge(self.CLAIM, [self.RAISED], [other]).kind == INCONCLUSIVE


class TestOutput:
    def test_printed_before_and_not_after(self) -> None:
        verdict = judge(Claim(output="not parsed"), [ok(output="E could not: not parsed\n")], [ok(output="fine")])
        assert verdict.kind == CONFIRMED

    def test_printed_by_both(self) -> None:
        assert judge(Claim(output="x"), [ok(output="x")], [ok(output="x")]).kind == NOT_CONFIRMED


class TestFailures:
    @pytest.mark.parametrize("status", ["time", "crash", "disk", "processes"])
    def test_a_program_that_was_killed_is_inconclusive(self, status: str) -> None:
        verdict = judge(Claim("peak_bytes"), [Run(status, reason="killed")], peaks(MIB))
        assert verdict.kind == INCONCLUSIVE and "flagged program failed: killed" in verdict.reason

    @pytest.mark.parametrize("starved", [Run("memory"), failed("ResourceExhaustedError", "OOM", out_of_memory=True)])
    def test_out_of_memory_before_and_not_after_is_confirmed(self, starved: Run) -> None:
        verdict: Verdict = judge(Claim("peak_bytes"), [starved, starved], peaks(MIB, MIB))
        assert (verdict.kind, verdict.metric) == (CONFIRMED, "out_of_memory")

    def test_out_of_memory_in_both_is_inconclusive(self) -> None:
        assert judge(Claim("peak_bytes"), [Run("memory")], [Run("memory")]).kind == INCONCLUSIVE

    def test_out_of_memory_after_the_repair_only_is_needing_more(self) -> None:
        assert judge(Claim("peak_bytes"), peaks(MIB), [Run("memory")]).kind == NEEDS_MORE

    def test_a_repair_that_raises_fails_and_says_with_what(self) -> None:
        verdict = judge(Claim("peak_bytes"), peaks(MIB), [failed("ValueError", "no such axis")])
        assert verdict.kind == REPAIR_FAILS and "no such axis" in verdict.reason

    def test_a_repair_that_is_killed_is_inconclusive(self) -> None:
        assert judge(Claim("peak_bytes"), peaks(MIB), [Run("time", reason="killed")]).kind == INCONCLUSIVE

    def test_a_flagged_program_that_fails_needs_no_repaired_one(self) -> None:
        verdict = judge(Claim(), [failed("ImportError", "no module")], ())
        assert verdict.kind == INCONCLUSIVE and "no module" in verdict.reason

    def test_without_runs_there_is_no_verdict(self) -> None:
        assert judge(Claim("peak_bytes"), [], peaks(MIB)).kind == INCONCLUSIVE


class TestSteps:
    CLAIM = Claim("step_seconds")

    def test_a_step_that_takes_longer_without_a_graph_is_confirmed_by_its_time(self) -> None:
        verdict = judge(self.CLAIM, [ok(step_seconds=0.05, peak_bytes=MIB)], [ok(step_seconds=0.01, peak_bytes=MIB)])
        assert (verdict.kind, verdict.metric, verdict.unit) == (CONFIRMED, "step_seconds", "s")

    def test_where_time_does_not_differ_memory_decides(self) -> None:
        before, after = ok(step_seconds=0.01, peak_bytes=40 * MIB), ok(step_seconds=0.01, peak_bytes=10 * MIB)
        verdict = judge(self.CLAIM, [before], [after])
        assert (verdict.kind, verdict.metric) == (CONFIRMED, "peak_bytes")
        assert judge(self.CLAIM, [before], [before]).kind == NOT_CONFIRMED

    def test_a_program_without_steps_and_without_a_difference_is_no_confirmation(self) -> None:
        assert judge(self.CLAIM, peaks(MIB), peaks(MIB)).kind == NOT_CONFIRMED


def test_an_error_that_both_programs_raise_may_come_of_made_up_data() -> None:
    raised = Failure("ValueError", message="Exception encountered when calling a layer: no column age")
    claim = Claim(error="ValueError: Exception encountered when calling")
    for made_up, kind in ((True, INCONCLUSIVE), (False, REPAIR_FAILS)):
        failed = Run("error", raised.text, error=raised, sizes_made_up=made_up)
        assert judge(claim, [failed], [failed]).kind == kind


def test_joins_are_told_from_a_few_rounds_on() -> None:
    claim = Claim("copied", by_itself=True)
    assert judge(claim, [ok(joins=3, copied=6, comes_to=3)], []).kind == INCONCLUSIVE
    assert judge(claim, [ok(joins=4, copied=10, comes_to=4)], []).kind == CONFIRMED
    assert judge(claim, [ok(joins=4, copied=4, comes_to=4)], []).kind == NOT_CONFIRMED
