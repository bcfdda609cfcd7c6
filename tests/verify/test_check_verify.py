"""`tfmemlint check --verify`: findings that a measurement speaks against are marked, and baselines can take them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from command_line import Run, write

from tfmemlint.cli.verify import checked
from tfmemlint.verify.findings import Task, Watcher
from tfmemlint.verify.result import Result
from tfmemlint.verify.run.measure import Settings
from tfmemlint.verify.verdicts import CONFIRMED, NEEDS_MORE, NOT_CONFIRMED, REPAIR_FAILS, Verdict, inconclusive

HEAD = "import tensorflow as tf\n"
MIB = 1 << 20
VERDICTS = {
    "first": Verdict(CONFIRMED, "", "peak_bytes", "bytes", 8 * MIB, 4 * MIB, 0.0, 1),
    "second": Verdict(NOT_CONFIRMED, "the difference is within the noise", "peak_bytes", "bytes", 4 * MIB, 4 * MIB),
    "third": Verdict(REPAIR_FAILS, "the repaired program raises NameError: name 'calm'", "error"),
    "fourth": Verdict(NEEDS_MORE, "", "live_bytes", "bytes", MIB, 3 * MIB),
    "fifth": inconclusive("the rule has nothing to compare"),
}


@pytest.fixture
def five(run: Run, word_rules: None, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a command line over five findings in a.py, of which each has its verdict at once."""

    def measured(tasks: Sequence[Task], chosen: Settings, watcher: Watcher) -> list[Result]:
        names = {f"{row + 2}": name for row, name in enumerate(VERDICTS)}
        rows = [task.place.split(":")[1] for task in tasks]
        return [Result("ABC001", "loud-word", row, "", VERDICTS[names[row]]) for row in rows]

    monkeypatch.setattr(checked, "measured", measured)
    monkeypatch.setattr(checked, "announce", lambda programs, chosen: "")
    write(a=HEAD + "".join(f"{name} = shout\n" for name in VERDICTS))
    return run


def test_what_a_measurement_contradicts_has_a_note_below_it(five: Run) -> None:
    result = five("check", "--verify")
    assert result.code == 1
    assert [line.strip() for line in result.out.splitlines() if line.startswith("  measured")] == [
        "measured: not confirmed: peak of tensors 4 MiB before, 4 MiB after; the difference is within the noise",
        "measured: the repair fails here: the repaired program raises NameError: name 'calm'",
        "measured: needs more after the repair: tensors at the end 1 MiB before, 3 MiB after",
    ]
    above = result.out.partition("  measured: not confirmed")[0].splitlines()
    assert [line for line in above if line.startswith("a.py")][-1] == "a.py:3:10: warning ABC001 loud-word"
    assert result.err == (
        "tfmemlint: measured: 1 confirmed, 1 not confirmed, 1 needs more after the repair, 1 the repair fails here, "
        "1 inconclusive\n"
    )
    assert "measured:" not in five("check").out


def test_json_has_the_verdicts_of_a_run_that_measured(five: Run) -> None:
    found = json.loads(five("check", "--verify", "--output-format=json").out)
    assert [each["verified"]["verdict"] for each in found] == [verdict.kind for verdict in VERDICTS.values()]
    assert [each["verified"]["contradicted"] for each in found] == [False, True, True, True, False]
    assert (found[0]["verified"]["before"], found[0]["verified"]["after"]) == (8 * MIB, 4 * MIB)
    assert not any("verified" in each for each in json.loads(five("check", "--output-format=json").out))


def test_sarif_has_them_among_its_properties(five: Run) -> None:
    results = json.loads(five("check", "--verify", "--output-format=sarif").out)["runs"][0]["results"]
    kinds = [each["properties"]["verified"]["verdict"] for each in results]
    assert kinds == [verdict.kind for verdict in VERDICTS.values()]


@pytest.mark.parametrize("name", ["github", "junit", "rdjson", "concise"])
def test_other_formats_say_it_too(name: str, five: Run) -> None:
    shown = five("check", "--verify", f"--output-format={name}").out
    assert shown.count("the repair fails here") == 1 and shown.count("needs more after the repair") == 1
    assert "inconclusive" not in shown


def test_a_baseline_takes_what_is_contradicted_and_nothing_else(five: Run) -> None:
    result = five("check", "--verify", "--write-baseline=base.json")
    assert (result.code, "accepted 3 findings in base.json" in result.err) == (0, True)
    left = json.loads(five("check", "--baseline=base.json", "--output-format=json").out)
    assert [each["location"]["row"] for each in left] == [2, 6]


def test_a_baseline_keeps_what_it_had_accepted_and_is_still_found(five: Run) -> None:
    text = Path("a.py").read_text()
    write(a="\n".join([*text.splitlines()[:2], "gone = shout"]))
    assert "accepted 2 findings" in five("check", "--write-baseline=base.json").err
    write(a=text)
    result = five("check", "--verify", "--write-baseline=base.json")
    assert "accepted 4 findings" in result.err  # the confirmed one as well, as it was there before
    assert " confirmed" not in result.err.replace("not confirmed", "")  # which was not measured again
    left = json.loads(five("check", "--baseline=base.json", "--output-format=json").out)
    assert [each["location"]["row"] for each in left] == [6]


def test_accepted_findings_are_not_measured(five: Run) -> None:
    five("check", "--write-baseline=base.json")
    assert five("check", "--verify", "--baseline=base.json").err == ""


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--fix"], "--verify and --fix cannot be used together; leave one of them out"),
        (["--diff"], "--verify and --diff cannot be used together; leave one of them out"),
        (["--add-ignore"], "--verify and --add-ignore cannot be used together; leave one of them out"),
        (["-"], "--verify needs files; it cannot be used with standard input"),
    ],
)
def test_what_verify_cannot_be_used_with(words: list[str], said: str, run: Run) -> None:
    result = run("check", "--verify", *words)
    assert (result.code, result.err) == (2, f"tfmemlint: error: {said}\n")


def test_an_interpreter_without_tensorflow_is_one_line(run: Run, word_rules: None) -> None:
    write(a=HEAD + "x = shout\n")
    result = run("check", "--verify=not_there")
    assert (result.code, result.out) == (2, "")
    assert result.err == "tfmemlint: error: --verify: cannot start not_there: No such file or directory\n"


def test_no_configuration_asks_for_it(run: Run, word_rules: None) -> None:
    write(a=HEAD + "x = shout\n")
    Path("tfmemlint.toml").write_text("verify = true\n")
    assert "verify" in run("check").err
    assert run("check", "--config", "verify = true").code == 2


@pytest.mark.tensorflow
def test_findings_are_measured_from_end_to_end(run: Run, word_rules: None) -> None:
    write(a=HEAD + "big, calm = 8 << 20, 4 << 20\nshout = big\nx = tf.zeros([shout])\n")
    result = run("check", "--verify", "--output-format=json")
    assert "running " in result.err and ", once each, with " in result.err
    fails, less = (each["verified"] for each in json.loads(result.out))
    assert (fails["verdict"], fails["contradicted"]) == ("the repair fails here", True)
    assert "NameError" in fails["reason"]
    assert (less["verdict"], less["contradicted"]) == ("confirmed", False)
    assert less["before"] >= 32 * MIB > 17 * MIB > less["after"]
