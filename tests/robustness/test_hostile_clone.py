"""A clone that brings everything at once: links, pipes, devices, a poisoned cache, hostile names and configuration.

Whatever is run over it, nothing changes outside of the cache but what the command is for, what can be read is still
reported, and the exit code says that something could not be.
"""

from __future__ import annotations

import json
import os
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import forked
import pytest

from tfmemlint import __version__
from tfmemlint.files.tagged_folder import FOLDER, TAG_TEXT

pytestmark = pytest.mark.skipif(os.name != "posix", reason="other systems have no such files")

WASTE = "import tensorflow as tf\nds = tf.data.Dataset.range(9).repeat().cache()\n"
REPAIRED = WASTE.replace(".repeat().cache()", ".cache().repeat()")
NAMES = (
    "line\nend.py", "a\n::error title=x::pwned.py", "::error::x.py", "\x1b[31mred.py", "bidi\u202eyp.py", "-rf.py",
    "--config=evil.toml.py", "\udcff.py", "x" * 252 + ".py", "tab\t\"quote'\\.py", " .py", "$(touch pwned).py",
)  # fmt: skip
GOOD = ("good.py", "src/good.py", *NAMES)
CACHES = ("src", "linked", "version", "dotted", "foreign", "endless")
OWN_NAME = "0123456789abcdef" * 2 + ".bin"
MONTH = 30 * 24 * 3600


def put(path: Path, text: str = "precious", age: float = MONTH) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    os.utime(path, (time.time() - age, time.time() - age))
    return path


def git(folder: Path, *words: str) -> None:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "core.hooksPath=/dev/null")
    command = ["git", "-C", str(folder), *identity, *words]
    subprocess.run(command, check=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=60)


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What git can carry: committed once, and cloned for each test."""
    repo = tmp_path_factory.mktemp("hostile") / "origin"
    repo.mkdir()
    for name in GOOD:
        put(repo / name, WASTE)
    links(repo)
    caches(repo)
    configurations(repo)
    put(repo / ".gitattributes", "*.py filter=evil diff=evil\n")
    git(repo, "init", "--quiet", "--initial-branch=main")
    git(repo, "add", "--force", "--all")
    git(repo, "commit", "--quiet", "--message=innocent")
    return repo


def links(repo: Path) -> None:
    targets = {
        "away.py": "../home/secret.py", "folder.py": "../home", "dangling.py": "nowhere.py", "new.py": "../home/new.py",
        "loop": ".", "up": "..", "zero.py": "/dev/zero", "random.py": "/dev/random", "inside.py": "good.py",
        "memory.py": "/proc/self/mem", "report.json": "../home/report.json", "new.json": "../home/new.json",
    }  # fmt: skip
    for name, target in targets.items():
        (repo / name).symlink_to(target)


def caches(repo: Path) -> None:
    """A project of its own for each way to lead the cache astray."""
    for name in CACHES:
        put(repo / "caches" / name / "a.py", WASTE)
        put(repo / "caches" / name / "tfmemlint.toml", "")
    put(repo / "caches" / "src" / FOLDER / __version__ / OWN_NAME)
    put(repo / "caches" / "src" / FOLDER / "CACHEDIR.TAG", TAG_TEXT.decode())
    (repo / "caches" / "linked" / FOLDER).symlink_to("../../../home/docs", target_is_directory=True)
    put(repo / "caches" / "version" / FOLDER / "CACHEDIR.TAG", TAG_TEXT.decode())
    (repo / "caches" / "version" / FOLDER / __version__).symlink_to("../../../../home/docs", target_is_directory=True)
    put(repo / "caches" / "dotted" / "tfmemlint.toml", "cache-dir = '.'\n")
    put(repo / "caches" / "foreign" / "tfmemlint.toml", "cache-dir = 'work'\n")
    put(repo / "caches" / "foreign" / "work" / __version__ / OWN_NAME)
    tag = repo / "caches" / "endless" / FOLDER / "CACHEDIR.TAG"
    tag.parent.mkdir()
    tag.symlink_to("/dev/zero")


def configurations(repo: Path) -> None:
    texts = {
        "outside-cache": "cache-dir = '../../../home'", "home-cache": "cache-dir = '~'",
        "root-cache": "cache-dir = '/'",
        "outside-baseline": "baseline = '../../../home/docker.json'", "zero-baseline": "baseline = '/dev/zero'",
        "huge": "gpu-memory = '99999999999999999999GiB'", "broken": "= [", "nul": 'baseline = "\\u0000"',
    }  # fmt: skip
    for name, text in texts.items():
        put(repo / "configured" / name / "tfmemlint.toml", f"{text}\n")
        put(repo / "configured" / name / "a.py", WASTE)
    put(repo / "configured" / "endless" / "a.py", WASTE)
    (repo / "configured" / "endless" / "pyproject.toml").symlink_to("/dev/zero")


@pytest.fixture
def clone(origin: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The clone, with what only an archive brings put into it, beside the user's home."""
    home = tmp_path / "home"
    put(home / "secret.py", WASTE)
    put(home / "docker.json", '{"auths": {}}')
    for name in ("thesis.txt", OWN_NAME, f"{__version__}/thesis.txt", f"{__version__}/{OWN_NAME}"):
        put(home / "docs" / name)
        put(home / name)
    put(home / "linked.py", WASTE)
    git(tmp_path, "clone", "--quiet", str(origin), "clone")
    folder = tmp_path / "clone"
    os.link(home / "linked.py", folder / "hard.py")
    for name in ("pipe.py", "src/pipe.ipynb", "sub/.gitignore", "configured/pipe/tfmemlint.toml"):
        (folder / name).parent.mkdir(exist_ok=True, parents=True)
        os.mkfifo(folder / name)
    for name in ("sub/a.py", "configured/pipe/a.py"):
        put(folder / name, WASTE)
    with socket.socket(socket.AF_UNIX) as made:
        monkeypatch.chdir(folder)
        made.bind("socket.py")
    with suppress(OSError):  # only the superuser makes devices
        os.mknod(folder / "device.py", stat.S_IFCHR | 0o666, os.makedev(1, 5))
    git(folder, "config", "core.fsmonitor", f"touch {home}/pwned; false")
    git(folder, "config", "filter.evil.clean", f"touch {home}/pwned; cat")
    git(folder, "config", "diff.evil.textconv", f"touch {home}/pwned; cat")
    monkeypatch.setenv("HOME", str(home))
    yield folder


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Kinds, modes, sizes, contents, targets and times of all that lies in a folder, but the caches of its projects."""
    found: dict[str, tuple[object, ...]] = {}
    for path, folders, files in os.walk(folder):
        if folder.name != "home":
            folders[:] = [each for each in folders if each != FOLDER or os.path.islink(os.path.join(path, each))]
        for name in (".", *folders, *files):
            full = os.path.join(path, name)
            status = os.lstat(full)
            content: object = None
            if stat.S_ISLNK(status.st_mode):
                content = os.readlink(full)
            elif stat.S_ISREG(status.st_mode):
                content = Path(full).read_bytes()
            # A folder's time tells of the cache that was made in it.
            changed = 0 if stat.S_ISDIR(status.st_mode) and folder.name != "home" else status.st_mtime_ns
            found[os.path.relpath(full, folder)] = (status.st_mode, content, changed, status.st_nlink)
    return {name: about[:3] if stat.S_ISDIR(int(str(about[0]))) else about for name, about in found.items()}


def changes(folder: Path, before: dict[str, tuple[object, ...]]) -> set[str]:
    after = snapshot(folder)
    return {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}


def check(*words: str) -> subprocess.CompletedProcess[str]:
    return forked.check("--select=TFM305", *words, timeout=100, env={**os.environ, "GIT_CONFIG_NOSYSTEM": "1"})


REPORTED = {
    *GOOD, "hard.py", "sub/a.py",
    *(f"caches/{name}/a.py" for name in CACHES if name != "dotted"),
}  # fmt: skip
"""What is readable and governed by a configuration that can be used."""

UNUSABLE = (
    *("configured/outside-cache", "configured/home-cache", "configured/root-cache", "configured/broken"),
    *("configured/huge", "configured/outside-baseline", "configured/zero-baseline", "configured/endless"),
    *("configured/pipe", "configured/nul", "caches/dotted", "sub/.gitignore"),
)
READS = [
    (), ("-v",), ("-j2",), ("--statistics",), ("--no-cache", "--respect-gitignore"), ("--diff",), ("--diff-base=HEAD",),
    ("--cache-dir=caches/linked/.tfmemlint_cache/0.1.0", "-q"), ("-o", "report.json"), ("-o", "new.json"),
    *((f"--output-format={name}",) for name in ("concise", "github", "sarif", "junit")),
]  # fmt: skip


@pytest.mark.parametrize("words", READS, ids=" ".join)
def test_reading_changes_nothing(words: tuple[str, ...], clone: Path) -> None:
    home, own = snapshot(clone.parent / "home"), snapshot(clone)
    done = check(*words)
    assert changes(clone.parent / "home", home) == set()
    assert changes(clone, own) == set()
    assert done.returncode == 2, done.stderr
    assert "\x1b" not in done.stdout + done.stderr and "Traceback" not in done.stderr
    assert words[0:1] == ("--output-format=github",) or not any(
        line.startswith("::") for line in (done.stdout + done.stderr).splitlines()
    )


def test_all_that_can_be_read_is_reported(clone: Path) -> None:
    for _ in range(2):  # and so it is when there is a cache
        done = check("--output-format=json")
        found = json.loads(done.stdout)
        names = {os.path.relpath(each["filename"], clone) for each in found if each["code"] == "TFM305"}
        assert names == REPORTED
        assert {each["code"] for each in found} == {"TFM305"}
        assert done.returncode == 2
        assert [name for name in UNUSABLE if name not in done.stderr] == []


def test_repairs_change_the_files_of_the_clone_only(clone: Path) -> None:
    home, own = snapshot(clone.parent / "home"), snapshot(clone)
    done = check("--fix")
    assert changes(clone.parent / "home", home) == {"linked.py"}, "the link count of what was a hard link"
    assert (clone.parent / "home" / "linked.py").read_text() == WASTE
    assert changes(clone, own) == REPORTED
    assert {name for name in REPORTED if (clone / name).read_text() != REPAIRED} == set()
    assert "hard.py: the file had other names (hard links), and these keep what it was before" in done.stderr
    assert done.returncode == 2


def test_ignore_comments_are_written_to_files_of_the_clone_only(clone: Path) -> None:
    home, own = snapshot(clone.parent / "home"), snapshot(clone)
    assert check("--add-ignore").returncode == 2
    assert changes(clone.parent / "home", home) == {"linked.py"}
    assert changes(clone, own) == REPORTED
    assert {name for name in REPORTED if "ignore[TFM305]" not in (clone / name).read_text()} == set()


@pytest.mark.parametrize(
    ("words", "written"),
    [
        (("--write-baseline",), {"tfmemlint-baseline.json"}),
        (("--write-baseline=mine.json",), {"mine.json"}),
        (("--write-baseline=report.json",), set()),
        (("--write-baseline=new.json",), set()),
        (("--write-baseline", "configured/outside-baseline"), set()),
        (("--write-baseline", "configured/zero-baseline"), set()),
        (("--write-baseline=good.py",), set()),
        (("--write-baseline=pipe.py",), set()),
    ],
)
def test_a_baseline_is_written_to_its_place_only(words: tuple[str, ...], written: set[str], clone: Path) -> None:
    home, own = snapshot(clone.parent / "home"), snapshot(clone)
    assert check(*words).returncode == 2
    assert changes(clone.parent / "home", home) == set()
    assert changes(clone, own) == written


PACK = "open('../home/pwned', 'w').close()\n"


@pytest.mark.parametrize("name", ["msgspec.py", "libcst.py", "tfmemlint_rules.py", "sitecustomize.py", "evil.py"])
def test_modules_and_rule_packs_of_the_working_directory_are_not_imported(name: str, clone: Path) -> None:
    put(clone / name, PACK)
    put(clone / "evil-1.0.dist-info" / "METADATA", "Metadata-Version: 2.1\nName: evil\nVersion: 1.0\n")
    put(clone / "evil-1.0.dist-info" / "entry_points.txt", "[tfmemlint.rules]\nevil = evil\n")
    command = [sys.executable, "-m", "tfmemlint", "check", "--select=TFM305", "--isolated", "good.py"]
    environment = {**os.environ, "PYTHONPATH": "", "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(command, capture_output=True, timeout=100, stdin=subprocess.DEVNULL, env=environment)
    assert done.returncode == 1
    assert not (clone.parent / "home" / "pwned").exists()
