"""What git has stored, asked in such a way that a repository cannot have it do anything else.

A repository that came as an archive, or a bare one hidden in a clone, brings a configuration of its own, and git runs
what such a configuration names. So git is only asked for what it has stored, by commands that never read the working
tree (filters, file system monitors), show no differences (drivers) and fetch nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable, Iterable

from tfmemlint.files.bounded_read import SOURCES

_PLAIN_SUFFIX = re.compile(r"\.\w+")
_RENAMES = (
    *("diff-index", "--cached", "--raw", "-z", "--find-renames", "-l1000", "--diff-filter=R", "--ignore-submodules"),
)
_SAFE = (
    *("--no-pager", "-c", "core.fsmonitor=", "-c", f"core.hooksPath={os.devnull}"),
    *("-c", "safe.bareRepository=explicit"),
)
_SAFE_ENVIRONMENT = {
    "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": ":",
    "GIT_TERMINAL_PROMPT": "0",
}  # fmt: skip
_SECONDS = 120
"""How long git may take for one answer."""


class GitError(Exception):
    """What git cannot be asked, or does not answer; the message is one line."""


def renamed(top: str, revision: str, names: Iterable[str]) -> dict[str, str]:
    """The earlier names of files that were renamed in the index."""
    suffixes = {os.path.splitext(name)[1] for name in names}
    plain = all(_PLAIN_SUFFIX.fullmatch(suffix) for suffix in suffixes)
    patterns = [f":(top)*{suffix}" for suffix in sorted(suffixes)] if plain else []
    parts = listed(ask(top, *_RENAMES, revision, "--", *patterns))
    return {new: old for _, old, new in zip(parts[::3], parts[1::3], parts[2::3], strict=False)}


def blobs(top: str, revision: str, wanted: Callable[[str], bool], most: int = SOURCES) -> dict[str, bytes]:
    """The content of files at a revision whose names are wanted, without those that are no files there or that hold
    more than `most` bytes. Raises GitError."""
    objects = {}
    for line in listed(ask(top, "ls-tree", "-r", "-z", "--full-tree", revision)):
        about, _, name = line.partition("\t")
        if about.split(" ")[1:2] == ["blob"] and wanted(name):
            objects[name] = about.split(" ")[2]
    asked = "".join(f"{each}\n" for each in sorted(set(objects.values()))).encode()
    sizes = [line.split() for line in ask(top, "cat-file", "--batch-check", data=asked).splitlines()]
    if any(each[1] == b"missing" for each in sizes):
        raise GitError(f"{top}: git has not all files of {revision} here; `git diff {revision}` fetches them")
    small = [each[0] for each in sizes if int(each[2]) <= most]
    answer = ask(top, "cat-file", "--batch", data=b"".join(each + b"\n" for each in small))
    content, at = {}, 0
    while at < len(answer):
        start = answer.index(b"\n", at) + 1
        each, _, size = answer[at:start].split()
        content[each.decode()] = answer[start : start + int(size)]
        at = start + int(size) + 1
    return {name: content[each] for name, each in objects.items() if each in content}


def listed(data: bytes) -> list[str]:
    """The parts of git's answer, which end in NUL."""
    return os.fsdecode(data).split("\0")[:-1]


def commit_of(top: str, ref: str, option: str) -> str | None:
    """The commit that `ref` names; None when it names the branch that is checked out and has no commit yet. Raises
    GitError, with the option that gave it, for what names none."""
    if not ref.startswith("-"):
        done = _run(top, "rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
        if done.returncode == 0:
            return os.fsdecode(done.stdout).strip()
        if _run(top, "rev-parse", "--verify", "--quiet", "HEAD").returncode:
            branch = os.fsdecode(_run(top, "symbolic-ref", "--short", "HEAD").stdout).strip()
            if ref in ("HEAD", "@", branch):
                return None
    raise GitError(f"{option} {ref}: no such revision in {top}; name a commit, branch or tag of it")


def repository_of(directory: str, path: str, option: str) -> str:
    """The top folder of the repository that holds a directory. Raises GitError, which names the path and the option for
    which git is asked, outside of any."""
    done = _run(directory, "rev-parse", "--show-toplevel")
    if done.returncode == 0:
        return os.path.realpath(os.fsdecode(done.stdout.removesuffix(b"\n")))
    if b"not a git repository" in done.stderr:
        raise GitError(f"{path}: not in a git repository, so nothing is known of changes; leave {option} out")
    raise GitError(f"{path}: git failed: {_first_line(done.stderr)}")


def ask(directory: str, *arguments: str, data: bytes = b"", fails_from: int = 1) -> bytes:
    """What a command of git prints. Raises GitError for an exit code from `fails_from` on."""
    done = _run(directory, *arguments, data=data)
    if done.returncode >= fails_from or done.returncode < 0:
        raise GitError(f"{directory}: `git {arguments[0]}` failed: {_first_line(done.stderr)}")
    return done.stdout


def _first_line(message: bytes) -> str:
    return next(iter(os.fsdecode(message).strip().splitlines()), "no reason given").removeprefix("fatal: ")


def _run(directory: str, *arguments: str, data: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    # A hook's variables speak of the repository it runs in; here the files' places decide.
    hook = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_EXTERNAL_DIFF", "GIT_DIFF_OPTS")
    environment = {key: value for key, value in os.environ.items() if key not in hook}
    environment.update(_SAFE_ENVIRONMENT)
    if "--no-index" in arguments:  # whatever lies above the folder for temporary files
        environment["GIT_CEILING_DIRECTORIES"] = os.path.dirname(directory)
    command = (_program(), "-C", directory, *_SAFE, *arguments)
    try:
        return subprocess.run(command, input=data, capture_output=True, env=environment, timeout=_SECONDS, check=False)
    except subprocess.TimeoutExpired:
        raise GitError(f"{directory}: `git {arguments[0]}` did not end in {_SECONDS} s; it was stopped") from None


def _program() -> str:
    """Where git is. Only absolute folders of the PATH are looked in: what lies in the working directory and is called
    git is the repository's own."""
    for folder in filter(os.path.isabs, os.get_exec_path()):
        path = os.path.join(folder, "git.exe" if os.name == "nt" else "git")
        if os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise GitError("what changed is known to git alone, and git was not found; install it")
