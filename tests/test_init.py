"""`tfmemlint init`: what it adds to a project, and that it takes nothing from what is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml
from command_line import Run, git, write

if os.name == "posix":
    import stat

WASTE = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').repeat().cache()\n"
PROJECT = '[project]\nname = "a"  # a comment\nversion = "1"\n\n[[tool.other]]\nkey = [1,\n  2]\n'


def put(name: str, text: str) -> Path:
    path = Path(name)
    path.write_bytes(text.encode())
    return path


def test_a_project_with_nothing_gets_a_file_that_is_in_effect(run: Run) -> None:
    done = run("init")
    assert (done.code, done.err) == (0, "tfmemlint: wrote the configuration to tfmemlint.toml\n")
    assert run("config").out.startswith(f"# from {Path('tfmemlint.toml').resolve()}\n")


@pytest.mark.parametrize("text", [PROJECT, PROJECT.rstrip("\n"), PROJECT.replace("\n", "\r\n"), ""])
def test_a_pyproject_keeps_all_its_bytes_and_gets_a_table(run: Run, text: str) -> None:
    path = put("pyproject.toml", text)
    path.chmod(0o640)
    assert run("init").code == 0
    written = path.read_bytes().decode()
    assert written.startswith(text) and "[tool.tfmemlint]" in written[len(text) :]
    assert written.count("\r\n") == (written.count("\n") if "\r\n" in text else 0)
    assert run("config").out.startswith(f"# from {path.resolve()}\n")
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_what_is_configured_already_stays_as_it_is(run: Run) -> None:
    path = put("pyproject.toml", PROJECT + "[tool.tfmemlint]\nfix = true\n")
    before = path.read_bytes()
    done = run("init")
    assert done.code == 0 and "configures tfmemlint already" in done.err
    assert path.read_bytes() == before and os.listdir() == ["pyproject.toml"]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[project\n", "is not valid TOML"),
        ("tool = { other = { key = 1 } }\n", "its `tool` takes no further table"),
        ("\udcff", "is not UTF-8 text"),
    ],
)
def test_a_file_that_nothing_can_be_added_to_is_left_alone(run: Run, text: str, reason: str) -> None:
    path = Path("pyproject.toml")
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = path.read_bytes()
    done = run("init", "--pre-commit")
    assert done.code == 2 and reason in done.err and done.err.count("\n") == 1
    assert path.read_bytes() == before and os.listdir() == ["pyproject.toml"]


def test_a_link_that_leads_out_of_the_project_is_not_written_through(run: Run, tmp_path: Path) -> None:
    outside = tmp_path / "outside.toml"
    outside.write_text(PROJECT)
    Path("inner").mkdir()
    Path("inner/pyproject.toml").symlink_to(outside)
    done = run("init", "inner")
    assert done.code == 2 and "a link to" in done.err
    assert outside.read_text() == PROJECT


@pytest.mark.parametrize("option", ["--diff", "--dry-run"])
def test_what_would_be_done_is_shown_and_not_done(run: Run, option: str) -> None:
    path = put("pyproject.toml", PROJECT)
    write(a=WASTE)
    done = run("init", "--pre-commit", "--baseline", option)
    assert done.code == 0
    assert "pyproject.toml" in done.out and ".pre-commit-config.yaml" in done.out
    assert "would accept what is found now in tfmemlint-baseline.json" in done.err
    assert path.read_text() == PROJECT and sorted(os.listdir()) == ["a.py", "pyproject.toml"]


def test_the_diff_is_a_patch_that_does_the_same(run: Run, tmp_path: Path) -> None:
    path = put("pyproject.toml", PROJECT)
    patch = run("init", "--pre-commit", "--diff").out
    (tmp_path / "change.patch").write_text(patch)
    assert run("init", "--pre-commit").code == 0
    written = path.read_bytes(), Path(".pre-commit-config.yaml").read_bytes()
    path.write_text(PROJECT)
    Path(".pre-commit-config.yaml").unlink()
    git("init", "--quiet")
    Path(".pre-commit-config.yaml").touch()
    git("apply", "-p0", "change.patch")
    assert (path.read_bytes(), Path(".pre-commit-config.yaml").read_bytes()) == written


def test_a_baseline_accepts_what_is_found_and_is_in_effect(run: Run) -> None:
    write(a=WASTE)
    assert run("check", "a.py").code == 1
    done = run("init", "--baseline")
    assert done.code == 0 and "accepted 1 finding in tfmemlint-baseline.json" in done.err
    assert run("check", "a.py").code == 0
    before = Path("tfmemlint-baseline.json").read_bytes()
    assert run("init", "--baseline").code == 0
    assert Path("tfmemlint-baseline.json").read_bytes() == before


HOOKED = """# ours
default_stages: [pre-commit]
repos:
{indent}- repo: local   # here
{indent}  hooks:
{indent}    - id: one
{indent}      name: one
{indent}      entry: "true"
{indent}      language: system
{indent}      description: |
{indent}        two lines

{indent}        repos: not a key

# what comes last
ci:
  skip: [one]
"""


@pytest.mark.parametrize("text", [HOOKED.format(indent=indent) for indent in ("", "  ", "    ")])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_hook_is_added_and_the_other_lines_stay(run: Run, text: str, end: str) -> None:
    for given in (text, text.partition("\n# what")[0]):
        path = put(".pre-commit-config.yaml", given.replace("\n", end))
        Path("tfmemlint.toml").unlink(missing_ok=True)
        assert run("init", "--pre-commit").code == 0
        written = path.read_bytes().decode()
        before, after = yaml.safe_load(given), yaml.safe_load(written)
        assert after["repos"][:-1] == before["repos"]
        assert [hook["id"] for hook in after["repos"][-1]["hooks"]] == ["tfmemlint"]
        assert {**after, "repos": 0} == {**before, "repos": 0}
        lines = written.splitlines(keepends=True)
        at = next(number for number, line in enumerate(lines) if "id: tfmemlint" in line) - 2
        assert "".join([*lines[:at], *lines[at + 8 :]]).rstrip() == given.replace("\n", end).rstrip()
        done = run("init", "--pre-commit")
        assert "has tfmemlint already" in done.err and path.read_bytes().decode() == written


@pytest.mark.parametrize(
    "text",
    [
        "repos: [{repo: local, hooks: []}]\n",
        "repos: []\n",
        "{repos: []}\n",
        "fail_fast: true\n",
        "repos: &all\n- repo: local\n  hooks: []\n",
        "repos:\n- repo: local\n  hooks: []\n---\nrepos:\n- repo: local\n  hooks: []\n",
        "\"repos\":\n- repo: local\n  hooks: []\n",
    ],
)
def test_a_configuration_of_another_form_is_left_alone(run: Run, text: str) -> None:
    path = put(".pre-commit-config.yaml", text)
    done = run("init", "--pre-commit")
    assert done.code == 2 and "Add by hand: the hook that docs/ci.md shows" in done.err
    assert path.read_text() == text and os.listdir() == [".pre-commit-config.yaml"]


def test_a_folder_that_is_not_there_is_one_line(run: Run) -> None:
    assert run("init", "nowhere") == (2, "", "tfmemlint: error: nowhere: no such folder\n")
