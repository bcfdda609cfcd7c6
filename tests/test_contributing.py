"""docs/contributing.md as its reader takes it: the walk through a new rule, and commands that there are."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tfmemlint.lint.registry import load_rules

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs/contributing.md").read_text("utf-8")
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "node_modules", "build", "dist", "*.egg-info")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^ *```{language}\n(.*?)^ *```$", PAGE, re.DOTALL | re.MULTILINE)


def block(language: str, words: str) -> str:
    (found,) = [each for each in blocks(language) if words in each]
    return found


def typed() -> list[list[str]]:
    """The commands of the page's blocks of shell, in words, without the variables before them."""
    lines = [re.split(r"\s+#\s", line)[0] for each in blocks("sh") for line in each.splitlines()]
    commands = [[word for word in shlex.split(line) if not word.startswith("TEST_DAY=")] for line in lines]
    return [["python" if word.endswith("/python") else word for word in words] for words in commands]


class Checkout:
    """A copy of this checkout in which the rule of the walk was never written."""

    def __init__(self, root: Path) -> None:
        self.root = root
        shutil.copytree(ROOT, root, ignore=LEFT_OUT, symlinks=True)
        for name in ("fixtures/TFM307-shuffle-after-batch", "tests/robustness", "tests/verify", "tests/server"):
            shutil.rmtree(root / name)
        (root / "rules/shuffle_after_batch.py").unlink()
        (root / "docs/rules/TFM307.md").unlink()
        for name in ("rules", "fixtures"):
            (root / f"tfmemlint_{name}").symlink_to(name)  # as an installation in place has it

    def run(self, *words: str, code: int = 0) -> str:
        """What a command prints here."""
        command = [sys.executable, *words[1:]] if words[0] == "python" else [sys.executable, "-m", *words]
        environment = {**os.environ, "PYTHONPATH": str(self.root)}
        done = subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Checkout]:
    root = tmp_path_factory.mktemp("walk") / "tfmemlint"
    yield Checkout(root)
    shutil.rmtree(root)


def test_the_walk_ends_with_a_rule_that_its_samples_hold(checkout: Checkout) -> None:
    made = checkout.run(*shlex.split(block("sh", "dev new-rule")))
    (folder,) = checkout.root.glob("fixtures/TFM*-shuffle-after-batch")
    code = folder.name[:6]
    assert f"fixtures/{folder.name}/basic/bad.py" in made
    for name, words in (("bad", "#! TFM307"), ("good", "coarse =")):
        (folder / f"basic/{name}.py").write_text(block("python", words).replace("TFM307", code))
    module = checkout.root / "rules/shuffle_after_batch.py"
    module.write_text(written(module.read_text(), code))

    blessed = shlex.split(re.split(r"\s+#\s", block("sh", "--bless -n 0 -k TFM307").replace("TFM307", code))[0])
    checkout.run(*blessed, "-p", "no:cacheprovider")
    words = f"{code} shuffle-after-batch warning\n    shuffle() after batch() buffers whole batches"
    assert words in (folder / "basic/findings.txt").read_text()
    assert "from_tensor_slices(images).shuffle(500).batch(32)" in (folder / "basic/fixed.py").read_text()
    checkout.run("python", "-m", "tfmemlint.dev", "docs")
    page = (checkout.root / f"docs/rules/{code}.md").read_text()
    assert "Shuffle examples, then batch them:" in page
    alone = block("sh", "path/to/projects").replace("TFM307", code).replace("path/to/projects", str(folder))
    told = checkout.run(*shlex.split(alone), code=1)
    assert told.count(f" {code} ") == 1


def written(new: str, code: str) -> str:
    """The module that `new-rule` wrote, with the page's handler and its repair in it."""
    handler, (repair,) = block("python", "class ShuffleAfterBatch"), [
        each for each in blocks("python") if "shuffle before batching" in each
    ]
    head, docstring, _ = re.split(r'(    """.*?    """\n)', new, flags=re.DOTALL)
    imports, body = re.split(r'    """.*?    """\n', handler, flags=re.DOTALL)
    docstring = docstring.replace("    ## When not", "    ## Fix safety\n    Unsafe: another order.\n\n    ## When not")
    lines = "".join(f"        {line}\n" for line in repair.splitlines())
    body = body.replace("        ...\n", lines).replace("fix=...", "fix=fix").replace("TFM307", code)
    start = head[: head.index("from tfmemlint.api")]
    return start + imports.replace("\n\n\n", "\n\nSMALL_BUFFER = 16\n\n\n") + docstring + body


def test_targets_and_files_that_commands_name_are_there() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for words in typed():
        if words[0] == "make":
            named = [word for word in words[1:] if "=" not in word]
            assert all(name in targets or name.startswith(".venv/") for name in named), words
        if "pytest" in words:
            assert all((ROOT / word).exists() for word in words if word.startswith("tests/")), words


def test_words_behind_k_are_of_rules_and_tests_that_there_are() -> None:
    rules = {rule.code for rule in load_rules()} | {path.stem for path in (ROOT / "rules").glob("*.py")}
    tests = "".join(path.read_text("utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    for words in (words for words in typed() if "-k" in words):
        for name in words[words.index("-k") + 1].split(" or "):
            assert name in rules or re.search(rf"^def test_\w*{name}", tests, re.MULTILINE), words


@pytest.mark.parametrize("module", ["tfmemlint.dev", "tests.fuzz"])
def test_options_that_commands_name_are_there(module: str) -> None:
    for words in (words for words in typed() if module in words):
        verb = [word for word in words[3:4] if not word.startswith("-")]
        told = subprocess.run([sys.executable, "-m", module, *verb, "--help"], cwd=ROOT, capture_output=True, text=True)
        assert told.returncode == 0, told.stderr
        assert {word for word in words[3:] if word.startswith("--")} <= set(re.findall(r"--[\w-]+", told.stdout)), words
