"""Files that a run does not read again, as their status says that they are as they were: never one that changed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from command_line import Run

from tfmemlint.config.settings import Config
from tfmemlint.files import unchanged
from tfmemlint.files.bounded_read import digest_of
from tfmemlint.lint.result import FileResult
from tfmemlint.project.importers import Importers
from tfmemlint.run import cache as caches
from tfmemlint.run import runner, seen
from tfmemlint.run.cache import Cache

ONE = b"import tensorflow as tf  # 1\n"
TWO = b"import tensorflow as tf  # 2\n"
PLAIN = b"import os  # no word of that  \n"
UNREAD, READ, LINTED = "not even read", "read and known", "linted"


class Disk:
    """A folder on a file system whose clock is ours to set; sizes, inodes and bytes are those of the real one."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root = root
        self.now = 1_000_000.0
        """Of this machine."""
        self.behind = 0.0
        """Seconds by which the file system's clock is behind."""
        self.tick = 0.0
        self.is_far = False
        """Whether the cache lies elsewhere."""
        self._times: dict[str, tuple[float, float]] = {}
        monkeypatch.setattr(seen, "status_of", self._status)
        monkeypatch.setattr(seen.time, "time", lambda: self.now)
        monkeypatch.setattr(caches, "_clock", self._clock)

    def write(self, name: str, data: bytes, modified: float | None = None) -> None:
        """Change a file; `modified` is set as `touch` sets it."""
        (self.root / name).write_bytes(data)
        now = self._stamp()
        self._times[str(self.root / name)] = (now if modified is None else modified, now)

    def modified(self, name: str) -> float:
        return self._times[str(self.root / name)][0]

    def run(self, name: str, rests_on: str = "") -> str:
        """What a run does with a file."""
        path, cache = str(self.root / name), Cache(Config(root=str(self.root)), "rules of today")
        did, result = UNREAD, cache.unread(path)
        if result is None:
            data = (self.root / name).read_bytes()
            did, result = READ, cache.get(path, data) if b"tensorflow" in data else FileResult(path, skipped=True)
            if result is not None and result.skipped:
                cache.plain(path)
            elif result is None:
                others = {str(self.root / rests_on): digest_of((self.root / rests_on).read_bytes())} if rests_on else {}
                did = LINTED
                cache.put(path, digest_of(data), FileResult(path, rests_on=others))
        cache.save()
        return did

    def _stamp(self) -> float:
        now = self.now - self.behind
        return now // self.tick * self.tick if self.tick else now

    def _status(self, path: str) -> os.stat_result | None:
        real = unchanged_status(path)
        if real is None or path not in self._times:
            return real
        modified, changed = self._times[path]
        values = {key: getattr(real, key) for key in dir(real) if key.startswith("st_")}
        values |= {"st_mtime": modified, "st_ctime": changed}
        values |= {"st_mtime_ns": int(modified * 10**9), "st_ctime_ns": int(changed * 10**9)}
        return type("Status", (), values)()

    def _clock(self, folder: object) -> tuple[float, int]:
        return self.now - self._stamp(), -1 if self.is_far else self.root.stat().st_dev


unchanged_status = unchanged.status_of


@pytest.fixture
def disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(tmp_path, monkeypatch)


@pytest.mark.parametrize("data", [ONE, PLAIN])
def test_a_file_that_was_left_alone_for_a_while_is_not_read_again(data: bytes, disk: Disk) -> None:
    disk.write("a.py", data)
    disk.now += 100
    assert disk.run("a.py") == (LINTED if data is ONE else READ)
    assert disk.run("a.py") == UNREAD
    disk.now += 100
    disk.write("a.py", data)
    assert disk.run("a.py") == READ


@pytest.mark.parametrize("tick", [0.0, 0.01, 1.0, 2.0])
def test_two_edits_in_one_tick_of_the_clock_are_seen(tick: float, disk: Disk) -> None:
    """The size is the same, and the second edit comes after a run has read the first one."""
    disk.tick = tick
    disk.write("a.py", ONE)
    assert disk.run("a.py") == LINTED
    disk.write("a.py", TWO)
    assert disk.run("a.py") == LINTED
    disk.now += 100
    assert disk.run("a.py") == READ  # from now on its status can be trusted
    assert disk.run("a.py") == UNREAD


@pytest.mark.parametrize("data", [ONE, PLAIN])
def test_an_edit_within_the_last_tick_of_a_run_is_seen(data: bytes, disk: Disk) -> None:
    """Where times count two seconds, an edit looks up to two seconds older than it is."""
    disk.tick = 2.0
    disk.now = 1_000_000.1
    disk.write("a.py", PLAIN)
    disk.now = 1_000_001.8
    disk.run("a.py")
    disk.write("a.py", data.ljust(len(PLAIN)))
    assert disk.run("a.py") == (LINTED if data is ONE else READ)


def test_a_clock_that_is_set_back_hides_no_edit(disk: Disk) -> None:
    disk.write("a.py", ONE)
    disk.now += 100
    disk.run("a.py")
    assert disk.run("a.py") == UNREAD
    disk.now -= 5000
    disk.write("a.py", TWO)
    assert disk.run("a.py") == LINTED
    assert disk.run("a.py") == READ
    disk.now += 100
    assert (disk.run("a.py"), disk.run("a.py")) == (READ, UNREAD)


def test_a_file_from_the_future_is_read_until_its_time_has_come(disk: Disk) -> None:
    disk.write("a.py", ONE, modified=disk.now + 1000)
    disk.now += 100
    assert [disk.run("a.py") for _ in range(3)] == [LINTED, READ, READ]
    disk.now += 1000
    assert [disk.run("a.py") for _ in range(2)] == [READ, UNREAD]


def test_a_restored_time_hides_no_edit(disk: Disk) -> None:
    """As `touch -r`, `cp -p`, `tar` and version control may set it."""
    disk.write("a.py", ONE)
    disk.now += 100
    disk.run("a.py")
    disk.now += 100
    disk.write("a.py", TWO, modified=disk.modified("a.py"))
    assert disk.run("a.py") == LINTED


def test_a_server_whose_clock_is_behind_is_found_out(disk: Disk) -> None:
    """A file that was changed just now looks old there."""
    disk.behind, disk.tick = 500.0, 1.0
    disk.write("a.py", ONE)
    assert disk.run("a.py") == LINTED
    disk.write("a.py", TWO)
    assert disk.run("a.py") == LINTED


def test_where_the_cache_lies_elsewhere_clocks_may_differ(disk: Disk) -> None:
    disk.is_far = True
    disk.write("a.py", ONE)
    disk.now += unchanged.TICK + 1
    assert [disk.run("a.py") for _ in range(2)] == [LINTED, READ]
    disk.now += unchanged.FAR
    assert [disk.run("a.py") for _ in range(2)] == [READ, UNREAD]


def test_another_file_of_the_same_size_and_times_is_seen(disk: Disk, tmp_path: Path) -> None:
    disk.write("a.py", ONE)
    disk.now += 100
    disk.run("a.py")
    (tmp_path / "b.py").write_bytes(TWO)
    os.replace(tmp_path / "b.py", tmp_path / "a.py")
    assert disk.run("a.py") == LINTED


def test_a_file_that_a_result_rests_on_is_watched_likewise(disk: Disk) -> None:
    disk.write("a.py", ONE)
    disk.write("b.py", ONE)
    disk.now += 100
    assert [disk.run("a.py", rests_on="b.py") for _ in range(2)] == [LINTED, UNREAD]
    disk.write("b.py", TWO, modified=disk.modified("b.py"))
    assert disk.run("a.py", rests_on="b.py") == LINTED
    disk.write("b.py", ONE)
    assert disk.run("a.py", rests_on="b.py") == LINTED


def test_an_edit_while_a_run_goes_on_is_seen_by_the_next(disk: Disk, tmp_path: Path) -> None:
    """The file changes after the run asked its status, before it read it, and after."""
    disk.write("a.py", ONE)
    disk.write("b.py", ONE)
    disk.now += 100
    cache = Cache(Config(root=str(tmp_path)), "rules of today")
    assert cache.unread(str(tmp_path / "a.py")) is None
    disk.now += 100
    disk.write("a.py", TWO)
    others = {str(tmp_path / "b.py"): digest_of(ONE)}
    disk.write("b.py", TWO)
    cache.put(str(tmp_path / "a.py"), digest_of(TWO), FileResult(str(tmp_path / "a.py"), rests_on=others))
    cache.save()
    assert disk.run("a.py") == LINTED  # b.py is not what the result rests on
    (tmp_path / "b.py").unlink()


def test_nothing_is_written_where_nothing_is_new(disk: Disk, tmp_path: Path) -> None:
    for name, data in (("a.py", ONE), ("b.py", PLAIN)):
        disk.write(name, data)
    disk.now += 100
    for name in ("a.py", "b.py"):
        disk.run(name)
    path = Path(Cache(Config(root=str(tmp_path)), "rules of today").path)
    before = path.stat().st_ino
    assert [disk.run(name) for name in ("a.py", "b.py")] == [UNREAD, UNREAD]
    assert path.stat().st_ino == before


def test_who_imports_a_module_is_seen_anew_after_an_edit_that_leaves_size_and_time(tmp_path: Path) -> None:
    path, module = tmp_path / "train.py", str(tmp_path / "data.py")
    path.write_text("import data\n")
    assert Importers(str(tmp_path)).of(module) == [str(path)]
    status = path.stat()
    path.write_text("import atad\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert Importers(str(tmp_path)).of(module) == []


@pytest.mark.parametrize("name", ["a.py", "inner/a.py", "inner/deeper/a.py"])
def test_what_is_there_is_told_from_the_listing_of_its_folder(name: str, tmp_path: Path) -> None:
    def is_there() -> bool:
        return seen.Seen(lambda key: str(tmp_path / key)).is_there(name)

    assert not is_there()
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    assert not is_there()
    (tmp_path / name).symlink_to("nowhere")
    assert not is_there()
    (tmp_path / name).unlink()
    (tmp_path / name).touch()
    assert is_there()


LEAKS = "import tensorflow as tf\nfor _ in range(9):\n    model = tf.keras.Sequential([tf.keras.layers.Dense(3)])\n"
CLEAN = "import tensorflow as tf\nfor _ in range(9):\n    model = tf.keras.sequential([tf.keras.layers.Dense(3)])\n"


def test_the_command_finds_what_an_edit_brings_that_leaves_size_and_time(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On this very file system, with its own clock."""
    monkeypatch.setattr(runner, "_WORTH_A_CACHE", 0)
    path = here / "a.py"
    path.write_text(CLEAN)
    for text in (CLEAN, LEAKS, CLEAN, LEAKS):
        status = path.stat()
        path.write_text(text)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        for _ in range(2):
            assert run("check", "--isolated", "-j", "1", "-q", "a.py").code == (text is LEAKS)


def test_the_command_reads_no_file_again_that_is_as_it_was(
    run: Run, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "_WORTH_A_CACHE", 0)
    (here / "a.py").write_text(CLEAN)
    (here / "plain.py").write_text("import os\n")
    monkeypatch.setattr(unchanged, "TICK", -3600.0)  # as if the files were an hour old
    first = run("check", "--isolated", "-j", "1", ".")
    read: list[str] = []
    monkeypatch.setattr(runner, "read", lambda target: read.append(target.path))
    again = run("check", "--isolated", "-j", "1", ".")
    assert read == []
    assert (again.code, again.out.partition(" in ")[0]) == (first.code, first.out.partition(" in ")[0])
