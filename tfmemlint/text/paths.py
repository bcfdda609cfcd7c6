"""What the path of a file says of it."""

from __future__ import annotations


def is_named_test(path: str) -> bool:
    """Whether a file is a unit test by its name, as pytest and `unittest` look for them, or belongs to some."""
    name = path.replace("\\", "/").rpartition("/")[2].removesuffix(".py")
    ends = ("_test", "_tests", "test_utils", "test_util")
    return name == "conftest" or name.startswith("test_") or name.endswith(ends)
