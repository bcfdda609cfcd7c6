"""What the cache of earlier results keeps and forgets."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from tfmemlint import __version__
from tfmemlint.config.settings import Config, ConfigError, Configs
from tfmemlint.files.bounded_read import digest_of
from tfmemlint.files.tagged_folder import FOLDER, TAG_TEXT
from tfmemlint.lint.engine import FileResult
from tfmemlint.run.cache import Cache

DATA = b"import tensorflow as tf\n"


def opened(root: Path) -> Cache:
    return Cache(Config(root=str(root)), "rules of today")


def filled(root: Path, *names: str) -> None:
    """Runs over these files, one file each."""
    for name in names:
        (root / name).write_bytes(DATA)
        cache = opened(root)
        cache.put(str(root / name), digest_of(DATA), FileResult(str(root / name), None, (), 3, False))
        cache.save()


def test_a_result_comes_back_for_the_same_bytes_only(tmp_path: Path) -> None:
    filled(tmp_path, "a.py")
    again = opened(tmp_path).get(str(tmp_path / "a.py"), DATA)
    assert again is not None
    assert again.suppressed == 3
    assert opened(tmp_path).get(str(tmp_path / "a.py"), DATA + b"\n") is None
    assert Cache(Config(root=str(tmp_path)), "rules of tomorrow").get(str(tmp_path / "a.py"), DATA) is None


def test_a_run_over_one_file_keeps_what_is_known_of_others(tmp_path: Path) -> None:
    filled(tmp_path, "a.py", "b.py")
    assert opened(tmp_path).get(str(tmp_path / "a.py"), DATA) is not None


def test_files_that_are_gone_are_forgotten(tmp_path: Path) -> None:
    filled(tmp_path, "a.py")
    (tmp_path / "a.py").unlink()
    filled(tmp_path, "b.py")
    assert opened(tmp_path).get(str(tmp_path / "a.py"), DATA) is None
    assert opened(tmp_path).get(str(tmp_path / "b.py"), DATA) is not None


def test_a_damaged_cache_is_no_cache(tmp_path: Path) -> None:
    filled(tmp_path, "a.py")
    path = Path(opened(tmp_path).path)
    path.write_bytes(path.read_bytes()[:-4])
    assert opened(tmp_path).get(str(tmp_path / "a.py"), DATA) is None


# -- a cache that somebody else has laid hands on ---------------------------------------------------------------------


MONTH = 30 * 24 * 3600


def aged(path: Path, text: str = "precious") -> Path:
    """A file of somebody's that was not touched for a month."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.utime(path, (time.time() - MONTH, time.time() - MONTH))
    return path


def snapshot(folder: Path) -> dict[str, tuple[object, ...]]:
    """Names, kinds, contents and times below a folder."""
    found = {}
    for path in [folder, *sorted(folder.rglob("*"))]:
        status = path.lstat()
        content = os.readlink(path) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path)] = (status.st_mode, content, status.st_mtime_ns)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


@pytest.mark.parametrize("where", [FOLDER, f"{FOLDER}/{__version__}", "var", "var/cache"])
def test_no_link_below_the_project_is_followed(where: str, project: Path, tmp_path: Path) -> None:
    """The folder, the version's folder and what leads to a configured one."""
    aged(tmp_path / "docs" / "thesis.txt")
    aged(tmp_path / "docs" / __version__ / "thesis.txt")
    aged(tmp_path / "docs" / ("0" * 32 + ".bin"))
    aged(tmp_path / "docs" / "cache" / "thesis.txt")
    (tmp_path / "docs" / "CACHEDIR.TAG").write_bytes(TAG_TEXT)
    (project / "tfmemlint.toml").write_text("cache-dir = 'var/cache'\n" if where.startswith("var") else "")
    (project / where).parent.mkdir(exist_ok=True)
    (project / where).parent.joinpath("CACHEDIR.TAG").write_bytes(TAG_TEXT)
    (project / where).symlink_to(tmp_path / "docs", target_is_directory=True)
    before = snapshot(tmp_path / "docs")
    cache = Cache(Configs().for_file(str(project / "a.py")), "rules of today")
    cache.put(str(project / "a.py"), digest_of(DATA), FileResult(str(project / "a.py")))
    cache.save()
    assert snapshot(tmp_path / "docs") == before
    assert "is a link, and none is followed there" in cache.refused


OUTSIDE = ("..", "../x", "~", "~/x", "/", "/tmp/x", ".", "", "a/../..", ".git", ".GIT/x", "a\\u0000b")


@pytest.mark.parametrize("value", OUTSIDE)
def test_a_configuration_does_not_lead_the_cache_out_of_its_folder(
    value: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(project.parent))
    (project / ".git").mkdir()
    (project / "tfmemlint.toml").write_text(f'cache-dir = "{value}"\n')
    if not value:
        assert Cache(Configs().for_file(str(project / "a.py")), "rules").folder == str(project / FOLDER)
        return
    with pytest.raises(ConfigError, match=r"cache-dir: .*(must be a folder below this file's directory|is no path)"):
        Configs().for_file(str(project / "a.py"))


def test_the_command_line_leads_it_anywhere(project: Path, tmp_path: Path) -> None:
    (tmp_path / "caches").mkdir()
    (tmp_path / "link").symlink_to("caches", target_is_directory=True)
    (project / "tfmemlint.toml").write_text("cache-dir = '..'\n")
    config = Configs(overrides={"cache_dir": str(tmp_path / "link" / "mine")}).for_file(str(project / "a.py"))
    for _ in range(2):
        cache = Cache(config, "rules of today")
        cache.put(str(project / "a.py"), digest_of(DATA), FileResult(str(project / "a.py"), None, (), 3))
        cache.save()
    assert cache.exists
    assert sorted(os.listdir(tmp_path / "caches" / "mine")) == [".gitignore", __version__, "CACHEDIR.TAG"]


@pytest.mark.parametrize("inside", [True, False])
def test_only_a_named_folder_outside_of_the_project_can_be_carried_over(
    inside: bool, project: Path, tmp_path: Path
) -> None:
    """What lies in the project may have come with it, whoever names it."""
    (project / "tfmemlint.toml").touch()
    folder = (project if inside else tmp_path) / "cache"
    config = Configs(overrides={"cache_dir": str(folder)}).for_file(str(project / "a.py"))
    cache = Cache(config, "rules of today")
    cache.put(str(project / "a.py"), digest_of(DATA), FileResult(str(project / "a.py"), None, (), 3))
    cache.save()
    shutil.copytree(folder, tmp_path / "kept")
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "kept", folder)
    assert Cache(config, "rules of today").exists is not inside


@pytest.mark.parametrize("tag", [None, b"", b"Signature: 8a477f597d28d172789f06886806bc55\n# Made by another tool\n"])
def test_a_folder_that_others_use_is_left_alone(tag: bytes | None, project: Path) -> None:
    aged(project / "build" / __version__ / "result.bin")
    aged(project / "build" / __version__ / ("0" * 32 + ".bin"))
    if tag is not None:
        (project / "build" / "CACHEDIR.TAG").write_bytes(tag)
    (project / "tfmemlint.toml").write_text("cache-dir = 'build'\n")
    before = snapshot(project)
    cache = Cache(Configs().for_file(str(project / "a.py")), "rules of today")
    cache.put(str(project / "a.py"), digest_of(DATA), FileResult(str(project / "a.py")))
    cache.save()
    assert snapshot(project) == before
    assert "there are files in it, and no CACHEDIR.TAG of tfmemlint" in cache.refused


def test_only_old_regular_files_with_names_of_ours_are_forgotten(tmp_path: Path) -> None:
    filled(tmp_path, "a.py")
    folder = Path(opened(tmp_path).path).parent
    outside = aged(tmp_path / "thesis.txt")
    ours = aged(folder / ("a" * 32 + ".bin"))
    new = folder / ("b" * 32 + ".bin")
    new.touch()
    kept = [aged(folder / name) for name in ("notes.txt", "a.bin", "A" * 32 + ".bin", "c" * 32 + ".bin.txt")]
    link = folder / ("d" * 32 + ".bin")
    link.symlink_to(outside)
    os.utime(link, (0, 0), follow_symlinks=False)
    inner = folder / ("e" * 32 + ".bin")
    inner.mkdir()
    os.utime(inner, (0, 0))
    filled(tmp_path, "b.py")
    assert not ours.exists()
    assert all(path.exists() for path in (new, link, inner, outside, *kept))


@pytest.mark.parametrize("kind", ["link", "folder", "pipe", "endless"])
def test_what_stands_in_the_place_of_a_cache_is_not_followed_or_waited_for(kind: str, tmp_path: Path) -> None:
    filled(tmp_path, "a.py")
    path, foreign = Path(opened(tmp_path).path), aged(tmp_path / "thesis.txt")
    content = path.read_bytes()
    path.unlink()
    if kind == "link":
        foreign.write_bytes(content)
        os.utime(foreign, (1, 1))
        path.symlink_to(foreign)
    elif kind == "endless":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    elif hasattr(os, "mkfifo"):
        os.mkfifo(path)
    before = foreign.stat()
    assert opened(tmp_path).get(str(tmp_path / "a.py"), DATA) is None
    filled(tmp_path, "b.py")
    after = foreign.stat()
    assert (after.st_mtime_ns, after.st_size) == (before.st_mtime_ns, before.st_size)
    assert path.is_dir() or (path.is_file() and not path.is_symlink())
    left = [name for name in os.listdir(path.parent) if name != path.name]
    assert left == []


def test_a_cache_that_was_carried_here_says_nothing(tmp_path: Path) -> None:
    """Committed, unpacked from an archive or copied, even to the very place where it was made."""
    filled(tmp_path, "a.py")
    assert opened(tmp_path).get(str(tmp_path / "a.py"), DATA) is not None
    shutil.copytree(tmp_path / FOLDER, tmp_path / "carried")
    shutil.rmtree(tmp_path / FOLDER)
    shutil.copytree(tmp_path / "carried", tmp_path / FOLDER)
    assert opened(tmp_path).get(str(tmp_path / "a.py"), DATA) is None
    assert not opened(tmp_path).exists
    filled(tmp_path, "a.py")
    assert opened(tmp_path).get(str(tmp_path / "a.py"), DATA) is not None


def test_another_checkout_has_another_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where no configuration file tells them apart, too."""
    names = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        names.add(os.path.basename(Cache(Config(), "rules of today").path))
    assert len(names) == 2


def test_names_that_are_no_text_do_not_cost_the_others_their_place(tmp_path: Path) -> None:
    filled(tmp_path, "a.py")
    cache = opened(tmp_path)
    for name in ("b.py", "\udcff.py"):
        cache.put(str(tmp_path / name), digest_of(DATA), FileResult(str(tmp_path / name)))
    cache.save()
    assert opened(tmp_path).get(str(tmp_path / "a.py"), DATA) is not None
    assert cache.refused == ""
