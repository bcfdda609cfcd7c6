"""`--diff-base` in repositories that came with a configuration of their own: nothing that it names is run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import forked
import pytest

from tfmemlint.lint import changed_lines
from tfmemlint.lint import git as stored

HEAD = "import tensorflow as tf\n"
WASTE = "a = tf.data.Dataset.range(9).repeat().cache()\n"
FOUND = "train.py:3:39: TFM305 "

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the programs of these tests are shell scripts")


def git(*words: str, folder: str = ".") -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    command = ["git", "-C", folder, *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=20, stdin=-3).stdout.strip()


@pytest.fixture(autouse=True)
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with one commit and a line added since; `mark` beside it is a program that leaves `ran`."""
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    mark = tmp_path / "mark"
    mark.write_text(f'#!/bin/sh\necho "$0 $*" >> "{tmp_path}/ran"\nexit 1\n')
    mark.chmod(0o755)
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    (project / "train.py").write_text(HEAD + WASTE)
    git("init", "--quiet", "--initial-branch=main")
    git("add", ".")
    git("commit", "--quiet", "--message=state")
    (project / "train.py").write_text(HEAD + WASTE + WASTE.replace("a =", "b ="))
    return project


def check(*words: str) -> subprocess.CompletedProcess[str]:
    return forked.check("-n", "--select=TFM305", "--output-format=concise", "-q", *words, timeout=60)


def configure(key: str, value: str) -> Callable[[str], None]:
    return lambda mark: git("config", key, value.format(mark=mark)) and None


def attribute(words: str, **keys: str) -> Callable[[str], None]:
    def make(mark: str) -> None:
        Path(".git/info").mkdir(exist_ok=True)
        Path(".git/info/attributes").write_text(f"*.py {words}\n")
        for key, value in keys.items():
            git("config", key.replace("_", "."), value.format(mark=mark))

    return make


def included(mark: str) -> None:
    Path("more").write_text(f"[core]\n fsmonitor = {mark}\n[diff]\n external = {mark}\n")
    git("config", "include.path", "../more")


def hooks(mark: str) -> None:
    for name in ("post-index-change", "fsmonitor-watchman", "reference-transaction", "post-checkout", "pre-auto-gc"):
        path = Path(".git/hooks", name)
        path.parent.mkdir(exist_ok=True)
        path.write_text(Path(mark).read_text())
        path.chmod(0o755)


SETTINGS = {
    "core.fsmonitor": configure("core.fsmonitor", "{mark}"),
    "an included file": included,
    "hooks": hooks,
    "core.hooksPath": lambda mark: (hooks(mark), git("config", "core.hooksPath", ".git/hooks")),
    "a clean filter": attribute("filter=x", filter_x_clean="{mark}", filter_x_smudge="{mark}"),
    "a process filter": attribute("filter=x", filter_x_process="{mark}", filter_x_required="true"),
    "a diff driver": attribute("diff=x", diff_x_command="{mark}"),
    "textconv": attribute("diff=x", diff_x_textconv="{mark}"),
    "diff.external": configure("diff.external", "{mark}"),
    "a pager": configure("core.pager", "{mark}"),
    "a pager of a command": configure("pager.diff", "{mark}"),
    "aliases": lambda mark: [git("config", f"alias.{each}", f"!{mark}") for each in ("diff", "ls-files", "cat-file")],
    "core.sshCommand": configure("core.sshCommand", "{mark}"),
    "core.editor": configure("core.editor", "{mark}"),
    "a credential helper": configure("credential.helper", "!{mark}"),
    "a git program in the working directory": lambda mark: (Path("git").symlink_to(mark), Path("git.exe").touch()),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_nothing_that_the_repository_names_is_run(setting: str, repository: Path, tmp_path: Path) -> None:
    SETTINGS[setting](str(tmp_path / "mark"))
    done = check("--diff-base=HEAD", "train.py")
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert [line[: len(FOUND)] for line in done.stdout.splitlines()] == [FOUND], done.stderr
    assert done.returncode == 1


def test_the_settings_of_these_tests_do_run_with_git_itself(tmp_path: Path) -> None:
    """The proof that the tests above can fail."""
    mark = str(tmp_path / "mark")
    for name in ("core.fsmonitor", "a clean filter", "textconv"):
        SETTINGS[name](mark)
        subprocess.run(["git", "diff", "HEAD"], capture_output=True, stdin=subprocess.DEVNULL, timeout=20)
        assert (tmp_path / "ran").exists(), name
        (tmp_path / "ran").unlink()


@pytest.mark.parametrize("how", ["ssh://localhost/x", "ext::{mark} x", "upload-pack"])
def test_what_a_partial_clone_lacks_is_not_fetched(
    how: str, repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = str(tmp_path / "mark")
    blob = git("rev-parse", "HEAD:train.py")
    Path(".git/objects", blob[:2], blob[2:]).unlink()
    git("config", "core.repositoryFormatVersion", "1")
    git("config", "extensions.partialClone", "origin")
    git("config", "remote.origin.promisor", "true")
    git("config", "remote.origin.url", str(repository) if how == "upload-pack" else how.format(mark=mark))
    git("config", "remote.origin.uploadpack", mark)
    git("config", "core.sshCommand", mark)
    git("config", "protocol.allow", "always")
    git("config", "protocol.ext.allow", "always")
    done = check("--diff-base=HEAD", "train.py")
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    # Of older versions of git, which do not know the variable that forbids it.
    monkeypatch.delitem(stored._SAFE_ENVIRONMENT, "GIT_NO_LAZY_FETCH")
    with pytest.raises(stored.GitError):
        changed_lines.changed_lines("HEAD", ["train.py"])
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    subprocess.run(["git", "diff", "HEAD"], capture_output=True, stdin=subprocess.DEVNULL, timeout=20)
    assert (tmp_path / "ran").exists(), "git itself would have run it"


def test_a_bare_repository_hidden_in_a_clone_is_not_asked(repository: Path, tmp_path: Path) -> None:
    """git takes a folder with `HEAD`, `objects` and `refs` for a repository, and its `config` for the user's."""
    git("init", "--quiet", "--bare", "sub")
    git("--git-dir=sub", "config", "core.bare", "false")
    git("--git-dir=sub", "config", "core.worktree", str(repository / "sub"))
    git("--git-dir=sub", "config", "core.fsmonitor", str(tmp_path / "mark"))
    Path("sub/train.py").write_text(HEAD + WASTE)
    done = check("--diff-base=HEAD", "sub/train.py")
    assert not (tmp_path / "ran").exists(), (tmp_path / "ran").read_text()
    assert done.returncode == 2 and done.stderr.count("\n") == 1


def test_a_filter_of_the_user_does_not_make_a_change(repository: Path) -> None:
    """What is stored with other line ends than the file has is the same text."""
    Path("train.py").write_bytes((HEAD + WASTE).replace("\n", "\r\n").encode())
    assert check("--diff-base=HEAD", "train.py").returncode == 0


def test_a_repository_that_makes_git_wait_is_given_up(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored, "_SECONDS", 0.2)
    os.mkfifo("pipe")
    git("config", "include.path", "../pipe")
    with pytest.raises(stored.GitError, match=r"`git rev-parse` did not end in 0\.2 s"):
        changed_lines.changed_lines("HEAD", ["train.py"])
