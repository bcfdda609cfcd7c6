"""The README and the pages of docs/: their links lead somewhere, their commands run, the site has them all."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from urllib.parse import unquote

import forked
import pytest
import yaml
from command_line import git

from tfmemlint.config.toml import read_toml
from tfmemlint.lint.registry import load_rules

ROOT = Path(__file__).parents[1]
FOLDERS = (".", "docs", "docs/rules", "editors/vscode", "tfmemlint/knowledge")
PAGES = sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).glob("*.md"))
COMMANDS = {
    "docs/ci.md": "test_ci_recipes.py runs its recipes",
    "docs/contributing.md": "test_contributing.py takes the walk through a rule that is being written",
    "docs/fleet.md": "test_fleet.py and test_audit.py run them on clusters and repositories of their own",
    "docs/editors.md": "a server waits for its editor; tests/server are about it",
    "docs/rule-packs.md": "test_rule_packs.py makes, installs and runs the pack",
    "docs/tutorial.md": "its commands are run below in their order",
}
"""Why the commands of a page are not run one by one."""
NOT_RUN = ("tfmemlint estimate train.py --measure", "tfmemlint run ")
"""Commands that run TensorFlow, which other tests do; these have their options tried alone."""
TRAIN = """import numpy as np
import tensorflow as tf

num_classes = 10
model = tf.keras.Sequential([tf.keras.Input((28,)), tf.keras.layers.Dense(num_classes)])
model.compile(optimizer="sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(np.zeros((64, 28), "float32"), np.zeros(64, "int64"), batch_size=16)
{}
data = tf.data.TFRecordDataset('a').repeat().cache()
"""
"""A step of training, and a finding in line 42."""


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def blocks(page: str, *languages: str) -> list[str]:
    """A page's blocks of code in these languages."""
    found = re.findall(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", text_of(page), re.DOTALL | re.MULTILINE)
    return [block for language, block in found if language in languages]


def anchors(text: str) -> set[str]:
    """The names of the headings, as GitHub and the site make them; those that differ are in neither."""
    without_code = re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE)
    found, seen = set(), {}
    for heading in re.findall(r"^#+ (.*)$", without_code, re.MULTILINE):
        words = re.sub(r"[^\w\s-]", "", heading.replace("`", "").lower()).strip()
        if re.sub(r"\s", "-", words) == (name := re.sub(r"[-\s]+", "-", words)):
            found.add(name if name not in seen else f"{name}-{seen[name]}")
            seen[name] = seen.get(name, 0) + 1
    return found


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_to_files_and_headings_that_there_are(page: str) -> None:
    links = re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`(?!\])", "", text_of(page)))
    wrong = []
    for link in (each for each in links if not re.match(r"https?:|mailto:", each)):
        path, _, anchor = unquote(link).partition("#")
        target = (ROOT / page).parent / path if path else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target.read_text("utf-8"))):
            wrong.append(link)
    assert wrong == []


@pytest.mark.parametrize("page", PAGES)
def test_blocks_of_data_can_be_read(page: str) -> None:
    for text in blocks(page, "json"):  # some are lines of an object
        json.loads(text if text.lstrip()[0] in "{[" else "{" + text.strip().rstrip(",") + "}")
    for text in blocks(page, "yaml"):
        list(yaml.safe_load_all(text))
    for text in blocks(page, "toml"):
        read_toml(text.encode())


def test_the_site_has_every_page_and_no_other() -> None:
    config = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))

    def named(entry: object) -> list[str]:
        if isinstance(entry, str):
            return [entry]
        inner = entry.values() if isinstance(entry, dict) else entry
        return [name for each in inner for name in named(each)]

    of_the_root = {path.name.lower() for path in ROOT.glob("*.md")} - {"readme.md"}
    pages = {"index.md", *of_the_root, "rules/README.md", *(path.name for path in (ROOT / "docs").glob("*.md"))}
    assert sorted(named(config["nav"])) == sorted(pages)  # docs/site_hooks.py adds the rules


def test_the_readme_counts_the_rules() -> None:
    (said,) = re.findall(r"(\d+) rules:", text_of("README.md"))
    assert int(said) == sum(rule.code.startswith("TFM") for rule in load_rules())


# -- commands ---------------------------------------------------------------------------------------------------------


def commands(page: str) -> list[str]:
    """The commands of a page's blocks of shell, without what stands behind them to explain them."""
    lines = [line for block in blocks(page, "sh", "") for line in block.splitlines() if line.startswith("tfmemlint ")]
    return [re.split(r"\s{2,}|\s+#\s", line)[0] for line in lines]


RUN = [(page, line) for page in PAGES if page not in COMMANDS for line in dict.fromkeys(commands(page))]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What the commands of the pages name: a script, a notebook, a folder, in a repository with a branch main."""
    program = TRAIN.format("\n" * 33)
    assert program.splitlines()[41].startswith("data")
    cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": []}
    last = "import tensorflow as tf\n\n\n\ndata = tf.data.TFRecordDataset('a').repeat().cache()\n"
    cells = [{**cell, "source": source} for source in ("x = 1\n", TRAIN.split("{}")[0], last)]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src").mkdir()
    for name in ("train.py", "a.py", "src/train.py"):
        (tmp_path / name).write_text(program)
    (tmp_path / "nb.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    for words in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-q", "-m", "first")):
        git(*words)
    return tmp_path


@pytest.mark.parametrize(("page", "line"), RUN, ids=[f"{page}: {line}" for page, line in RUN])
def test_commands_run(page: str, line: str, project: Path) -> None:
    words = shlex.split(line)[1:]
    given = None
    if "<" in words:
        given = (project / words[-1]).read_text()
        words = words[: words.index("<")]
    if words[0] == "verify" and "--dry-run" not in words:
        words.append("--dry-run")
    if line.startswith(NOT_RUN):
        words = [words[0], *[word for word in words[1:] if word.startswith("--m")], "--help"]
    done = forked.run(*words, cwd=project, input=given)
    assert done.returncode in (0, 1), done.stderr
    assert "error" not in done.stderr
    assert (done.stdout + done.stderr).strip() or "-o" in words


def test_reasons_not_to_run_commands_are_of_pages_that_there_are() -> None:
    assert set(COMMANDS) <= set(PAGES)
    assert len(RUN) > 25


def test_the_tutorial_is_what_happens(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    folder = tmp_path
    typed = "".join(blocks("docs/tutorial.md", "console"))
    for line, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", typed, re.MULTILINE):
        words = shlex.split(line)
        if words[0] == "cp":
            shutil.copytree(folder / words[2], folder / words[3])
        elif words[0] == "cd":
            folder /= words[1]
            (folder / "pyproject.toml").write_text("".join(blocks("docs/tutorial.md", "toml")))
        else:
            printed = re.sub(r", in [\d.]+ s\.", ".", forked.run(*words[1:], cwd=folder).stdout)
            if shown.endswith("...\n"):
                printed = printed[: len(shown) - 4] + "...\n"
            assert printed == shown, line
