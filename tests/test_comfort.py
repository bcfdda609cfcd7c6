"""Completion, `check --watch` and `doctor`, as a user meets them."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from command_line import Run, write

from tfmemlint.cli import machine
from tfmemlint.cli.commands import COMMANDS

WASTE = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').repeat().cache()\n"
CLEAN = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').cache().repeat()\n"

Without = Callable[[str], None]


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Without:
    """Makes a package one that is not installed."""

    def hide(package: str) -> None:
        for name in [name for name in sys.modules if name.partition(".")[0] == package]:
            monkeypatch.delitem(sys.modules, name)
        monkeypatch.setattr(sys, "meta_path", [_Hidden(package), *sys.meta_path])

    return hide


class _Hidden:
    def __init__(self, package: str) -> None:
        self.package = package

    def find_spec(self, name: str, *_: object) -> None:
        if name == self.package:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


# -- completion -------------------------------------------------------------------------------------------------------


def completed(script: str, *words: str) -> set[str]:
    """What bash offers for the last of these words."""
    name = next(line.split()[-2] for line in script.splitlines() if line.startswith("complete "))
    asked = " ".join(f"'{word}'" for word in words)
    setting = f"COMP_WORDS=({asked}); COMP_CWORD={len(words) - 1}"
    program = f"{script}\n{setting}\n{name}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\""
    done = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_completes_commands_options_rules_and_files(run: Run) -> None:
    script = run("completion", "bash").out
    assert completed(script, "tfmemlint", "") >= set(COMMANDS)
    assert completed(script, "tfmemlint", "check", "--fi") == {"--fix"}
    assert completed(script, "tfmemlint", "check", "--watc") == {"--watch"}
    assert "grouped" in completed(script, "tfmemlint", "check", "--output-format", "")
    assert completed(script, "tfmemlint", "rule", "TFM304") == {"TFM304"}
    assert "gpu-memory" in completed(script, "tfmemlint", "config", "gpu")
    write(train=CLEAN)
    assert completed(script, "tfmemlint", "check", "tra") == {"train.py"}


@pytest.mark.parametrize("shell", ["zsh", "fish", "tcsh", "powershell"])
def test_other_shells_get_a_script_with_all_commands(run: Run, shell: str) -> None:
    done = run("completion", shell)
    assert (done.code, done.err) == (0, "")
    assert all(name in done.out for name in COMMANDS)


def test_all_commands_are_completed(run: Run) -> None:
    from tfmemlint.cli.completion import _parsers

    assert {name for name, _ in _parsers()} == set(COMMANDS)


def test_a_shell_that_nobody_knows_is_one_line(run: Run) -> None:
    done = run("completion", "dos")
    assert done.code == 2 and done.err.count("\n") == 1 and "bash" in done.err


@pytest.mark.parametrize(
    ("words", "package", "install"),
    [
        (("completion", "bash"), "shtab", "pip install 'tfmemlint[completion]'"),
        (("check", "--watch", "."), "watchfiles", "pip install 'tfmemlint[watch]'"),
    ],
)
def test_what_is_not_installed_is_one_line_with_the_command(
    run: Run, without: Without, words: tuple[str, ...], package: str, install: str
) -> None:
    without(package)
    done = run(*words)
    assert done.code == 2 and done.err.count("\n") == 1 and done.err.rstrip().endswith(install)


# -- watch ------------------------------------------------------------------------------------------------------------


class Watched:
    """`check --watch` in a process; `seen` gives the codes of each run in turn, as they come."""

    def __init__(self, *words: str) -> None:
        command = [sys.executable, "-m", "tfmemlint", "check", "--watch", "--no-cache", "--output-format=jsonl", *words]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            # Where tests run in a shell's background, Ctrl-C is ignored, and whatever they start inherits that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
        )  # fmt: skip

    def told(self) -> list[str]:
        """The lines on stderr up to the one that says that all is done."""
        assert self.process.stderr is not None
        lines = []
        for line in self.process.stderr:
            if "watching for changes" in line:
                return lines
            lines.append(line)
        raise AssertionError(f"it ended: {lines}")

    def interrupted(self) -> tuple[int, list[str]]:
        """The exit code after Ctrl-C, and the codes of all runs."""
        self.process.send_signal(signal.SIGINT)
        out, _ = self.process.communicate(timeout=600)
        return self.process.returncode, [json.loads(line)["code"] for line in out.splitlines()]


@pytest.fixture
def watched(here: Path) -> Callable[..., Watched]:
    started = []

    def start(*words: str) -> Watched:
        started.append(Watched(*words))
        return started[-1]

    yield start  # type: ignore[misc]
    for each in started:
        each.process.kill()
        each.process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_it_lints_again_when_a_file_an_import_or_the_configuration_changes(watched: Callable[..., Watched]) -> None:
    write(a="from data import load\nimport tensorflow as tf\nds = load().cache()\n", data=CLEAN)
    made = "import tensorflow as tf\n\n\ndef load():\n    return tf.data.TFRecordDataset('a'){}\n"
    write(data=made.format(""))
    watch = watched("a.py")
    assert watch.told() == []
    write(data=made.format(".repeat()"))
    assert watch.told() == []
    Path("tfmemlint.toml").write_text("select = \n")
    (line,) = watch.told()
    assert "tfmemlint.toml: is not valid TOML" in line
    Path("tfmemlint.toml").write_text("ignore = ['TFM305']\n")
    assert watch.told() == []
    assert watch.interrupted() == (0, ["TFM305"])


@pytest.mark.skipif(sys.platform == "win32", reason="sends a signal")
def test_the_exit_code_is_that_of_the_last_run(watched: Callable[..., Watched]) -> None:
    write(a=WASTE)
    watch = watched(".")
    watch.told()
    assert watch.interrupted() == (1, ["TFM305"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--write-baseline",), "--watch and --write-baseline cannot be used together"),
        (("--add-ignore",), "--watch and --add-ignore cannot be used together"),
        (("-",), "--watch needs files"),
        (("nowhere.py",), "nowhere.py: no such file or directory"),
        (("--no-such-option",), "unrecognized arguments"),
    ],
)
def test_what_cannot_be_watched_is_one_line(run: Run, words: tuple[str, ...], said: str) -> None:
    done = run("check", "--watch", *words)
    assert done.code == 2 and said in done.err and done.err.count("\n") == 1


# -- doctor -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out what is asked of the machine, which takes a second."""
    monkeypatch.setattr(machine, "machine", lambda python: iter([("TensorFlow", False, python)]))


def lines_of(run: Run, *words: str) -> tuple[int, dict[str, tuple[str, str]]]:
    done = run("doctor", "--output-format", "json", *words)
    return done.code, {line["what"]: (line["state"], line["found"]) for line in json.loads(done.out)}


def test_all_is_looked_at_and_tensorflow_is_not_imported(here: Path) -> None:
    code = (
        "import sys\nfrom tfmemlint.cli import main\nassert main(['doctor']) == 0\n"
        "assert not {'tensorflow', 'keras', 'numpy'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for what in ("tfmemlint", "Python", "libcst", "configuration", "rule pack tfmemlint", "flake8", "server",
                 "check --watch", "completion", "TensorFlow", "graphics card", "containment"):  # fmt: skip
        assert sum(line[7:].startswith(what + " ") for line in done.stdout.splitlines()) == 1, what


@pytest.mark.tensorflow
def test_the_version_of_tensorflow_is_said(run: Run) -> None:
    _, found = lines_of(run)
    assert found["TensorFlow"][0] == "ok" and found["TensorFlow"][1].startswith("tensorflow")


@pytest.mark.usefixtures("no_machine")
def test_a_configuration_that_cannot_be_used_is_wrong(run: Run) -> None:
    Path("tfmemlint.toml").write_text("select = ['TFM999']\n")
    code, found = lines_of(run)
    assert code == 1 and found["configuration"][0] == "wrong" and "TFM999" in found["configuration"][1]
    Path("tfmemlint.toml").write_text("select = ['TFM305']\nbaseline = 'gone.json'\n")
    code, found = lines_of(run)
    assert code == 1 and found["baseline"][0] == "wrong"
    state, words = found["configuration"]
    assert state == "ok" and words.startswith(str(Path("tfmemlint.toml").resolve())) and ": 1 of " in words


@pytest.mark.usefixtures("no_machine")
@pytest.mark.parametrize(
    ("name", "text", "state"),
    [
        ("pyproject.toml", "[tool.ruff.lint]\nexternal = ['TFM']\n", "ok"),
        ("pyproject.toml", "[tool.ruff]\nline-length = 9\n", "note"),
        ("ruff.toml", "[lint]\nexternal = ['T']\n", "ok"),
        ("ruff.toml", "external = ['TFM']\n", "ok"),
        (".ruff.toml", "[lint]\nexternal = 3\n", "note"),
        ("pyproject.toml", "[project]\nname = 'a'\n", None),
        ("pyproject.toml", "[tool.ruff\n", None),
    ],
)
def test_whether_ruff_knows_our_codes(run: Run, name: str, text: str, state: str | None) -> None:
    Path(name).write_text(text)
    Path("inner").mkdir()
    _, found = lines_of(run, "inner")
    assert found.get("ruff", (None,))[0] == state


@pytest.mark.usefixtures("no_machine")
def test_a_package_that_is_not_there_is_a_note_and_fails_nothing(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    from importlib.metadata import PackageNotFoundError

    from tfmemlint.cli import doctor

    def version(package: str) -> str:
        if package == "libcst":
            return "1.8"
        raise PackageNotFoundError(package)

    monkeypatch.setattr(doctor, "version", version)
    code, found = lines_of(run)
    assert code == 0
    assert found["flake8"] == ("note", "not installed in this environment")
    assert found["completion"] == ("note", "needs shtab: pip install 'tfmemlint[completion]'")


@pytest.mark.usefixtures("no_machine")
def test_a_pack_that_cannot_be_loaded_is_wrong(run: Run, install: Callable[..., None]) -> None:
    install(a="raise OSError('broken')\n")
    code, found = lines_of(run)
    assert code == 1 and "OSError: broken" in found["rule packs"][1]


def test_an_interpreter_that_is_not_there_is_a_note(run: Run) -> None:
    code, found = lines_of(run, "--python", "/nowhere/python")
    assert code == 0 and found["TensorFlow"][0] == "note" and "/nowhere/python" in found["TensorFlow"][1]
