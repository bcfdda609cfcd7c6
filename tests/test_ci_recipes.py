"""What is handed to continuous integration services: the action, the recipes of docs/ci.md, the images. Their shell is
run here with the variables that the services set; what fetches from elsewhere is stood in for."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import forked
import pytest
import yaml

from tfmemlint.report import FORMATS

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).parents[1]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))
PAGE = (ROOT / "docs" / "ci.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w+)\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)
OLD = "import tensorflow as tf\n\nold = tf.data.TFRecordDataset('a').repeat().cache()\n"
NEW = OLD + "new = tf.data.TFRecordDataset('b').repeat().cache()\n"
UNSAFE = "import keras\n\nmodel = keras.Sequential([keras.layers.Dense(1)])\nfor x in xs:\n    model.predict(x[None])\n"
STEP = (ROOT / "docs" / "examples" / "train.py").read_text("utf-8")


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(("git", "-C", str(folder), *who, *words), check=True, capture_output=True, text=True).stdout


@pytest.fixture
def job(tmp_path: Path) -> Path:
    """The checkout of a pull request that adds a finding to a file with one, without the base's history."""
    home = tmp_path / "home"
    (home / "src").mkdir(parents=True)
    for name, text in (("data.py", OLD), ("train.py", STEP)):
        (home / "src" / name).write_text(text)
    git(home, "init", "-q")
    git(home, "add", ".")
    git(home, "commit", "-q", "-m", "first")
    git(home, "checkout", "-q", "-b", "change")
    (home / "src" / "data.py").write_text(NEW)
    (home / "src" / "train.py").write_text(STEP.replace("BATCH_SIZE = 16", "BATCH_SIZE = 32"))
    git(home, "commit", "-q", "-a", "-m", "second")
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=change", home.as_uri(), "job")
    return tmp_path / "job"


def shell(script: str, folder: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a step as the services do, with pip and containers stood in for by what says that it was called."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    for name, does in (("pip", 'echo "pip $*"'), ("docker", 'echo "docker $*"'), ("tfmemlint", _OURS)):
        (tools / name).write_text(f"#!/bin/sh\n{does}\n")
        (tools / name).chmod(0o755)
    places = {name: str(folder.parent / name) for name in ("GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STEP_SUMMARY")}
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}", "HOME": str(folder.parent), "RUNNER_TEMP": str(folder.parent),
        "GITHUB_ACTION_PATH": str(ROOT), **places, **variables,
    }  # fmt: skip
    command = ("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script)
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


_OURS = f'exec "{sys.executable}" -m tfmemlint "$@"'


def written(job: Path, name: str) -> str:
    path = job.parent / name
    return path.read_text() if path.exists() else ""


def step(name: str) -> Mapping[str, Any]:
    (found,) = [each for each in ACTION["runs"]["steps"] if each["name"] == name]
    return found


def of_action(name: str, job: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs a step of the action; each variable that it gets of an input must be given."""
    assert set(step(name).get("env", {})) <= set(variables)
    return shell(step(name)["run"], job, GITHUB_BASE_REF="main", **variables)


# -- the action -------------------------------------------------------------------------------------------------------


def test_the_action_installs_the_version_that_it_is_part_of(job: Path) -> None:
    python = job.parent / "python"
    python.write_text('#!/bin/sh\nmkdir -p "$3/bin"\nprintf \'#!/bin/sh\\necho "$@"\\n\' > "$3/bin/python"\n')
    python.write_text(python.read_text() + 'chmod +x "$3/bin/python"\n')
    python.chmod(0o755)
    done = of_action("Install tfmemlint", job, PYTHON=str(python))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.split()[:3] == ["-m", "pip", "install"] and done.stdout.split()[-1] == str(ROOT)
    assert written(job, "GITHUB_PATH") == f"{job.parent}/tfmemlint/bin\n"


def test_the_action_annotates_what_a_pull_request_changes(job: Path) -> None:
    assert of_action("Fetch the base of the pull request", job).returncode == 0
    base = written(job, "GITHUB_OUTPUT").strip().removeprefix("ref=")
    done = of_action("Check", job, PATHS="src", ARGS="", BASE=base)
    assert done.returncode == 1, done.stderr
    assert re.findall(r"^::warning file=(\S+?),line=(\d+)", done.stdout, re.MULTILINE) == [("src/data.py", "4")]
    log = json.loads(Path(written(job, "GITHUB_OUTPUT").split("sarif-file=")[1].strip()).read_text())
    assert [each["ruleId"] for each in log["runs"][0]["results"]] == ["TFM305"]
    assert not (job / ".tfmemlint_cache").exists()
    words = of_action("Estimate", job, PATHS="src", ARGS="--gpu T4", BASE=base)
    assert (words.returncode, words.stdout) == (0, ""), words.stderr
    assert "model.fit" in written(job, "GITHUB_STEP_SUMMARY") and base in written(job, "GITHUB_STEP_SUMMARY")


def test_the_action_reports_everything_where_there_is_no_base(job: Path) -> None:
    done = of_action("Check", job, PATHS="src", ARGS="--select TFM305", BASE="")
    assert (done.returncode, done.stdout.count("::warning")) == (1, 2)
    assert of_action("Check", job, PATHS="src/train.py", ARGS="", BASE="").returncode == 0


def test_nothing_in_an_input_is_run(job: Path) -> None:
    for text in ("$(touch ran)", "`touch ran`", "src; touch ran", "src && touch ran", "*"):
        of_action("Check", job, PATHS=text, ARGS=text, BASE="")
        of_action("Estimate", job, PATHS=text, ARGS=text, BASE="")
    assert not (job / "ran").exists()
    for each in ACTION["runs"]["steps"]:
        assert "${{" not in each.get("run", ""), "an expression would be pasted into the script"


def test_the_action_is_whole(job: Path) -> None:
    names = {*ACTION["inputs"], *re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text("utf-8"))}
    assert names == set(ACTION["inputs"])
    for each in ACTION["runs"]["steps"]:
        assert ("run" in each) == ("shell" in each) and ("run" in each) != ("uses" in each)
    known = {each["id"] for each in ACTION["runs"]["steps"] if "id" in each}
    assert set(re.findall(r"steps\.(\w+)\.", (ROOT / "action.yml").read_text("utf-8"))) == known
    rows = re.findall(r"^\| `([\w-]+)` \|.*\| (.*?) ?\|$", PAGE, re.MULTILINE)
    assert [name for name, _ in rows] == list(ACTION["inputs"])
    defaults = {name: text.strip("`") for name, text in rows if text.startswith("`")}
    assert defaults == {name: each["default"] for name, each in ACTION["inputs"].items() if each["default"]}


# -- recipes ----------------------------------------------------------------------------------------------------------


def recipe(language: str, words: str) -> str:
    (found,) = [text for kind, text in BLOCKS if kind == language and words in text]
    return found


def test_the_workflow_gives_the_action_what_it_takes() -> None:
    workflow = yaml.safe_load(recipe("yaml", "OWNER/tfmemlint"))
    (ours,) = [each for each in workflow["jobs"]["tfmemlint"]["steps"] if "tfmemlint" in each["uses"]]
    assert set(ours["with"]) <= set(ACTION["inputs"])
    assert workflow["permissions"] == {"contents": "read", "security-events": "write"}


def test_the_steps_without_the_action_run(job: Path) -> None:
    steps = [each["run"] for each in yaml.safe_load(recipe("yaml", "fetch-depth"))["steps"] if "run" in each]
    git(job, "fetch", "-q", "origin", "main:refs/remotes/origin/main")
    given = {"TFMEMLINT": "tfmemlint==0.1", "GITHUB_BASE_REF": "main"}
    installed, checked, estimated = [shell(each, job, **given) for each in steps]
    assert installed.stdout == "pip install tfmemlint==0.1\n"
    assert (checked.returncode, checked.stdout.count("::warning")) == (1, 1), checked.stderr
    assert (estimated.returncode, estimated.stderr) == (0, "")
    assert "origin/main" in written(job, "GITHUB_STEP_SUMMARY")


def test_the_recipe_for_gitlab_runs(job: Path) -> None:
    made = yaml.safe_load(recipe("yaml", "merge_request_event"))["tfmemlint"]
    git(job, "fetch", "-q", "origin", "main")
    base = git(job, "rev-parse", "FETCH_HEAD").strip()
    codes = [shell(each, job, TFMEMLINT="tfmemlint", CI_MERGE_REQUEST_DIFF_BASE_SHA=base) for each in made["script"]]
    assert [each.returncode for each in codes] == [0, 0, 1], codes[-1].stderr
    (found,) = json.loads((job / made["artifacts"]["reports"]["codequality"]).read_text())
    assert found["location"]["path"] == "src/data.py"


def test_the_matrix_for_github_runs(job: Path) -> None:
    jobs = yaml.safe_load(recipe("yaml", "tfmemlint-sharded"))["jobs"]
    shards = jobs["shard"]["strategy"]["matrix"]["shard"]
    (check,) = [each["run"] for each in jobs["shard"]["steps"] if "tfmemlint check" in each.get("run", "")]
    for number in shards:
        assert shell(check, job, SHARD=str(number)).returncode == 0
    (merge,) = [each["run"] for each in jobs["merge"]["steps"] if "tfmemlint merge" in each.get("run", "")]
    done, one = shell(merge, job), shell("tfmemlint check --output-format github src", job)
    assert (done.returncode, done.stdout, done.stderr) == (1, one.stdout, "")
    (job / "part-2.json").unlink()
    done = shell(merge, job)
    assert (done.returncode, "1 shard did not come: 2/4" in done.stderr) == (2, True)


def test_the_matrix_for_gitlab_runs(job: Path) -> None:
    jobs = yaml.safe_load(recipe("yaml", "tfmemlint-shard:"))
    count = jobs["tfmemlint-shard"]["parallel"]
    for number in range(1, count + 1):
        given = {"CI_NODE_INDEX": str(number), "CI_NODE_TOTAL": str(count)}
        assert shell(jobs["tfmemlint-shard"]["script"][1], job, **given).returncode == 0
    codes = [shell(each, job).returncode for each in jobs["tfmemlint-merge"]["script"][1:]]
    assert codes == [0, 1]
    report = job / jobs["tfmemlint-merge"]["artifacts"]["reports"]["codequality"]
    one = shell("tfmemlint check --output-format gitlab src", job)
    assert report.read_text() == one.stdout


def test_the_way_in_ends_with_a_clean_run(job: Path) -> None:
    (job / "src" / "predict.py").write_text(UNSAFE)
    assert "TFM602" in shell("tfmemlint check", job).stdout
    for line in recipe("sh", "--write-baseline").splitlines():
        assert shell(line, job).returncode in (0, 1)
    assert [each["code"] for each in json.loads((job / "tfmemlint-baseline.json").read_text())["entries"]] == ["TFM602"]
    (job / "pyproject.toml").write_text(recipe("toml", "baseline"))
    done = shell("tfmemlint check", job)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_plain_recipe_writes_what_it_says(job: Path) -> None:
    git(job, "fetch", "-q", "origin", "main:refs/remotes/origin/main")
    done = shell(recipe("sh", "junit"), job, TFMEMLINT="tfmemlint")
    assert done.returncode == 1, done.stderr
    assert (job / "tfmemlint.xml").read_text().count("<failure") == 1
    assert set(re.findall(r"`(junit|rdjson|sarif)`", PAGE)) <= set(FORMATS)


def test_the_hooks_are_those_that_there_are() -> None:
    (repository,) = yaml.safe_load(recipe("yaml", "hooks:"))["repos"]
    known = {each["id"] for each in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert {each["id"] for each in repository["hooks"]} == known


# -- images -----------------------------------------------------------------------------------------------------------


def instructions() -> list[tuple[str, str]]:
    text = re.sub(r"\\\n", " ", (ROOT / "Dockerfile").read_text("utf-8"))
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in lines]


def test_the_image_is_made_of_what_is_here_and_let_through() -> None:
    kinds = {"FROM", "RUN", "COPY", "USER", "WORKDIR", "ENTRYPOINT", "CMD"}
    assert {kind for kind, _ in instructions()} <= kinds
    copied = [word for kind, rest in instructions() if kind == "COPY" for word in rest.split()[:-1]]
    let_through = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert set(copied) == let_through
    assert [name for name in copied if not (ROOT / name).exists()] == []
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    needed = {*project["tool"]["setuptools"]["package-dir"].values(), project["project"]["readme"]}
    assert {*needed, *project["project"]["license-files"], "pyproject.toml"} == set(copied)
    installed = " ".join(rest for kind, rest in instructions() if kind == "RUN" and "pip install" in rest)
    assert set(re.findall(r"/src\[(\w+)\]", installed)) <= set(project["project"]["optional-dependencies"])
    (pinned,) = re.findall(r'"(tensorflow-cpu[^"]*)"', installed)
    assert any(each.startswith(f"{pinned};") for each in project["dependency-groups"]["tf"])


def test_the_images_run_commands_that_there_are(tmp_path: Path) -> None:
    (entry,) = {rest for kind, rest in instructions() if kind == "ENTRYPOINT"}
    assert json.loads(entry) == ["tfmemlint"]
    (tmp_path / "a.py").write_text(OLD)
    checked, verified = [json.loads(rest) for kind, rest in instructions() if kind == "CMD"]
    assert forked.run(*checked, cwd=tmp_path).returncode == 1
    assert forked.run(*verified, "--dry-run", cwd=tmp_path).returncode == 0
    stages = dict(reversed(rest.split(" AS ")) for kind, rest in instructions() if kind == "FROM")
    for target in re.findall(r"docker build --target (\w+)", PAGE + (ROOT / "Dockerfile").read_text("utf-8")):
        assert target in stages
