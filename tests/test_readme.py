"""What the README and the pages on checking, configuration and silencing show is what the tool does."""

import json
import re
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import forked
import pytest

from tfmemlint.dev import verified
from tfmemlint.dev.pictures import terminal, write_pictures
from tfmemlint.verify.pages.report import figure

ROOT = Path(__file__).parents[1]
SHOWN = "\n".join((ROOT / "docs" / name).read_text("utf-8") for name in ("check.md", "configuration.md", "silence.md"))
BATCHES = """def batches(files):
    images = tf.data.TFRecordDataset(files).map(decode, num_parallel_calls=8)
    return images.batch(32).prefetch(1000)
"""
PROGRAM = """import tensorflow as tf


{shown}

def decode(record):
    image = tf.io.decode_jpeg(record, channels=3)
    return tf.image.resize(image, [224, 224])
"""


def block(language: str, containing: str) -> str:
    """The text of the pages' block of code that contains these words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", SHOWN, re.DOTALL | re.MULTILINE)
    return next(text for text in blocks if containing in text)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "train.py").write_text(PROGRAM.format(shown=BATCHES))
    return tmp_path


def check(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return forked.check("--no-cache", *arguments, cwd=folder)


def test_the_pictures_are_fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert write_pictures(Path("docs"), check=True) == [], "run `python -m tfmemlint.dev pictures`"
    drawn = {f"docs/{path.name}" for path in (ROOT / "docs").glob("*.svg")}
    assert set(re.findall(r"!\[[^]]+\]\((\S+)\)", (ROOT / "README.md").read_text("utf-8"))) == drawn


def test_the_picture_of_what_was_measured_is_of_a_finding_that_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = json.loads((ROOT / "docs" / "verified.json").read_text("utf-8"))
    (found,) = json.loads(check(ROOT, "--isolated", "--output-format", "json", "examples/data.py").stdout)
    place = f"examples/data.py:{found['location']['row']}:{found['location']['column']}"
    assert [kept[key] for key in ("code", "name", "message", "place")] == [
        *(found[key] for key in ("code", "name", "message")), place
    ]  # fmt: skip
    readme, drawn = (ROOT / "README.md").read_text("utf-8"), (ROOT / "docs" / "verify.svg").read_text("utf-8")
    for side in ("before", "after"):
        words = figure(kept[side], kept["unit"])
        assert words in readme and words in drawn
    ElementTree.fromstring(drawn)


def test_the_figures_of_the_picture_are_what_verify_printed(tmp_path: Path) -> None:
    before = [[0.1, 5, 9], [0.2, 5, 9], [0.31234, 7, 9]]
    runs = {"before": [{"timeline": before}], "after": [{"timeline": [[0.1, 4, 9]]}]}
    told = {
        "code": "TFM304", "name": "oversized-prefetch", "place": "a<b.py:1:1", "message": "many & large",
        "verdict": "confirmed", "metric": "peak_bytes", "unit": "bytes", "before": 7, "after": 4, "alone": False,
    }  # fmt: skip
    where = {"versions": {"tensorflow": "2.21.0"}, "device": "CPU (x86_64 Linux)", "repeats": 3, "isolation": "none"}
    (tmp_path / "printed.json").write_text(json.dumps({"environment": where, "results": [{**told, "runs": runs}]}))
    verified.keep(tmp_path / "printed.json", tmp_path)
    kept = json.loads((tmp_path / "verified.json").read_text())
    assert kept["timeline"] == {"before": [[0.1, 5], [0.312, 7], [0.312, 7]], "after": [[0.1, 4], [0.1, 4]]}
    texts = ["".join(each.itertext()) for each in ElementTree.fromstring(verified.picture(tmp_path / "verified.json"))]
    assert {"a<b.py:1:1", "many & large", "tensorflow 2.21.0; CPU, 3 runs each"} <= set(texts)


def test_a_picture_of_a_terminal_says_what_the_terminal_does() -> None:
    line = "a.py:1: \x1b[1;33mwarning\x1b[0m a < b \x1b[2m|\x1b[0m"
    drawn = terminal(f"{line}\n\n    ^^\n", "a & b")
    assert re.findall(r"<text[^>]*>([^<]*)</text>", drawn) == ["a.py:1:", "warning", "a &lt; b", "|", "^^"]
    assert '<text class="bold yellow"' in drawn and "\x1b" not in drawn and 'aria-label="a &amp; b"' in drawn
    assert not re.search(r"url\(|href|@import|<script", drawn), "it needs nothing but itself"


def test_fix_touches_only_what_is_shown(folder: Path) -> None:
    before = (folder / "train.py").read_text()
    assert check(folder, "--isolated", "--fix", "train.py").returncode == 0
    assert (folder / "train.py").read_text() == before.replace("prefetch(1000)", "prefetch(tf.data.AUTOTUNE)")


def test_json_has_the_keys_that_are_shown(folder: Path) -> None:
    shown = json.loads(block("json", '"code"'))
    (printed,) = json.loads(check(folder, "--isolated", "--output-format", "json").stdout)
    assert list(printed) == list(shown)
    assert list(printed["fix"]) == list(shown["fix"])
    assert list(printed["fix"]["edits"][0]) == list(shown["fix"]["edits"][0])
    assert list(printed["related"][0]) == list(shown["related"][0])
    for key in ("code", "name", "severity", "location", "end_location", "bytes", "url", "cell"):
        assert printed[key] == shown[key]


def test_what_an_import_leads_to_is_found_as_said(folder: Path) -> None:
    (folder / "data.py").write_text(block("python", "# data.py"))
    (folder / "train.py").write_text(block("python", "# train.py"))
    (finding,) = json.loads(check(folder, "--isolated", "--output-format", "json").stdout)
    said = " ".join(SHOWN.split())
    assert (Path(finding["filename"]).name, finding["message"] in said) == ("train.py", True)
    related = [(Path(each["filename"]).name, each["message"]) for each in finding["related"]]
    assert related == [("data.py", "batched here")]


def test_configuration_is_accepted_and_in_effect(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(block("toml", "[tool.tfmemlint]"))
    done = check(folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert "TFM304" in done.stdout


def test_comments_silence(folder: Path) -> None:
    statements = block("python", "tfmemlint: ignore").replace("...\n", "ds = ds.repeat(2).cache()\n")
    prelude = "import tensorflow as tf\n\nds = tf.data.TFRecordDataset('train').repeat(2)\n"
    (folder / "train.py").write_text(prelude + statements)
    done = check(folder, "--isolated", "train.py")
    assert done.returncode == 0, done.stdout
    (folder / "train.py").write_text(prelude + re.sub(r"#.*", "", statements))
    assert check(folder, "--isolated", "--output-format", "concise", "train.py").stdout.count("TFM305") == 4
