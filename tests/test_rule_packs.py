"""The example pack of docs/rule-packs.md: built, installed and run as its author and its users would."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
PACK = DOCS / "examples" / "acme-rules"
QUOTED = re.compile(r"<!-- docs/(\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the pack, with the pack built and installed into its folder `site`."""
    root = tmp_path_factory.mktemp("pack") / "acme-rules"
    shutil.copytree(PACK, root, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info", "build"))
    offline = ("--no-build-isolation", "--no-deps", "--no-index", "--disable-pip-version-check", "--no-compile")
    run(root, "pip", "install", *offline, "--target", "site", ".")
    return root


def run(root: Path, *arguments: str, code: int = 0) -> str:
    """What `python -m ...` prints in the pack's root, where the pack is installed."""
    environment = {**os.environ, "PYTHONPATH": str(root / "site"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", *arguments]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


def test_only_what_rules_need_is_installed(checkout: Path) -> None:
    installed = {path.relative_to(checkout / "site").as_posix() for path in (checkout / "site/acme_rules").rglob("*")}
    wanted = {"__init__.py", "autotune_on_shared_hosts.py", "examples.json", "weights_saved_per_batch.py"}
    assert {name for name in installed if "__pycache__" not in name} == {f"acme_rules/{name}" for name in wanted}


def test_the_packs_own_tests_pass(checkout: Path) -> None:
    told = run(checkout, "pytest", "-q", "-p", "no:cacheprovider", "tests")
    assert re.search(r"^\d+ passed", told, re.MULTILINE), told


def test_its_rules_run_beside_the_built_in_ones(checkout: Path) -> None:
    told = run(checkout, "tfmemlint", "check", "--isolated", "--output-format", "concise", "fixtures", code=1)
    assert {"ACM101", "ACM102"} <= set(re.findall(r"\bACM\d+\b", told))
    only = run(checkout, "tfmemlint", "check", "--isolated", "--select", "ACM1", "--fix", "--diff", "fixtures", code=1)
    assert "+" + 'ds = tf.data.TFRecordDataset("train").map(tf.io.decode_jpeg, num_parallel_calls=4)' in only


def test_its_pages_are_fresh_and_show_the_examples_of_the_installed_pack(checkout: Path) -> None:
    run(checkout, "tfmemlint.dev", "docs", "--rules", "acme_rules", "--prefix", "ACM", "--check")
    assert "Start as many as the job has processors:" in run(checkout, "tfmemlint", "rule", "ACM102")


def test_its_rules_import_the_api_and_nothing_else() -> None:
    found = {name for path in PACK.glob("acme_rules/*.py") for name in re.findall(r"tfmemlint\.\w+", path.read_text())}
    assert found == {"tfmemlint.api"}


def test_the_document_quotes_the_packs_files() -> None:
    quotes = QUOTED.findall((DOCS / "rule-packs.md").read_text("utf-8"))
    assert len(quotes) >= 7
    for name, text in quotes:
        assert text in (DOCS / name).read_text("utf-8"), f"docs/rule-packs.md quotes what {name} does not say"
