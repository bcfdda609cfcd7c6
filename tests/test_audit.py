"""`audit`: many repositories, one report; what one of them does stays its own affair."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command_line import Run

from tfmemlint.run.clone import RunError, is_url, run_bounded

HEAD = "import tensorflow as tf\n"
LEAK = "for _ in range(9):\n    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])\n"
MADE = HEAD + "def made(paths):\n    return tf.data.Dataset.from_tensor_slices(paths).batch(64)\n"
USES = (
    HEAD + "from made import made\nmodel = tf.keras.applications.ResNet50()\n"
    "ds = made(tf.io.gfile.glob('*')).map(lambda p: tf.image.resize(tf.io.decode_jpeg(p, 3), (224, 224)))\n"
    "model.fit(ds.prefetch(1000))\n"
)


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    return subprocess.run(("git", "-C", str(folder), *who, *words), check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repositories(here: Path) -> Path:
    """A folder, a repository to be cloned whose newest commit has a finding, and one that brings code to be run."""
    (here / "plain").mkdir()
    (here / "plain" / "made.py").write_text(MADE)
    (here / "plain" / "uses.py").write_text(USES)
    (here / "cloned").mkdir()
    git(here / "cloned", "init", "-q")
    for text in (HEAD, HEAD + LEAK):
        (here / "cloned" / "train.py").write_text(text)
        git(here / "cloned", "add", ".")
        git(here / "cloned", "commit", "-q", "-m", "one")
    bad = here / "bad"
    (bad / "tfmemlint").mkdir(parents=True)
    run = f"open({str(here / 'ran')!r}, 'w')\n"
    for name in ("tfmemlint/__init__.py", "tfmemlint/__main__.py", "sitecustomize.py", "libcst.py", "conftest.py"):
        (bad / name).write_text(run)
    (bad / "tfmemlint.toml").write_text("ignore = ['ALL']\n")
    (bad / "train.py").write_text(HEAD + LEAK)
    (bad / ".gitattributes").write_text("*.py filter=evil\n")
    git(bad, "init", "-q")
    git(bad, "add", ".")
    git(bad, "commit", "-q", "-m", "one")
    return here


def listed(here: Path, *names: str) -> str:
    (here / "repos.txt").write_text("# ours\n\n" + "\n".join(names) + "\n")
    return "repos.txt"


def test_repositories_are_reported_by_rule_and_bytes(repositories: Path, run: Run) -> None:
    path = listed(repositories, "plain  # in place", (repositories / "cloned").as_uri(), "bad", "plain")
    done = run("audit", "-j", "1", "--output-format", "json", "--html", "page.html", path)
    assert done.code == 0, done.err
    report = json.loads(done.out)
    found = {each["name"]: each for each in report["repositories"]}
    assert list(found) == ["plain", (repositories / "cloned").as_uri(), "bad"]
    cloned = found[(repositories / "cloned").as_uri()]
    assert cloned["commit"] == git(repositories / "cloned", "rev-parse", "HEAD").strip()
    assert [(each["code"], each["filename"]) for each in cloned["findings"]] == [("TFM601", "train.py")]
    assert {each["code"] for each in found["bad"]["findings"]} == {"TFM601"}  # whatever its configuration says
    (large,) = [each for each in found["plain"]["findings"] if each["code"] == "TFM304"]
    assert [each["filename"] for each in large["related"]] == ["made.py"]
    rules = {each["code"]: each for each in report["rules"]}
    assert rules["TFM601"]["repositories"] == sorted(["bad", (repositories / "cloned").as_uri()])
    assert rules["TFM601"]["findings"] == 2
    sizes = [each["bytes"] for each in report["rules"]]
    assert sizes[0] > 0 and sizes == sorted(sizes, reverse=True)
    page = (repositories / "page.html").read_text()
    assert "TFM601" in page and "train.py" in page and "<script" not in page and "src=" not in page


def test_nothing_of_a_repository_is_run(repositories: Path, run: Run) -> None:
    path = listed(repositories, "bad", (repositories / "bad").as_uri())
    assert run("audit", "-j", "1", path).code == 0
    assert not (repositories / "ran").exists()


def test_one_that_fails_does_not_stop_the_others(repositories: Path, run: Run) -> None:
    missing = (repositories / "missing").as_uri()
    done = run("audit", "-j", "1", listed(repositories, "no-such", missing, "--upload-pack=touch ran", "bad"))
    assert done.code == 2
    lines = {line.split()[0]: line for line in done.out.splitlines() if line}
    assert "failed: no such folder" in lines["no-such"]
    assert "failed: not cloned: " in lines[missing]
    assert "failed" not in lines["bad"] and "TFM601" in done.out
    assert "3 failed" in done.out
    assert not (repositories / "ran").exists()


def test_one_that_takes_too_long_is_ended_with_all_that_it_started(tmp_path: Path) -> None:
    code = (
        "import os, subprocess, sys, time\n"
        "inner = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(inner.pid))\ninner.wait()"
    )
    with pytest.raises(RunError, match="not done in 5 s"):
        run_bounded([sys.executable, "-c", code], 5)
    pid = int((tmp_path / "pid").read_text())
    state = Path(f"/proc/{pid}/stat")
    assert not state.exists() or state.read_text().rpartition(")")[2].split()[0] == "Z"


def test_what_was_found_is_kept_for_the_next_time(repositories: Path, run: Run) -> None:
    path = listed(repositories, (repositories / "cloned").as_uri(), "bad")
    first = run("audit", "-j", "1", "-q", "--folder", "kept", "--output-format", "json", path)
    os.rename(repositories / "cloned", repositories / "moved")
    (repositories / "bad" / "more.py").write_text(HEAD + LEAK)
    again = run("audit", "-j", "1", "-q", "--folder", "kept", "--output-format", "json", path)
    assert again.code == 0, again.out
    one, other = json.loads(first.out), json.loads(again.out)
    assert other["repositories"][0] == one["repositories"][0]  # fetched once
    assert len(other["repositories"][1]["findings"]) == 2  # a folder is read as it is
    assert run("audit", "-j", "1", "-q", path).code == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [("https://example.org/a.git", True), ("git@example.org:a/b", True), ("ssh://h/a", True), ("file:///a", True),
     ("ext::sh -c ls", False), ("--upload-pack=x", False), ("plain/folder", False), ("fd::3", False)],
)  # fmt: skip
def test_what_is_fetched(text: str, expected: bool) -> None:
    assert is_url(text) is expected


def test_a_list_that_says_nothing(here: Path, run: Run) -> None:
    assert "no repositories in it" in run("audit", listed(here)).err
    assert run("audit", "missing.txt").code == 2
