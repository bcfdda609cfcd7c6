"""Shallow copies of repositories, fetched by git and never executed: no hooks, filters, submodules or prompts."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence

_URL = re.compile(r"(?:https?|ssh|git|file)://\S+|[\w.-]+@[\w.-]+:\S+")
_SAFE = (
    "-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=", "-c", "filter.lfs.smudge=",
    "-c", "filter.lfs.process=", "-c", "filter.lfs.required=false", "-c", "core.attributesFile=",
    "-c", "advice.detachedHead=false",
)  # fmt: skip
_CLONE = ("clone", "--quiet", "--depth=1", "--no-tags", "--single-branch", "--no-recurse-submodules", "--template=")
_ENVIRONMENT = {
    "GIT_TERMINAL_PROMPT": "0", "GIT_ASKPASS": "true", "SSH_ASKPASS": "true", "GIT_LFS_SKIP_SMUDGE": "1",
    "GIT_ALLOW_PROTOCOL": "https:http:ssh:git:file", "GIT_SSH_COMMAND": "ssh -oBatchMode=yes", "LC_ALL": "C",
}  # fmt: skip


class RunError(Exception):
    """What a command could not do, or not in time; the message is one line."""


def is_url(text: str) -> bool:
    """Whether a text is an address that git fetches from."""
    return _URL.fullmatch(text) is not None


def clone(url: str, folder: str, seconds: float) -> str:
    """Copy the newest commit of a repository into a new folder; the commit. Raises RunError."""
    git = shutil.which("git")
    if git is None:
        raise RunError("git is not installed")
    try:
        run_bounded([git, *_SAFE, *_CLONE, "--", url, folder], seconds, environment=_ENVIRONMENT)
        found = run_bounded([git, "-C", folder, *_SAFE, "rev-parse", "HEAD"], seconds, environment=_ENVIRONMENT)
    except RunError as error:
        shutil.rmtree(folder, ignore_errors=True)
        raise RunError(f"not cloned: {error}") from None
    return found.decode("ascii", "replace").strip()


def run_bounded(
    command: Sequence[str], seconds: float, *, folder: str | None = None, codes: Sequence[int] = (0,),
    environment: Mapping[str, str] | None = None,
) -> bytes:  # fmt: skip
    """What a command writes to its output. Raises RunError for another exit code, and after `seconds`, when it is ended
    with all that it started."""
    process = subprocess.Popen(
        list(command), cwd=folder, env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        raise RunError(f"not done in {seconds:.0f} s") from None
    except BaseException:
        _end(process)
        raise
    if process.returncode not in codes:
        lines = [line for line in err.decode("utf-8", "replace").splitlines() if line.strip()]
        raise RunError(lines[-1] if lines else f"exit code {process.returncode}")
    return out


def _end(process: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.communicate()
