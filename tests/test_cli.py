"""The command line as users meet it: commands, options, exit codes, and what is printed where."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
from command_line import HEAD, Run, git, write
from packs import Install, rule_module

import tfmemlint
from tfmemlint.cli import output
from tfmemlint.cli.commands import main
from tfmemlint.report import FORMATS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

REPEATED = """import tensorflow as tf


def pipeline(files):
    return tf.data.TFRecordDataset(files).repeat().cache().batch(8).prefetch(tf.data.AUTOTUNE)
"""
REPAIRED = REPEATED.replace(".repeat().cache()", ".cache().repeat()")


pytestmark = pytest.mark.usefixtures("here")


# -- the command itself -----------------------------------------------------------------------------------------------


def test_version_and_help(run: Run) -> None:
    assert run("--version").out == f"tfmemlint {tfmemlint.__version__}\n"
    for words in (["--help"], ["-h"], ["help"]):
        result = run(*words)
        assert result.code == 0
        assert "tfmemlint check --fix PATHS" in result.out
    for command in ("check", "rule", "rules", "config", "verify", "run"):
        result = run(command, "--help")
        assert (result.code, result.err) == (0, "")
        assert result.out.startswith(f"usage: tfmemlint {command}")


def test_no_command_is_wrong_usage(run: Run) -> None:
    result = run()
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith("usage: tfmemlint COMMAND")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["src"], "no command 'src'; to lint, write `tfmemlint check src`"),
        (["a.py", "-q"], "no command 'a.py'; to lint, write `tfmemlint check a.py -q`"),
        (["chekc"], "no command 'chekc'; did you mean `tfmemlint check`?"),
        (["check", "--fixx"], "unrecognized arguments: --fixx; did you mean --fix?"),
        (["check", "--jobs", "many"], "argument -j/--jobs: 'many' is not a number of processes; write one, or auto; "
                                      "`tfmemlint check --help` shows how"),
        (["check", "--min-bytes", "big"], "argument --min-bytes: 'big' is not a size; write a number of "),
        (["check", "--fail-on", "never"], "argument --fail-on: 'never' is none of error, warning, info; "
                                          "`tfmemlint check --help` shows how"),
        (["check", "--select", ","], "argument --select: expected at least one value; "
                                     "`tfmemlint check --help` shows how"),
        (["check", "--diff", "--write-baseline"], "--diff and --write-baseline cannot be used together; "
                                                  "leave one of them out"),
        (["check", "--fix", "--add-ignore"], "--fix and --add-ignore cannot be used together; leave one of them out"),
        (["check", "--isolated", "--config", "x.toml"], "--isolated and --config FILE cannot be used together; "
                                                        "leave one of them out"),
        (["check", "--config", "x.toml", "--config", "y.toml"], "--config names two files, x.toml and "),
        (["check", "-", "a.py"], "- (standard input) and files cannot be read together; name one or the other"),
        (["check", "-", "--add-ignore"], "--add-ignore needs files; it cannot be used with standard input"),
        (["check", "--config", "gone.toml"], "gone.toml: cannot be read: No such file or directory"),
        (["check", "--config", "select = 5"], "--config: select: expected a list, got a whole number"),
        (["check", "--config", "select"], "select: cannot be read: No such file or directory"),
        (["check", "--config", "a = b = c"], "--config: is not valid TOML: "),
        (["check", "--select", "TFM999"], "--select: unknown rule selector 'TFM999'; `tfmemlint rules` lists all "),
        (["check", "--ignore", "cache-after-repeet"], "--ignore: unknown rule selector 'cache-after-repeet'; did you "),
        (["check", "--output-format", "xml"], "argument --output-format: invalid choice: 'xml' (choose from "),
        (["rule", "cache-after-repeet"], "no rule 'cache-after-repeet'; did you mean TFM305 (cache-after-repeat)?"),
        (["rule"], "name one rule, or --all; `tfmemlint rule --help` shows how"),
        (["rule", "TFM305", "--all"], "name one rule, or --all; `tfmemlint rule --help` shows how"),
        (["rule", "TFM30x"], "no rule 'TFM30x'; did you mean TFM3"),
        (["explain", "TFM305"], "no command 'explain'; did you mean `tfmemlint rule`?"),
        (["check", "--exit-zer"], "unrecognized arguments: --exit-zer; did you mean --exit-zero?"),
        (["estimate", "--gpus=T4", "."], "unrecognized arguments: --gpus=T4; did you mean --gpu?"),
        (["config", "slect"], "no key 'slect'; did you mean 'select'?"),
        (["config", "--path", "gone"], "--path gone: no such file or directory"),
    ],
)  # fmt: skip
def test_wrong_usage_is_one_line_and_exit_2(words: list[str], expected: str, run: Run) -> None:
    write(a=REPEATED)
    result = run(*words)
    assert (result.code, result.out) == (2, "")
    assert result.err.startswith(f"tfmemlint: error: {expected}")
    assert result.err.count("\n") == 1


def test_nothing_is_called_clean_that_could_not_be_read(run: Run) -> None:
    write(a=HEAD)
    assert run("check", "gone.py").out.startswith("Read 0 files, ")
    assert run("check", "a.py").out.startswith("No findings. Read 1 file, ")


def test_it_runs_as_a_module_and_as_a_script() -> None:
    write(a=REPEATED)
    script = Path(sys.executable).with_name("tfmemlint")
    for command in ([sys.executable, "-m", "tfmemlint"], [str(script)]):
        done = subprocess.run([*command, "check", "--no-cache", "--select=TFM305"], capture_output=True, text=True)
        assert done.returncode == 1
        assert done.stdout.startswith("a.py:5:52: warning TFM305 cache-after-repeat\n")
        assert done.stderr == ""


def test_an_internal_error_is_one_line_and_exit_3(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("oh")

    monkeypatch.setattr("tfmemlint.cli.check.discover", broken)
    result = run("check")
    assert result.code == 3
    assert result.err == "tfmemlint: internal error: ZeroDivisionError: oh; --verbose shows where\n"
    assert "Traceback" in run("check", "--verbose").err


def test_an_interrupt_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("tfmemlint.cli.check.discover", interrupted)
    result = run("check")
    assert (result.code, result.err) == (130, "tfmemlint: interrupted\n")


@pytest.mark.parametrize(("option", "expected"), [("--no-cache", 1), ("--exit-zero", 0)])
def test_a_reader_that_stops_reading_is_no_error(option: str, expected: int) -> None:
    for number in range(300):
        write(**{f"f{number}": REPEATED})
    command = [sys.executable, "-m", "tfmemlint", "check", option]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == expected


# -- findings and exit codes ------------------------------------------------------------------------------------------


def test_a_real_finding_from_end_to_end(run: Run) -> None:
    Path("tfmemlint.toml").write_text('select = ["TFM305"]\n')
    write(train=REPEATED)
    result = run("check")
    assert result.code == 1
    assert result.out.startswith("train.py:5:52: warning TFM305 cache-after-repeat\n")
    assert "safe fix: " in result.out
    assert "Found 1 finding (1 warning); 1 fixable with --fix. Read 1 file, in " in result.out
    fixed = run("check", "--fix")
    assert (fixed.code, Path("train.py").read_text()) == (0, REPAIRED)
    assert fixed.out.startswith("Fixed 1 finding; no findings left. Read 1 file, in ")
    assert run("check").code == 0


def test_the_working_directory_is_the_default(run: Run) -> None:
    Path("sub").mkdir()
    Path("sub/a.py").write_text(REPEATED)
    assert run("check", "--select=TFM305", "--output-format=concise").out.startswith(
        f"sub{os.sep}a.py:5:52: TFM305 ".replace("\\", "/")
    )


def test_json_is_one_array_and_nothing_else(run: Run, here: Path) -> None:
    write(a=REPEATED, b="x = 1\n", c="import keras\n")
    (record,) = json.loads(run("check", "--select=TFM305", "--output-format", "json").out)
    assert record["code"] == "TFM305"
    assert record["filename"] == str(here / "a.py")
    assert record["location"] == {"row": 5, "column": 52}
    assert record["fix"]["applicability"] == "safe"
    clean = run("check", "--output-format", "json", "c.py")
    assert (clean.code, clean.out, clean.err) == (0, "[]\n", "")


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_is_offered_and_names_the_finding(name: str, run: Run) -> None:
    write(a=REPEATED)
    result = run("check", "--output-format", name)
    assert (result.code, result.err) == (1, "")
    assert "TFM305" in result.out


@pytest.mark.parametrize(
    ("text", "words", "expected"),
    [
        ("x\n", [], 0),
        ("whisper\n", [], 0),
        ("whisper\n", ["--fail-on", "info"], 1),
        ("shout\n", [], 1),
        ("shout\n", ["--fail-on", "error"], 0),
        ("scream\n", ["--fail-on", "error"], 1),
        ("shout\n", ["--exit-zero"], 0),
        ("shout\n", ["--fix"], 0),
        ("shout\n", ["--fix", "--exit-non-zero-on-fix"], 1),
        ("x\n", ["--fix", "--exit-non-zero-on-fix"], 0),
        ("shout\nscream\n", ["--fix"], 1),
        ("shout\n", ["--diff"], 1),
        ("whisper\n", ["--diff", "--unsafe-fixes"], 1),
        ("whisper\n", ["--diff"], 0),
        ("shout\n", ["--diff", "--exit-zero"], 0),
        ("def f(:\n", [], 1),
        ("def f(:\n", ["--exit-zero"], 0),
        ("mumble\n", [], 0),
        ("mumble\n", ["--preview"], 1),
    ],
)
def test_exit_codes(text: str, words: list[str], expected: int, run: Run, word_rules: None) -> None:
    write(a=HEAD + text)
    assert run("check", *words).code == expected


UNCHECKED = {"syntax-error": "def f(:\n", "unreadable-file": "\0"}


@pytest.mark.parametrize("name", UNCHECKED)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--ignore=NAME"], 0),
        (["--ignore=ALL"], 0),
        (["--exit-zero"], 0),
        (["--select=ABC"], 1),
        (["--config", "severity = {NAME = 'info'}"], 0),
        (["--config", "per-file-ignores = {'a.py' = ['NAME']}"], 0),
        (["--config", "per-file-ignores = {'b.py' = ['NAME']}"], 1),
    ],
)
def test_files_that_cannot_be_checked_are_configured_like_rules(
    name: str, words: list[str], expected: int, run: Run, word_rules: None
) -> None:
    write(a=HEAD + UNCHECKED[name], b=HEAD)
    for _ in range(2):  # the second time from the cache
        result = run("check", "--output-format=concise", *(word.replace("NAME", name) for word in words))
        assert result.code == expected
        assert (name in run("check", "--output-format=json", *(word.replace("NAME", name) for word in words)).out) is (
            expected == 1 or "--exit-zero" in words or "severity" in words[-1]
        )


def test_a_file_that_cannot_be_opened_is_configured_like_a_rule(run: Run, word_rules: None) -> None:
    write(a=HEAD)
    os.symlink("there.py", "here.py")
    os.symlink("here.py", "there.py")
    assert run("check", "a.py", "here.py").code == 1
    assert run("check", "a.py", "here.py", "--ignore=TFM001").code == 0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {"ABC001", "ABC002", "ABC004"}),
        (["--select", "ABC001"], {"ABC001"}),
        (["--select", "ABC001,ABC002"], {"ABC001", "ABC002"}),
        (["--select", "ABC001", "--select", "soft-word"], {"ABC001", "ABC002"}),
        (["--select=ALL"], {"ABC001", "ABC002", "ABC003", "ABC004"}),
        (["--select=ADVICE"], {"ABC003"}),
        (["--extend-select=ADVICE"], {"ABC001", "ABC002", "ABC003", "ABC004"}),
        (["--ignore=ABC001"], {"ABC002", "ABC004"}),
        (["--extend-ignore", "ABC"], set()),
        (["--select=ABC", "--ignore=ABC002,ABC003"], {"ABC001", "ABC004"}),
        (["--preview"], {"ABC001", "ABC002", "ABC003", "ABC004"}),
        (["--config", 'select = ["ABC003"]'], {"ABC003"}),
        (["--config", 'select = ["ABC003"]', "--select", "ABC004"], {"ABC004"}),
        (["--least-cost", "1GiB"], {"ABC002", "ABC004"}),
        (["--min-bytes", "1GiB"], {"ABC001", "ABC002", "ABC004"}),
    ],
)
def test_selection(words: list[str], expected: set[str], run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\nwhisper\nmumble\nscream\n")
    result = run("check", "--output-format=json", *words)
    assert {record["code"] for record in json.loads(result.out)} == expected


def test_the_configuration_file_is_used_and_isolated_leaves_it_out(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\nmumble\n")
    Path("pyproject.toml").write_text('[tool.tfmemlint]\nselect = ["ABC003"]\noutput-format = "concise"\n')
    assert run("check").out == "a.py:3:1: ABC003 found mumble [safe fix]\n"
    isolated = run("check", "--isolated", "--output-format=concise")
    assert isolated.out == "a.py:2:1: ABC001 found shout [safe fix]\n"
    Path("other.toml").write_text('ignore = ["ABC001"]\n')
    assert run("check", "--config", "other.toml", "--output-format=concise").out == ""


def test_the_configuration_of_another_project_is_its_own(run: Run, word_rules: None) -> None:
    Path("project/src").mkdir(parents=True)
    Path("project/src/a.py").write_text(HEAD + "shout\n")
    Path("project/tfmemlint.toml").write_text('fail-on = "error"\noutput-format = "concise"\n')
    result = run("check", "project/src")
    assert (result.code, result.out) == (0, "project/src/a.py:2:1: ABC001 found shout [safe fix]\n")


def test_patterns_of_the_command_line_are_taken_from_here(
    run: Run, word_rules: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("src/old").mkdir(parents=True)
    Path("old").mkdir()
    Path("tfmemlint.toml").write_text('output-format = "concise"\n')
    for name in ("src/a.py", "src/old/b.py", "old/c.py"):
        Path(name).write_text(HEAD + "shout\n")
    monkeypatch.chdir("src")
    assert run("check", "--extend-exclude", "old/*.py,other", "..").out.split(":")[0] == str(
        Path.cwd().parent / "old/c.py"
    )
    assert run("check", "--extend-exclude", "old/b.py").out.split(":")[0] == "a.py"


def test_fail_on_is_that_of_each_file(run: Run, word_rules: None) -> None:
    Path("old").mkdir()
    Path("old/tfmemlint.toml").write_text('fail-on = "error"\n')
    Path("old/a.py").write_text(HEAD + "shout\n")
    assert run("check").code == 0
    write(b=HEAD + "shout\n")
    assert run("check").code == 1


# -- severities and limits --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("ABC001 = 'error'", {"ABC001": "error", "ABC002": "info", "ABC004": "error"}),
        ("loud-word = 'info'", {"ABC001": "info", "ABC002": "info", "ABC004": "error"}),
        ("ALL = 'warning'\nABC002 = 'error'", {"ABC001": "warning", "ABC002": "error", "ABC004": "warning"}),
        ("ABC00 = 'info'\nABC = 'error'", {"ABC001": "info", "ABC002": "info", "ABC004": "info"}),
    ],
)
def test_severities_of_rules_in_the_configuration(
    table: str, expected: dict[str, str], run: Run, word_rules: None
) -> None:
    write(a=HEAD + "shout\nwhisper\nscream\n")
    Path("tfmemlint.toml").write_text(f"[severity]\n{table}\n")
    records = json.loads(run("check", "--output-format=json").out)
    assert {each["code"]: each["severity"] for each in records} == expected
    highest = max(expected.values(), key=("info", "warning", "error").index)
    for level in ("info", "warning", "error"):
        fails = ("info", "warning", "error").index(highest) >= ("info", "warning", "error").index(level)
        assert run("check", "--fail-on", level).code == int(fails)


@pytest.mark.parametrize(("level", "expected"), [("error", 0), ("warning", 1), ("info", 1)])
def test_fail_on_in_the_configuration(level: str, expected: int, run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n")
    Path("tfmemlint.toml").write_text(f"fail-on = '{level}'\n")
    assert run("check").code == expected
    assert run("check", "--fail-on=error").code == 0


def test_findings_known_to_cost_less_are_left_out(run: Run, word_rules: None) -> None:
    """Errors and those of unknown cost stay, and so do fixes of what stays only."""
    write(a=HEAD + "shout\nwhisper\nscream\n")
    for text in ("least-cost = 3000000", "least-cost = '2.5M'"):
        Path("tfmemlint.toml").write_text(f"{text}\n")
        codes = [each["code"] for each in json.loads(run("check", "--output-format=json").out)]
        assert codes == ["ABC002", "ABC004"]
    run("check", "--fix", "--unsafe-fixes")
    assert Path("a.py").read_text() == HEAD + "shout\ncalm\nscream\n"
    assert "ABC001" in run("check", "--least-cost=0", "--output-format=concise").out


def test_the_largest_tensor_to_allow(run: Run) -> None:
    write(a="import tensorflow as tf\nx = tf.zeros((1024, 1024, 4))\n")
    for words, expected in (([], 0), (["--max-tensor=15MiB"], 1), (["--max-tensor", "16MiB"], 0)):
        assert run("check", "--isolated", "--select=TFM701", *words).code == expected
    Path("tfmemlint.toml").write_text("max-tensor = '1MiB'\n")
    assert "16 MiB" in run("check", "--select=TFM701", "--output-format=concise").out
    assert run("check", "--select=TFM701", "--max-tensor=1GiB").code == 0


def test_rules_are_told_the_memory_of_the_card(run: Run, install: Install) -> None:
    told = "yield self.finding(span, file, f'it has {file.config.gpu_memory}')"
    install(a=rule_module("ABC001", "CardSize", "card", body=told))
    write(a=HEAD + "card\n")
    assert "it has None\n" in run("check", "--output-format=concise").out
    Path("tfmemlint.toml").write_text("gpu-memory = '16GiB'\n")
    assert f"it has {16 << 30}\n" in run("check", "--output-format=concise").out
    assert f"it has {8 << 30}\n" in run("check", "--output-format=concise", "--gpu-memory=8GiB").out


CONFIGURATIONS = [
    "select = ['TFM3']\nmin-bytes = '1MiB'", "fail-on = 'info'\nfix = false", "[severity]\nTFM305 = 'error'",
    "baseline = 'base.json'\noutput-format = 'sarif'", "[per-file-ignores]\n'tests/*' = ['ALL']", "gpu-memory = 5",
    "max-tensor = '2 GiB'\ninclude-markdown = true",
    "select = 'TFM3'", "slect = []", "fail-on = 'fatal'", "min-bytes = 'big'", "fix = 1", "gpu-memory = -1",
    "[severity]\nTFM305 = 'bad'", "per-file-ignores = []", "output-format = 'xml'", "exclude = [1]",
]  # fmt: skip


@pytest.mark.parametrize("text", CONFIGURATIONS)
def test_the_printed_schema_takes_what_a_run_takes(text: str, run: Run) -> None:
    schema = json.loads(run("config", "--schema").out)
    jsonschema.Draft202012Validator.check_schema(schema)
    wanted = jsonschema.Draft202012Validator(schema).is_valid(tomllib.loads(text))
    Path("tfmemlint.toml").write_text(text)
    done = run("config")
    assert done.code == (0 if wanted else 2)
    assert wanted or done.err.startswith("tfmemlint: error: tfmemlint.toml: ")


# -- repairs ----------------------------------------------------------------------------------------------------------


def test_safe_and_unsafe_fixes(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\nwhisper\nscream\n")
    run("check", "--fix")
    assert Path("a.py").read_text() == HEAD + "calm\nwhisper\nscream\n"
    run("check", "--fix", "--unsafe-fixes")
    assert Path("a.py").read_text() == HEAD + "calm\ncalm\nscream\n"


@pytest.mark.parametrize("words_", [["--fix", "a.py"], ["a.py", "--fix"], ["--fix"], ["--unsafe-fixes", "--fix", "."]])
def test_fix_without_a_command_is_check_fix(words_: list[str], run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n")
    assert run(*words_).code == 0
    assert Path("a.py").read_text() == HEAD + "calm\n"


def test_diff_prints_a_patch_and_writes_nothing(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n", b=HEAD + "x", c=HEAD + "shout")
    result = run("check", "--diff")
    assert result.out == (
        "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n import keras\n-shout\n+calm\n"
        "--- c.py\n+++ c.py\n@@ -1,2 +1,2 @@\n import keras\n-shout\n\\ No newline at end of file\n"
        "+calm\n\\ No newline at end of file\n"
    )
    assert result.err == "tfmemlint: would fix 2 findings; --fix does it\n"
    assert Path("a.py").read_text() == HEAD + "shout\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_the_patch_applies(end: str, word_rules: None, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    before = f"# coding: latin-1{end}import keras{end}x = 'é'{end}shout{end}y".encode("latin-1")
    Path("a.py").write_bytes(before)
    assert main(["check", "--diff"]) == 1
    subprocess.run(["git", "apply", "-p0"], input=capfdbinary.readouterr().out, check=True)
    assert Path("a.py").read_bytes() == before.replace(b"shout", b"calm")


def test_show_fixes_lists_what_was_fixed(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\nshout\n")
    assert run("check", "--fix", "--show-fixes").err == "tfmemlint: fixed 2 x ABC001 loud-word in a.py\n"


def test_fix_in_the_configuration_and_no_fix(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n")
    Path("tfmemlint.toml").write_text("fix = true\n")
    assert run("check", "--no-fix").code == 1
    assert Path("a.py").read_text() == HEAD + "shout\n"
    assert run("check").code == 0
    assert Path("a.py").read_text() == HEAD + "calm\n"


def test_unfixable_and_promoted_fixes(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\nwhisper\n")
    Path("tfmemlint.toml").write_text('unfixable = ["ABC001"]\nextend-safe-fixes = ["soft-word"]\n')
    run("check", "--fix")
    assert Path("a.py").read_text() == HEAD + "shout\ncalm\n"


# -- standard input ---------------------------------------------------------------------------------------------------


def test_standard_input(run: Run, word_rules: None) -> None:
    result = run("check", "-", "--output-format=concise", stdin=HEAD + "shout\n")
    assert (result.code, result.out) == (1, "-:2:1: ABC001 found shout [safe fix]\n")
    named = run("check", "--stdin-filename=src/a.py", "--output-format=concise", stdin=HEAD + "shout\n")
    assert named.out == "src/a.py:2:1: ABC001 found shout [safe fix]\n"
    assert os.listdir(".") == []


def test_the_configuration_of_standard_input_is_that_of_its_name(run: Run, word_rules: None) -> None:
    Path("src").mkdir()
    Path("src/tfmemlint.toml").write_text('select = ["ABC003"]\n[per-file-ignores]\n"b.py" = ["ABC003"]\n')
    text = HEAD + "shout\nmumble\n"
    assert json.loads(run("check", "-", "--output-format=json", stdin=text).out)[0]["code"] == "ABC001"
    for name, expected in (("src/a.py", ["ABC003"]), ("src/b.py", [])):
        result = run("check", "-", "--output-format=json", "--stdin-filename", name, stdin=text)
        assert [record["code"] for record in json.loads(result.out)] == expected


def test_fixed_standard_input_goes_to_standard_output(run: Run, word_rules: None) -> None:
    result = run("check", "--fix", "-", stdin=HEAD + "shout\nscream\n")
    assert result.out == HEAD + "calm\nscream\n"
    assert result.code == 1
    assert "ABC004" in result.err and "Fixed 1 finding" in result.err
    clean = run("check", "--fix", "-", stdin="x = 1\n")
    assert (clean.code, clean.out) == (0, "x = 1\n")


def test_bytes_of_standard_input_stay_as_they_are(word_rules: None, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    data = b"\xef\xbb\xbfimport keras\r\nshout # \xc3\xa9\r\nx"
    stdin, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(data))
    try:
        assert main(["check", "--fix", "-q", "-"]) == 0
    finally:
        sys.stdin = stdin
    assert capfdbinary.readouterr().out == data.replace(b"shout", b"calm")


def test_diff_of_standard_input(run: Run, word_rules: None) -> None:
    result = run("check", "--diff", "--stdin-filename=a.py", stdin=HEAD + "shout\n")
    assert result.code == 1
    assert result.out == "--- a.py\n+++ a.py\n@@ -1,2 +1,2 @@\n import keras\n-shout\n+calm\n"


def test_excluded_standard_input_comes_back_as_it_is(run: Run, word_rules: None) -> None:
    text = HEAD + "shout\n"
    result = run("check", "--fix", "--force-exclude", "--stdin-filename=build/a.py", stdin=text)
    assert (result.code, result.out) == (0, text)


@pytest.mark.parametrize(
    ("data", "code"), [(b"import keras\n\xff\n", "TFM001"), (b"import keras\ndef f(:\n", "TFM002"), (b"", None)]
)
def test_bad_standard_input(data: bytes, code: str | None, run: Run, word_rules: None) -> None:
    result = run("check", "-", "--output-format=concise", stdin=data)
    assert result.code == (1 if code else 0)
    assert result.out.count("\n") == (1 if code else 0)
    assert (code or "") in result.out
    fixed = run("check", "--fix", "-", "-q", stdin=data)
    assert fixed.code == (1 if code else 0)


def test_unreadable_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    with open(os.devnull, "w", encoding="utf-8") as written, os.fdopen(written.fileno(), closefd=False) as stream:
        monkeypatch.setattr(sys, "stdin", stream)
        assert main(["check", "--isolated", "-"]) == 2
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["check", "--isolated", "-"]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith("tfmemlint: error: standard input cannot be read: ")
    assert second == "tfmemlint: error: standard input is closed"


# -- output -----------------------------------------------------------------------------------------------------------


def test_quiet_prints_findings_only(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n", b=HEAD + "x\n")
    loud, quiet = run("check").out, run("check", "--quiet").out
    assert loud.startswith(quiet.rstrip("\n"))
    assert "Found" not in quiet and "ABC001" in quiet
    clean = run("check", "-q", "b.py")
    assert (clean.code, clean.out, clean.err) == (0, "", "")


def test_verbose_says_what_is_read(run: Run, word_rules: None) -> None:
    write(a=HEAD, b="x\n")
    Path("tfmemlint.toml").touch()
    err = run("check", "--verbose").err
    assert f"configuration: {Path.cwd() / 'tfmemlint.toml'}\n" in err
    assert "reading a.py\n" in err and "reading b.py\n" in err


def test_verbose_names_modules_that_are_not_followed(run: Run, word_rules: None) -> None:
    write(a=HEAD + "import b\nfrom .absent import x\n", b="x = (\n")
    Path("tfmemlint.toml").touch()
    told = "a.py: .absent is not followed: there is no such module\n"
    assert told in run("check", "--verbose").err and "not followed" not in run("check").err
    assert "a.py: b is not followed: b.py:1: cannot parse" in run("check", "--verbose").err


def test_statistics(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\nshout\nscream\n")
    lines = run("check", "--statistics").out.splitlines()
    assert [line.split()[:3] for line in lines[1:3]] == [["2", "ABC001", "loud-word"], ["1", "ABC004", "harsh-word"]]


def test_sort_by_bytes(run: Run, word_rules: None) -> None:
    write(a=HEAD + "whisper\nshout\nscream\n")
    for words_, expected in (([], "214"), (["--sort", "bytes"], "412")):
        result = run("check", "--output-format=concise", *words_)
        assert "".join(line.split("ABC00")[1][0] for line in result.out.splitlines()) == expected


def test_the_report_goes_to_a_file(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n")
    result = run("check", "--output-format=json", "--output-file", "report.json")
    assert (result.code, result.out) == (1, "")
    assert json.loads(Path("report.json").read_text())[0]["code"] == "ABC001"
    wrong = run("check", "-o", "no/such/report.json")
    assert (wrong.code, wrong.err) == (
        2, "tfmemlint: error: --output-file no/such/report.json: no such file or directory\n"
    )  # fmt: skip


@pytest.mark.parametrize(
    ("environment", "colored"),
    [({}, False), ({"FORCE_COLOR": "1"}, True), ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, False)],
)
def test_colours_only_where_wanted(
    environment: dict[str, str], colored: bool, run: Run, word_rules: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    write(a=HEAD + "shout\n")
    assert ("\x1b[" in run("check").out) is colored
    assert "\x1b[" in run("check", "--color=always").out
    assert "\x1b[" not in run("check", "--color", "never").out


@pytest.mark.parametrize("name", ["text", "concise", "grouped", "json", "jsonl", "sarif"])
def test_what_comments_silence_is_shown_and_not_counted(name: str, run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout  # tfmemlint: ignore[ABC001]\n")
    assert run("check", "--output-format", name).code == 0
    plain = run("check", "--output-format", name)  # from the cache
    shown = run("check", "--output-format", name, "--show-suppressed")
    assert (plain.code, shown.code) == (0, 0)
    assert shown.out.count("ABC001") > plain.out.count("ABC001")
    assert "suppress" in shown.out
    if name == "text":
        assert shown.out.splitlines()[-1].startswith("No findings; 1 suppressed. ")
    write(a=HEAD + "shout\n")
    counted = run("check", "--output-format", name, "--show-suppressed")
    assert counted.code == 1
    assert "[suppressed]" not in counted.out and "(suppressed)" not in counted.out


def test_files_are_listed_and_not_read(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n", b=HEAD)
    Path("build").mkdir()
    Path("build/c.py").write_text(HEAD)
    assert run("check", "--show-files").out.splitlines() == ["a.py", "b.py"]
    result = run("check", "--show-files", "a.py", "gone.py")
    assert (result.code, result.out) == (2, "a.py\n")
    assert result.err == "tfmemlint: error: gone.py: no such file or directory\n"


def test_output_that_the_terminal_cannot_show_is_escaped() -> None:
    write(a=REPEATED.replace("files", "naïve"))
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", "check", "--no-cache"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"},
    )
    assert (done.returncode, done.stderr) == (1, b"")
    assert rb"na\xefve" in done.stdout


def test_progress_is_shown_on_a_terminal_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(output, "_SECONDS_OF_SILENCE", -1.0)
    for terminal in (True, False):
        stream = io.StringIO()
        monkeypatch.setattr(stream, "isatty", lambda terminal=terminal: terminal)
        monkeypatch.setattr(sys, "stderr", stream)
        monkeypatch.setenv("TERM", "xterm")
        with output.progress(wanted=True) as tick:
            tick(1, 4)
            tick(3, 4)
        assert ("3/4" in stream.getvalue()) is terminal


def test_no_files_is_a_remark(run: Run) -> None:
    result = run("check")
    assert result.code == 0
    assert result.err == "tfmemlint: warning: no Python files or notebooks found under the given paths\n"
    assert run("check", "-q").err == ""


# -- baselines, ignore comments, changes ------------------------------------------------------------------------------


def test_a_baseline_accepts_what_is_there(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n")
    written = run("check", "--write-baseline")
    assert (written.code, written.out) == (0, "")
    assert written.err == (
        'tfmemlint: accepted 1 finding in tfmemlint-baseline.json; set baseline = "tfmemlint-baseline.json" to use it\n'
    )
    assert run("check").code == 1
    Path("tfmemlint.toml").write_text('baseline = "tfmemlint-baseline.json"\n')
    assert run("check").code == 0
    write(a=HEAD + "\n\nshout\nscream\n")
    assert [each["code"] for each in json.loads(run("check", "--output-format=json").out)] == ["ABC004"]


def test_stale_entries_are_told(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n")
    run("check", "--write-baseline=base.json")
    write(a=HEAD)
    result = run("check", "--baseline", "base.json")
    assert result.code == 0
    assert result.err == (
        "tfmemlint: warning: base.json: stale entry a.py: ABC001 is not found any more; --write-baseline takes it out\n"
    )
    assert run("check", "--baseline", "base.json", "--ignore", "ABC001").err == ""
    assert run("check", "--baseline", "base.json", "--quiet").err == ""


def test_accepted_findings_are_not_repaired(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n")
    run("check", "--write-baseline=base.json")
    write(a=HEAD + "shout\nx = shout\n")
    for words_ in (["--diff"], ["--fix"]):
        result = run("check", *words_, "--baseline=base.json")
    assert result.code == 0
    assert Path("a.py").read_text() == HEAD + "shout\nx = calm\n"


def test_a_missing_baseline_is_an_error(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n")
    result = run("check", "--baseline", "gone.json")
    assert result.code == 2
    assert result.err.startswith("tfmemlint: error: ") and "gone.json: no such baseline" in result.err


@pytest.mark.parametrize(
    ("option", "comment"), [("--add-ignore", ""), ("--add-ignore=known, see #12", " -- known, see #12")]
)
def test_ignore_comments_are_written(option: str, comment: str, run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\nshout; scream\n", b=HEAD)
    result = run("check", option, "a.py")
    assert (result.code, result.err) == (0, "tfmemlint: wrote 2 ignore comments in 1 file\n")
    assert Path("a.py").read_text() == (
        f"{HEAD}shout  # tfmemlint: ignore[ABC001]{comment}\n"
        f"shout; scream  # tfmemlint: ignore[ABC001, ABC004]{comment}\n"
    )
    assert run("check").code == 0


def test_diff_base_reports_and_repairs_changed_lines_only(run: Run, word_rules: None) -> None:
    write(a=HEAD + "shout\n\nx = 1\n", b=HEAD + "shout\n")
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    write(a=HEAD + "shout\n\nx = shout\ny = shout + shout\n")
    result = run("check", "--diff-base", "HEAD", "--output-format=concise")
    assert (result.code, [line.split(" ")[0] for line in result.out.splitlines()]) == (
        1, ["a.py:4:5:", "a.py:5:5:", "a.py:5:13:"]
    )  # fmt: skip
    fixed = run("check", "--diff-base", "HEAD", "--fix")
    assert fixed.code == 0
    assert Path("a.py").read_text() == HEAD + "shout\n\nx = calm\ny = calm + calm\n"
    assert Path("b.py").read_text() == HEAD + "shout\n"


def test_a_revision_that_is_none_is_an_error(run: Run, word_rules: None) -> None:
    write(a=HEAD)
    git("init", "-q")
    git("add", ".")
    git("commit", "-q", "-m", "first")
    result = run("check", "--diff-base", "nope")
    assert result.code == 2
    assert result.err.startswith("tfmemlint: error: --diff-base nope: no such revision")


# -- other commands ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("word", ["TFM305", "tfm305", "cache-after-repeat"])
def test_a_rules_page(word: str, run: Run) -> None:
    result = run("rule", word)
    assert result.code == 0
    assert result.out.startswith("# TFM305: cache-after-repeat\n")
    for heading in ("## What it does", "## Why it costs memory", "## Fix safety"):
        assert heading in result.out


def test_a_rules_page_has_what_was_measured_and_its_address(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\n## Measured\nTwo programs," in run("rule", "TFM305").out
    assert json.loads(run("rule", "TFM305", "--output-format=json").out)["url"] is None
    monkeypatch.setattr("tfmemlint.report.site.base", lambda: "https://docs.example.org/")
    address = "https://docs.example.org/rules/TFM305/"
    assert run("rule", "TFM305").out.splitlines()[-1] == address
    assert json.loads(run("rule", "TFM305", "--output-format=json").out)["url"] == address


def test_a_page_is_drawn_where_colours_are_and_markdown_elsewhere(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = run("rule", "TFM305").out
    assert "\x1b" not in plain and "```python" in plain
    drawn = run("rule", "TFM305", "--color=always").out
    assert "\x1b[" in drawn and "cache-after-repeat" in drawn
    assert not re.search(r"```|^#|^\|-|`", drawn, re.MULTILINE)
    assert not re.search(r"\x1b\[(\d+;)*4\d", drawn), "a background would hide text on some terminals"
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert run("rule", "TFM305").out == drawn
    assert run("rule", "TFM305", "--color=never").out == plain
    assert json.loads(run("rule", "TFM305", "--output-format=json").out)["page"] == plain


@pytest.mark.parametrize("code", ["TFM000", "TFM001", "TFM002", "TFM003"])
def test_the_tools_own_codes_have_pages(code: str, run: Run) -> None:
    assert run("rule", code).out.startswith(f"# {code}: ")


def test_rules_as_a_table_and_as_json(run: Run) -> None:
    lines = run("rules").out.splitlines()
    assert lines[0].split() == ["code", "name", "severity", "default", "fix", "summary"]
    kinds = {line.split()[0]: line.split()[4] for line in lines if line.startswith(("TFM301", "TFM305", "TFM308"))}
    assert kinds == {"TFM301": "shown", "TFM305": "safe/unsafe", "TFM308": "unsafe"}
    records = json.loads(run("rules", "--output-format=json").out)
    assert [line.split()[:2] for line in lines[1:]] == [[each["code"], each["name"]] for each in records]
    assert [each["code"] for each in records] == sorted(each["code"] for each in records)
    (cache,) = [each for each in records if each["code"] == "TFM305"]
    assert (cache["severity"], cache["default"], cache["fix"]) == ("warning", True, ["safe", "unsafe"])
    group = run("rule", "tfm30").out.splitlines()
    assert [line.split()[0] for line in group] == ["code", *(f"TFM30{number}" for number in range(1, 10))]
    assert json.loads(run("rule", "TFM9", "--output-format=json").out)[0]["code"] == "TFM901"
    pages = run("rule", "--all").out
    assert [run("rule", code).out in pages for code in ("TFM000", "TFM305", "TFM904")] == [True] * 3
    page = json.loads(run("rule", "TFM305", "--output-format=json").out)
    assert page["page"] == run("rule", "TFM305").out


def test_the_configuration_in_effect_can_be_read_back(run: Run, here: Path) -> None:
    Path("tfmemlint.toml").write_text(
        'select = ["TFM3"]\nmin-bytes = "1MiB"\nfail-on = "error"\n[per-file-ignores]\n"tests/*" = ["ALL"]\n'
    )
    out = run("config").out
    assert out.startswith(f"# from {here / 'tfmemlint.toml'}\n")
    assert "min-bytes = 1048576\n" in out and "# gpu-memory is not set\n" in out
    Path("copy.toml").write_text(out)
    again = run("config", "--config", "copy.toml").out
    assert again.splitlines()[1:] == out.splitlines()[1:]
    assert json.loads(run("config", "--output-format=json").out)["values"]["per-file-ignores"] == {"tests/*": ["ALL"]}
    assert "no configuration file found" in run("config", "--isolated").out


def test_a_key_is_explained(run: Run) -> None:
    out = run("config", "gpu-memory").out
    assert out.startswith("gpu-memory\n  The memory of the GPU")
    assert out.endswith("default: not set\n")


def test_the_schema_is_printed(run: Run) -> None:
    assert json.loads(run("config", "--schema").out)["additionalProperties"] is False
