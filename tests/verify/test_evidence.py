"""The samples of rules, the file that keeps their verdicts, and what the reports say of both."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.cli import commands
from tfmemlint.report.pages import pictures
from tfmemlint.report.style import Style
from tfmemlint.verify import evidence
from tfmemlint.verify.evidence import EvidenceError
from tfmemlint.verify.pages import html, report
from tfmemlint.verify.result import Environment, Pair, Result, environment
from tfmemlint.verify.run import sandbox
from tfmemlint.verify.run.measure import Program, Run, Settings
from tfmemlint.verify.verdicts import CONFIRMED, INCONCLUSIVE, Verdict

MIB = 1024**2
WHERE = Environment({"python": "3.12.1", "tensorflow": "2.21.0"}, "CPU (x86_64 Linux)", "contained", 3)


def folder(root: Path, name: str, case: str, *programs: str) -> Path:
    made = root / name
    made.mkdir(parents=True)
    (made / "case.toml").write_text(case, encoding="utf-8")
    for file, text in zip((evidence.BEFORE, evidence.AFTER), programs, strict=False):
        (made / file).write_text(text, encoding="utf-8")
    return made


def result(code: str = "TFM305", place: str | None = None, **changes: Any) -> Result:
    verdict = Verdict(CONFIRMED, "", "peak_bytes", "bytes", 300.0 * MIB, 20.0 * MIB, 0.0, 3)
    pair = Pair(Program("a = 1\nb = 2 < 3\n"), Program("a = 1\nb = 3\n"), ("x=float32[3] stands in for load()",))
    runs = (Run("ok", peak_bytes=300 * MIB, timeline=((0.0, 0, MIB, None), (1.0, 300 * MIB, MIB, None))),)
    fields = {"message": "cache() after <repeat>", "verdict": verdict, "pair": pair, "before": runs, "after": runs}
    return Result(code, "cache-after-repeat", place or f"{code}-cache", **{**fields, **changes})


class TestSamples:
    GOOD = '[measure]\nmetric = "peak_bytes"\nmin-ratio = 2.5\nsimulated-gpus = 2\nfast = true\n'

    def test_a_sample_is_read_with_its_claim(self, tmp_path: Path) -> None:
        folder(tmp_path, "TFM305-cache", self.GOOD, "bad", "good")
        (sample,) = evidence.read_samples(tmp_path)
        assert (sample.code, sample.claim.metric, sample.claim.min_ratio, sample.fast) == (
            "TFM305",
            "peak_bytes",
            2.5,
            True,
        )
        assert (sample.pair.before.source, sample.pair.after.source) == ("bad", "good")
        assert sample.pair.before.simulated_gpus == 2

    def test_folders_without_measured_programs_are_passed_over(self, tmp_path: Path) -> None:
        folder(tmp_path, "TFM304-other", "unsafe-fixes = false\n")
        folder(tmp_path, "_notes", "not even toml")
        assert evidence.read_samples(tmp_path) == []

    def test_codes_choose(self, tmp_path: Path) -> None:
        folder(tmp_path, "TFM305-cache", self.GOOD, "bad", "good")
        folder(tmp_path, "TFM304-prefetch", self.GOOD, "bad", "good")
        assert [sample.code for sample in evidence.read_samples(tmp_path, ["TFM305"])] == ["TFM305"]
        assert len(evidence.read_samples(tmp_path, ["TFM3"])) == 2

    @pytest.mark.parametrize(
        ("case", "words"),
        [
            ("[measure]\n", "exactly one of metric, error and output"),
            ('[measure]\nmetric = "rss"\nerror = "E"\n', "exactly one"),
            ('[measure]\nmetric = "joy"\n', "no metric 'joy'; known are peak_bytes"),
            ('[measure]\nmetric = "rss"\nmin-ratio = 1\n', "min-ratio must be over 1"),
            ('[measure]\nmetric = "rss"\nratio = 2\n', "unknown field `ratio`"),
            ('[measure]\nmetric = "value"\nunit = "pounds"\n', "unit: only `bytes`"),
            ('[measure]\nmetric = "seconds"\nunit = "bytes"\n', "unit: only `bytes`"),
            ("[measure\n", "case.toml"),
        ],
    )
    def test_a_wrong_table_is_refused_with_its_file(self, tmp_path: Path, case: str, words: str) -> None:
        folder(tmp_path, "TFM305-cache", case, "bad", "good")
        with pytest.raises(EvidenceError) as raised:
            evidence.read_samples(tmp_path)
        assert words in str(raised.value) and "TFM305-cache" in str(raised.value)

    def test_a_missing_program_is_named(self, tmp_path: Path) -> None:
        folder(tmp_path, "TFM305-cache", self.GOOD, "bad")
        with pytest.raises(EvidenceError, match=r"measure_good\.py: No such file"):
            evidence.read_samples(tmp_path)

    def test_programs_without_a_table_are_refused(self, tmp_path: Path) -> None:
        folder(tmp_path, "TFM305-cache", "", "bad", "good")
        with pytest.raises(EvidenceError, match=r"add a table \[measure\]"):
            evidence.read_samples(tmp_path)

    def test_two_samples_of_a_rule_are_refused(self, tmp_path: Path) -> None:
        for name in ("TFM305-a", "TFM305-b"):
            folder(tmp_path, name, self.GOOD, "bad", "good")
        with pytest.raises(EvidenceError, match="TFM305-a has programs for TFM305 already"):
            evidence.read_samples(tmp_path)

    def test_a_code_without_a_sample_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(EvidenceError, match="no sample to measure for 'TFM999'"):
            evidence.read_samples(tmp_path, ["TFM999"])


class TestEvidenceFile:
    def test_a_full_run_replaces_everything(self) -> None:
        old = {"versions": {"tensorflow": "1"}, "device": "CPU", "rules": {"TFM101": {"verdict": "confirmed"}}}
        new = evidence.merged(old, [result()], WHERE, complete=True)
        assert list(new["rules"]) == ["TFM305"]
        assert new["versions"] == WHERE.versions
        kept = new["rules"]["TFM305"]
        assert (kept["verdict"], kept["metric"], kept["before"], kept["ratio"], kept["repeats"]) == (
            "confirmed", "peak_bytes", 300 * MIB, 15.0, 3,
        )  # fmt: skip

    def test_a_run_of_some_rules_leaves_the_others(self) -> None:
        old = evidence.merged({}, [result("TFM101")], WHERE, complete=True)
        new = evidence.merged(old, [result()], WHERE, complete=False)
        assert list(new["rules"]) == ["TFM101", "TFM305"]
        assert "versions" not in new["rules"]["TFM305"]

    def test_what_was_made_elsewhere_says_where(self) -> None:
        old = evidence.merged({}, [result("TFM101")], WHERE, complete=True)
        other = Environment({"tensorflow": "2.22.0"}, "CPU (aarch64 Linux)")
        new = evidence.merged(old, [result()], other, complete=False)
        assert new["versions"] == WHERE.versions
        assert new["rules"]["TFM305"]["versions"] == {"tensorflow": "2.22.0"}
        assert new["rules"]["TFM305"]["device"] == "CPU (aarch64 Linux)"

    @pytest.mark.parametrize("complete", [True, False])
    def test_a_card_and_the_cpu_leave_each_other_s_figures_alone(self, complete: bool) -> None:
        card = Environment({"tensorflow": "2.22.0"}, "NVIDIA H200, driver 580", on_card=True)
        on_cpu = evidence.merged({}, [result("TFM101"), result()], WHERE, complete=True)
        both = evidence.merged(on_cpu, [result()], card, complete)
        assert {name: part for name, part in both.items() if name != "gpu"} == on_cpu
        assert (both["gpu"]["device"], list(both["gpu"]["rules"])) == ("NVIDIA H200, driver 580", ["TFM305"])
        assert "versions" not in both["gpu"]["rules"]["TFM305"]
        again = evidence.merged(both, [result("TFM701")], WHERE, complete)
        assert again["gpu"] == both["gpu"]
        assert list(again["rules"]) == (["TFM701"] if complete else ["TFM101", "TFM305", "TFM701"])
        more = evidence.merged(both, [result("TFM701")], card, complete=False)
        assert list(more["gpu"]["rules"]) == ["TFM305", "TFM701"] and more["rules"] == both["rules"]

    @pytest.mark.parametrize(
        ("value", "kept"), [(1233.17764, 1233.178), (0.4567891, 0.4568), (9.15312e-06, 9.153e-06), (4.0, 4), (0.0, 0)]
    )
    def test_small_figures_keep_their_digits(self, value: float, kept: float) -> None:
        verdict = Verdict(CONFIRMED, "", "value", "", value, 1.0, 0.0, 3)
        assert evidence.entry(result(verdict=verdict))["before"] == kept

    def test_a_broken_file_is_refused(self, tmp_path: Path) -> None:
        path = tmp_path / "evidence.json"
        for text in ("[1]", '{"gpu": 1}', '{"gpu": {"rules": []}}'):
            path.write_text(text, encoding="utf-8")
            with pytest.raises(EvidenceError, match="not an evidence file"):
                evidence.read_evidence(path)


class TestReports:
    def text(self, *results: Result) -> str:
        stream = io.StringIO()
        report.write_text(results, WHERE, stream, Style(False))
        return stream.getvalue()

    def test_the_table_shows_figures_and_verdict(self) -> None:
        lines = self.text(result()).splitlines()
        assert lines[1].split("  ")[0] == "TFM305-cache"
        for word in ("peak of tensors", "300 MiB", "20 MiB", "280 MiB", "15x", "confirmed"):
            assert word in lines[1]
        assert "    x=float32[3] stands in for load()" in lines
        assert "1 confirmed" in lines
        assert lines[-1].startswith("python 3.12.1, tensorflow 2.21.0; CPU (x86_64 Linux); 3 runs each")

    def test_a_reason_stands_below_its_finding(self) -> None:
        verdict = Verdict(INCONCLUSIVE, "parameter x is not known\x1b[31m")
        shown = self.text(result(place="a.py:3:1", verdict=verdict, pair=None, before=(), after=()))
        assert "a.py:3:1 TFM305" in shown
        assert "    parameter x is not known\\x1b[31m" in shown

    def test_a_long_path_keeps_its_end(self) -> None:
        shown = self.text(result(place="a/very/long/" + "folder/" * 9 + "train.py:42:7")).splitlines()[1]
        assert shown.startswith("...") and "folder/train.py:42:7 TFM305" in shown
        assert len(shown) < 140

    def test_without_findings_it_says_so(self) -> None:
        assert self.text() == "no findings to verify\n"

    def test_json_holds_every_figure(self) -> None:
        stream = io.StringIO()
        report.write_json([result()], WHERE, stream)
        document = json.loads(stream.getvalue())
        (record,) = document["results"]
        assert record["saved"] == 280 * MIB and record["verdict"] == "confirmed"
        assert record["runs"]["before"][0]["peak-bytes"] == 300 * MIB
        assert record["programs"]["after"]["source"] == "a = 1\nb = 3\n"
        assert document["environment"]["versions"]["tensorflow"] == "2.21.0"

    def test_the_lines_of_a_rule_s_page(self) -> None:
        kept = evidence.merged({}, [result()], WHERE, complete=True)
        lines = report.measured("TFM305", kept)
        assert lines[2] == "| peak of tensors | 300 MiB | 20 MiB | 280 MiB | 15x | confirmed |"
        assert "tensorflow 2.21.0" in lines[-1]
        assert report.measured("TFM999", kept) == []

    @pytest.mark.parametrize(
        ("value", "unit", "metric", "words"),
        [
            (1536.0, "bytes", "rss", "1.5 KiB"),
            (-1024.0, "bytes", "rss_slope", "-1 KiB"),
            (0.25, "s", "seconds", "0.25 s"),
            (7.0, "", "traces", "7"),
            (2.345, "", "value", "2.35"),
            (9.153e-06, "", "value", "9.15e-06"),
            (1.0, "", "error", "yes"),
            (None, "bytes", "rss", "-"),
        ],
    )
    def test_figures_in_words(self, value: float | None, unit: str, metric: str, words: str) -> None:
        assert report.figure(value, unit, metric) == words

    def test_the_environment_is_what_the_runs_say(self) -> None:
        run = Run("ok", device="CPU:0", versions={"tensorflow": "2.21.0"})
        made = environment([result(before=(run,))], Settings(repeat=2), "contained")
        assert made.versions == {"tensorflow": "2.21.0"} and made.device.startswith("CPU") and made.repeats == 2
        assert not made.on_card

    @pytest.mark.parametrize(
        ("run", "device"),
        [
            (Run("ok", device="GPU:0", peak_bytes=5, card="NVIDIA H200, driver 580"), "NVIDIA H200, driver 580"),
            (Run("ok", device="GPU:0", peak_bytes=5), "GPU"),
            (Run("ok", device="GPU:0", card="NVIDIA H200, driver 580"), None),
            (Run("ok", device="GPU:0", peak_bytes=5, simulated=2), None),
            (Run("ok", device="CPU:0", peak_bytes=5, card="NVIDIA H200, driver 580"), None),
        ],
    )
    def test_a_card_counts_where_a_program_has_used_it(self, run: Run, device: str | None) -> None:
        made = environment([result(before=(run,))], Settings(), "")
        assert (made.device if made.on_card else None) == device

    def test_simulated_cards_are_noted(self) -> None:
        simulated = Run("ok", device="CPU:0", simulated=1)
        assert "1 graphics card was simulated for TensorFlow's own checks" in result(before=(simulated,)).notes
        assert not any("simulated" in note for note in result().notes)


class TestPage:
    def test_it_needs_nothing_from_elsewhere(self) -> None:
        page = html.page([result()], WHERE)
        for word in ("http:", "https:", "<script", "<link", "@import", "url(", "src="):
            assert word not in page

    def test_it_shows_figures_pictures_and_programs(self) -> None:
        page = html.page([result()], WHERE)
        assert page.count("<svg") == 2
        assert "300 MiB" in page and "bytes held by tensors over time" in page
        assert '<span class="gone">b = 2 &lt; 3</span>' in page
        assert '<span class="come">b = 3</span>' in page
        assert "cache() after &lt;repeat&gt;" in page

    def test_it_is_readable_in_light_and_dark(self) -> None:
        page = html.page([], WHERE)
        assert "color-scheme: light dark" in page and "prefers-color-scheme: dark" in page

    def test_a_finding_without_programs_has_its_reason(self) -> None:
        verdict = Verdict(INCONCLUSIVE, "nothing known")
        page = html.page([result(verdict=verdict, pair=None, before=(), after=())], WHERE)
        assert "nothing known" in page and "<svg" not in page


class TestPictures:
    @pytest.mark.parametrize("limit", [1, 1000, 300 * MIB, 5 * 1024**3 + 7])
    def test_marks_of_an_axis_are_few_and_reach_the_largest_value(self, limit: float) -> None:
        marks = pictures.steps(limit, binary=True)
        assert marks[0] == 0 and 2 <= len(marks) <= 7
        assert marks[-1] >= limit * 0.98

    def test_a_line_rises_at_its_time_and_not_before(self) -> None:
        drawn = pictures.lines([("before", [(0.0, 0.0), (1.0, 100.0)], "before")], str, "words", binary=False)
        assert 'd="M60 134H316V22H316"' in drawn

    def test_thousands_of_points_make_a_short_path_that_keeps_the_peak(self) -> None:
        points = [(number / 10, float(number % 7)) for number in range(10_000)]
        points[5_000] = (500.0, 1000.0)
        drawn = pictures.lines([("before", points, "before")], str, "words", binary=False)
        assert "V22V" in drawn and len(drawn) < 20_000

    def test_a_sparkline_shows_the_largest_value_of_each_stretch(self) -> None:
        assert pictures.sparkline([0, 0, 8, 0, 4, 4], columns=3) == " \u2588\u2584"
        assert pictures.sparkline([]) == ""


class TestCommand:
    def run(self, *words: str) -> int:
        return commands.main(["verify", *words])

    def test_dry_run_prints_the_programs_and_runs_nothing(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        folder(tmp_path / "fx", "TFM305-cache", TestSamples.GOOD, "boom(1)", "boom(2)")
        assert self.run("--rules", "--fixtures", str(tmp_path / "fx"), "--dry-run") == 0
        printed = capsys.readouterr().out
        assert "TFM305-cache: before" in printed and "boom(1)" in printed and "boom(2)" in printed

    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (("--rules", "TFM999"), "no sample to measure for 'TFM999'"),
            (("--repeat", "0", "x.py"), "not a number over 0"),
            (("--device", "tpu", "x.py"), "invalid choice: 'tpu'"),
            ((), "name files or folders to verify"),
            (("--rules", "--fixtures", "/nonexistent"), "/nonexistent: no such folder"),
        ],
    )
    def test_wrong_usage_is_one_line_and_exit_2(
        self, words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.run(*words) == 2
        error = capsys.readouterr().err
        assert said in error and error.count("\n") == 1

    @pytest.mark.tensorflow
    @pytest.mark.skipif(sandbox.has_cards(), reason="there is a graphics card")
    def test_without_a_card_there_is_no_evidence_for_one(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        program = "import tensorflow as tf\nx = tf.ones([10, 1024])\n"
        folder(tmp_path / "fx", "TFM701-holds", '[measure]\nmetric = "peak_bytes"\n', program, program)
        kept = tmp_path / "evidence.json"
        words = ("--rules", "--fixtures", str(tmp_path / "fx"), "--evidence", str(kept), "--repeat", "1")
        assert self.run(*words, "--device", "gpu") == 2
        assert "no program could use a graphics card; nothing is kept" in capsys.readouterr().err
        assert not kept.exists()

    @pytest.mark.tensorflow
    def test_evidence_is_gathered_written_and_held_against_the_claim(
        self, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        program = "import tensorflow as tf\nx = tf.ones([{size}, 1024, 256])\n"
        case = '[measure]\nmetric = "peak_bytes"\nmin-ratio = {ratio}\n'
        root = tmp_path / "fx"
        both = program.format(size=40), program.format(size=10)
        folder(root, "TFM701-holds", case.format(ratio=3.5), *both)
        folder(root, "TFM702-holds-not", case.format(ratio=4.5), *both)
        kept, page = tmp_path / "evidence.json", tmp_path / "page.html"
        words = ("--rules", "--fixtures", str(root), "--evidence", str(kept), "--html", str(page), "--repeat", "2")
        assert self.run(*words, "--device", "cpu") == 1
        rules = json.loads(kept.read_bytes())["rules"]
        assert rules["TFM701"]["verdict"] == "confirmed"
        assert rules["TFM701"]["before"] == pytest.approx(40 * MIB, abs=MIB)
        assert rules["TFM701"]["noise"] == 0
        assert rules["TFM702"]["verdict"] == "not confirmed"
        assert "TFM702-holds-not" in page.read_text(encoding="utf-8")
        assert "1 confirmed, 1 not confirmed" in capsys.readouterr().out
