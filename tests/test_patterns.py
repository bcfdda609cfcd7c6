"""Patterns of `.gitignore` and of the configuration: they answer as pathspec does, and the worst of them at once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import forked
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from tfmemlint.config import patterns
from tfmemlint.config.patterns import compiled, matches

PARTS = ["*", "*", "*", "a", "b", "/", "/", "**/", "/**", "?", "[ab]", "[!a]", "[^b]", "[]a]", "[a-b]", "\\a", "\\*",
         "!", "]", ".", "-", "[", "[b-a]", "\\", " "]  # fmt: skip
STARS = ["*", "*", "*a", "a", "a*a", "/", "/**/", "/**"]


def lines_of(parts: list[str]) -> st.SearchStrategy[list[str]]:
    line = st.lists(st.sampled_from(parts), min_size=1, max_size=9).map("".join)
    return st.lists(line, min_size=1, max_size=4)


def paths_of(alphabet: str) -> st.SearchStrategy[list[str]]:
    names = st.lists(st.text(alphabet, min_size=1, max_size=4), min_size=1, max_size=5)
    return st.lists(st.builds("{}{}".format, names.map("/".join), st.sampled_from(["", "/"])), min_size=1, max_size=8)


def is_pattern(line: str) -> bool:
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    except Exception:  # re.error, which is a ValueError only in newer Pythons
        return False
    return True


@pytest.mark.parametrize("few", [1, 2])
@given(lines_of(PARTS), paths_of("aab.*[]-!"), lines_of(STARS), paths_of("aaab"))
@settings(max_examples=400, deadline=None)
@pytest.mark.filterwarnings("ignore:Possible")
def test_answers_are_those_of_pathspec(
    few: int, lines: list[str], paths: list[str], starry: list[str], plain: list[str]
) -> None:
    """With one choice left to regular expressions nearly all patterns with stars are matched without them."""
    assert_equal_answers(few, lines, paths)
    assert_equal_answers(few, starry, plain)


def assert_equal_answers(few: int, lines: list[str], paths: list[str]) -> None:
    lines = [line for line in map(str.lstrip, lines) if is_pattern(line) and line.strip()]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(patterns, "_FEW", few)
        ours = compiled(lines)
    theirs = GitIgnoreSpec.from_lines(lines)
    for path in paths:
        expected, got = theirs.check_file(path), ours.check_file(path)
        assert (got.include, got.index) == (expected.include, expected.index), (lines, path)


class Counted(str):
    """A path that counts how often its characters are read."""

    read = 0

    def __iter__(self) -> Iterator[str]:
        for char in super().__iter__():
            self.read += 1
            yield char


@pytest.mark.parametrize(
    "pattern",
    [
        "*a*a*a*a*a*a*b", "*a" * 500 + "b", "**/a/**/a/**/a/**/b", "a*/*a*a*/**/*a*a*/b", "[ab]*[!b]*?*a*b",
        "!*a*a*a*a*b", "/*a*a*a*a*b/", "*a*a*a*a*a*a*b/**", "\\a*\\a*\\a*\\a*b", "***a***a***a***b",
    ],
)  # fmt: skip
def test_patterns_with_many_stars_read_a_path_once(pattern: str) -> None:
    (found,) = compiled([pattern]).patterns
    for text in ("a" * 200 + ".py", "a/" * 200 + "a.py", ""):
        path = Counted(text)
        assert found.match_file(path) is None
        assert path.read == len(text)


def test_ordinary_patterns_stay_with_pathspec() -> None:
    for line in ("*.py", "build/", "**/gen/*.py", "/docs/_*", "test_*_data*", "*.egg-info/"):
        (found,) = compiled([line]).patterns
        assert type(found) is type(GitIgnoreSpec.from_lines([line]).patterns[0])


def test_a_pattern_longer_than_any_path_matches_none() -> None:
    spec = compiled(["*a" * 200_000, "b.py"])
    assert not spec.match_file("a" * 100)
    assert spec.match_file("b.py")


def test_one_pattern_alone() -> None:
    assert matches("tests/**", "tests/a/b.py")
    assert not matches("tests/**", "src/tests/b.py")
    assert not matches("\\", "a.py")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".gitignore", "{}\n"),
        ("tfmemlint.toml", 'extend-exclude = ["{}"]\n'),
        ("tfmemlint.toml", 'extend-include = ["{}"]\n'),
        ("tfmemlint.toml", '[per-file-ignores]\n"{}" = ["TFM"]\n'),
    ],
    ids=["gitignore", "exclude", "include", "per-file-ignores"],
)
def test_no_pattern_of_a_project_hangs_a_run(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text.format("*a*a*a*a*a*a*b"))
    program = "import tensorflow as tf\nds = tf.data.Dataset.range(9).repeat().cache()\n"
    (tmp_path / f"{'a' * 120}.py").write_text(program)
    (tmp_path / f"{'a' * 120}.txt").touch()
    done = forked.check("--no-cache", "--select=TFM305", "-q", cwd=tmp_path, timeout=300)
    assert (done.returncode, done.stdout.count("TFM305")) == (1, 1)
