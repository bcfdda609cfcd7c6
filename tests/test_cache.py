"""What the cache of earlier results keeps and forgets."""

from __future__ import annotations

from pathlib import Path

from tfmemlint.cache import Cache, digest
from tfmemlint.config import Config
from tfmemlint.engine import FileResult

DATA = b"import tensorflow as tf\n"


def opened(root: Path) -> Cache:
    return Cache(Config(root=str(root)), "rules of today")


def filled(root: Path, *names: str) -> None:
    """Runs over these files, one file each."""
    for name in names:
        (root / name).write_bytes(DATA)
        cache = opened(root)
        cache.put(str(root / name), digest(DATA), FileResult(str(root / name), None, (), 3, False))
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
