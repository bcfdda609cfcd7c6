"""What a release needs, tried without publishing anything; `make release` runs it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from tfmemlint.dev.docs import write_docs

_VERSION = re.compile(r'^__version__ = "(\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?)"$', re.MULTILINE)
_SHOWS = "import tensorflow as tf\nds = tf.data.TFRecordDataset('a').repeat().cache()\n"
"""A program with one finding."""


def release(root: Path) -> int:
    """Print a line for each thing that a release needs, and what is wrong with it; 0 where nothing is."""
    version = version_of(root)
    wrong = 0
    for what, check in _checks(root, version):
        problems = list(check())
        wrong += len(problems)
        print(f"{'ok' if not problems else 'no':4}{what}", flush=True)
        for problem in problems:
            print(f"      {problem}", flush=True)
    print(
        f"{wrong} to mend before {version} can be released"
        if wrong
        else f"{version} can be released: git tag v{version}, push the tag, upload what lies in dist/"
    )
    return int(wrong > 0)


def _checks(root: Path, version: str) -> Iterator[tuple[str, Callable[[], Iterable[str]]]]:
    yield "all files are committed", lambda: uncommitted(root)
    yield f"texts speak of {version}", lambda: stale_versions(root, version)
    yield f"tag v{version} is free, or names this commit", lambda: taken_tag(root, version)
    yield "pages of rules are up to date", lambda: stale_pages(root)
    yield "sdist and wheel hold what they should, and the wheel works", lambda: distributions(root, version)


def version_of(root: Path) -> str:
    """The version of the checkout, from the one place that says it. Raises ValueError where it is no version."""
    found = _VERSION.search((root / "tfmemlint/__init__.py").read_text("utf-8"))
    if found is None:
        raise ValueError("tfmemlint/__init__.py: no __version__ such as 1.2.3 or 1.2.3rc1")
    return found[1]


def uncommitted(root: Path) -> Iterator[str]:
    """Files that differ from the commit, a few of them."""
    changed = _git(root, "status", "--porcelain").splitlines()
    yield from changed[:5]
    if len(changed) > 5:
        yield f"and {len(changed) - 5} more"


def stale_versions(root: Path, version: str) -> Iterator[str]:
    """Texts that name another version than the one to release."""
    sections = re.findall(r"^## (\S+)", (root / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)
    if sections[:1] != [version]:
        yield f"CHANGELOG.md: the topmost section is {sections[0] if sections else 'missing'}, not {version}"
    for path in [root / "README.md", *sorted(root.glob("docs/*.md"))]:
        for found in re.findall(r"\brev: v(\S+)|/tfmemlint@v(\S+)", path.read_text("utf-8")):
            named = next(filter(None, found))
            if named != version:
                yield f"{path.relative_to(root).as_posix()}: v{named}, not v{version}"
    for path in sorted(root.glob("editors/*/package.json")):
        named = json.loads(path.read_text("utf-8"))["version"]
        if named != version:
            yield f"{path.relative_to(root).as_posix()}: version {named}, not {version}"


def taken_tag(root: Path, version: str) -> Iterator[str]:
    """The tag of the version where it names another commit than this one."""
    commit = _git(root, "rev-parse", "--verify", "--quiet", f"refs/tags/v{version}^{{commit}}").strip()
    if commit and commit != _git(root, "rev-parse", "HEAD").strip():
        yield f"v{version} names {commit[:12]}; raise the version in tfmemlint/__init__.py"


def stale_pages(root: Path) -> Iterator[str]:
    """Generated pages that differ from what they are made of."""
    for path in write_docs(root / "docs/rules", rules=root / "rules", fixtures=root / "fixtures", check=True):
        yield f"{path}: stale; run `python -m tfmemlint.dev docs`"


def distributions(root: Path, version: str) -> Iterator[str]:
    """Build the sdist, from it the wheel, into dist/; what they lack, and what the installed wheel does not do."""
    out = root / "dist"
    for old in [*out.glob("tfmemlint-*.whl"), *out.glob("tfmemlint-*.tar.gz")]:
        old.unlink()
    built = _run([sys.executable, "-m", "build", "--outdir", str(out), str(root)])
    if built.returncode:
        yield f"python -m build: {_last_line(built)}"
        return
    sdist, wheel = out / f"tfmemlint-{version}.tar.gz", out / f"tfmemlint-{version}-py3-none-any.whl"
    if not (sdist.exists() and wheel.exists()):
        yield f"dist/ has {', '.join(sorted(path.name for path in out.iterdir()))}; one has another version"
        return
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    needed = {"LICENSE", "README.md", "pyproject.toml", *_sources(root)}
    yield from (f"{sdist.name} lacks {name}" for name in sorted(needed - names))
    with zipfile.ZipFile(wheel) as zipped:
        names = set(zipped.namelist())
    moved = {re.sub(r"^rules/", "tfmemlint_rules/", name) for name in _sources(root)}
    yield from (f"{wheel.name} lacks {name}" for name in sorted(moved - names))
    yield from _installed(wheel, version)


def _sources(root: Path) -> set[str]:
    """The files of the checkout that an installation must have: all that git knows in the packages and the rules."""
    known = _git(root, "ls-files", "tfmemlint", "rules").splitlines()
    return {name for name in known if not name.endswith("/README.md")}


def _installed(wheel: Path, version: str) -> Iterator[str]:
    """What the wheel does not do in an environment of its own."""
    with tempfile.TemporaryDirectory() as folder:
        python = Path(folder, "env", "Scripts" if sys.platform == "win32" else "bin", "python")
        program = Path(folder, "train.py")
        program.write_text(_SHOWS, "utf-8")
        for command in (
            [sys.executable, "-m", "venv", str(Path(folder, "env"))],
            [str(python), "-m", "pip", "install", "--quiet", str(wheel.resolve())],
        ):
            done = _run(command, folder)
            if done.returncode:
                yield f"{' '.join(command[1:4])}: {_last_line(done)}"
                return
        said = _run([str(python), "-m", "tfmemlint", "--version"], folder).stdout.strip()
        if said != f"tfmemlint {version}":
            yield f"the installed wheel says it is {said or 'nothing'}"
        found = _run([str(python), "-m", "tfmemlint", "check", "--isolated", program.name], folder)
        if found.returncode != 1 or "TFM305" not in found.stdout:
            yield f"the installed wheel does not find TFM305 in a sample: {_last_line(found)}"


def _git(root: Path, *words: str) -> str:
    return subprocess.run(("git", "-C", str(root), *words), capture_output=True, text=True, check=False).stdout


def _run(command: list[str], folder: str | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


def _last_line(done: subprocess.CompletedProcess[str]) -> str:
    lines = (done.stderr.strip() or done.stdout.strip()).splitlines()
    return lines[-1] if lines else f"exit status {done.returncode}"
