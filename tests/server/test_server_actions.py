"""What is offered at a finding, and that choosing it gives the text that `check --fix` gives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tfmemlint_fixtures
from command_line import Run
from daily import share
from rpc import PREFETCH, Client, applied, marked, whole

from tfmemlint.config.settings import Config
from tfmemlint.finding import Safety
from tfmemlint.lint.linter import Linter
from tfmemlint.project.projects import Projects
from tfmemlint.run.repair import Gate, repair

FIXTURES = Path(tfmemlint_fixtures.__path__[0])
SAMPLES = sorted(FIXTURES.glob("*/ways/bad.py"))
DAYS = 12
"""On how many days each rule's sample has been repaired in the editor once."""
FIX_ALL = "source.fixAll.tfmemlint"
ALL = "Make all safe repairs of tfmemlint"
QUICK = "Let TensorFlow choose the buffer (TFM304)"
TEXT = PREFETCH.format(before="")
TWICE = """import tensorflow as tf

a = tf.data.Dataset.range(9).repeat().cache()
b = tf.data.Dataset.range(8).repeat().cache()
"""


def fixed_by_command(run: Run, path: Path, text: str, *words: str) -> str:
    """The text after `check --fix`."""
    path.write_text(text, "utf-8")
    run("check", "--isolated", "-n", "--fix", *words, str(path))
    return path.read_text("utf-8")


@pytest.mark.parametrize("before", ["", "x = '😀'; "])
def test_a_quick_fix_does_what_the_command_does(client: Client, run: Run, tmp_path: Path, before: str) -> None:
    text = PREFETCH.format(before=before)
    (found,) = client.open("train.py", text)
    action = client.actions(client.uri("train.py"), found["range"])[QUICK]
    assert action["isPreferred"] and action["kind"] == "quickfix" and action["diagnostics"] == [found]
    expected = fixed_by_command(run, tmp_path / "train.py", text)
    assert client.chosen(action) == {client.uri("train.py"): expected}
    assert client.change("train.py", expected) == []


def test_line_ends_stay_as_they_are(client: Client) -> None:
    text = TEXT.replace("\n", "\r\n").replace("as tf\r\n\r\n", "as tf\n\n")
    (found,) = client.open("train.py", text)
    chosen = client.chosen(client.actions(client.uri("train.py"), found["range"])[QUICK])
    assert chosen == {client.uri("train.py"): text.replace("1000", "tf.data.AUTOTUNE")}


def test_characters_that_the_encoding_lacks_stay_as_they_are(client: Client) -> None:
    text = "# coding: latin-1\n# 😀 é\n" + TEXT
    (found,) = client.open("train.py", text)
    assert marked(text, found) == "prefetch"
    chosen = client.chosen(client.actions(client.uri("train.py"), found["range"])[QUICK])
    assert chosen == {client.uri("train.py"): text.replace("1000", "tf.data.AUTOTUNE")}


def test_a_byte_order_mark_stays_where_it_is(client: Client) -> None:
    text = "\ufeffimport tensorflow as tf; ds = tf.data.Dataset.range(9).repeat().cache()\n"
    (found,) = client.open("train.py", text)
    assert marked(text, found) == "cache"
    offered = client.actions(client.uri("train.py"), found["range"])
    silenced = client.chosen(offered["Silence TFM305 (cache-after-repeat) here"])
    assert silenced == {client.uri("train.py"): f"{text.rstrip()}  # tfmemlint: ignore[TFM305]\n"}


def test_all_of_a_rule_are_repaired_at_once(client: Client, run: Run, tmp_path: Path) -> None:
    found = client.open("train.py", f"{TWICE}{TEXT}")
    assert [each["code"] for each in found] == ["TFM305", "TFM305", "TFM304"]
    offered = client.actions(client.uri("train.py"), found[0]["range"])
    title = next(each for each in offered if "all 2 of TFM305" in each)
    expected = fixed_by_command(run, tmp_path / "train.py", f"{TWICE}{TEXT}", "--select=TFM305", "--unsafe-fixes")
    assert client.chosen(offered[title]) == {client.uri("train.py"): expected}


def test_a_safe_repair_is_preferred_and_an_unsafe_one_says_so(client: Client) -> None:
    for name, sample in ((each.parent.parent.name, each) for each in SAMPLES):
        if not name.startswith(("TFM207", "TFM304", "TFM502")):
            continue
        found = client.open(f"{name.replace('-', '_')}.py", sample.read_text("utf-8"))
        offered = client.actions(client.uri(f"{name.replace('-', '_')}.py"))
        repairs = [each for each in offered.values() if each.get("data", {}).get("what") in ("fix", "rule")]
        assert found and repairs
        for each in repairs:
            unsafe = bool(each["data"]["unsafe"])
            assert each["title"].startswith("Unsafe: ") is unsafe
            if each["data"]["what"] == "fix":
                assert each["isPreferred"] is not unsafe


def test_fix_all_is_offered_where_it_is_asked_for(client: Client) -> None:
    client.open("train.py", TEXT)
    uri = client.uri("train.py")
    for only in (["source"], ["source.fixAll"], [FIX_ALL]):
        assert list(client.actions(uri, only=only)) == [ALL]
    assert client.actions(uri, only=["source.organizeImports"]) == {}
    assert client.actions(uri, only=["refactor"]) == {}
    assert client.actions(uri, only=["notebook.source.fixAll"])[ALL]["kind"] == "notebook.source.fixAll.tfmemlint"


@pytest.mark.parametrize("sample", share(SAMPLES, DAYS), ids=lambda path: path.parent.parent.name)
def test_fix_all_makes_the_safe_repairs_of_the_command(client: Client, sample: Path) -> None:
    text = sample.read_text("utf-8")
    client.open("sample.py", text)
    path = client.root / "sample.py"
    expected = repair(text.encode(), str(path), Linter(Config(), projects=Projects()), Gate()).data.decode()
    offered = client.actions(client.uri("sample.py"), only=[FIX_ALL])
    chosen = client.chosen(offered[ALL]) if offered else {}
    assert chosen.get(client.uri("sample.py"), text) == expected


@pytest.mark.parametrize("sample", share(SAMPLES, DAYS), ids=lambda path: path.parent.parent.name)
def test_each_quick_fix_makes_the_edits_of_its_finding(client: Client, sample: Path) -> None:
    text = sample.read_text("utf-8")
    client.open("sample.py", text)
    path = client.root / "sample.py"
    result = Linter(Config(), projects=Projects()).lint(text.encode(), str(path))
    assert result.source is not None
    expected = {
        (each.code, each.span.start): result.source.edited_text(each.fix.edits)
        for each in result.findings
        if each.fix and each.fix.safety is not Safety.DISPLAY
    }
    offered = client.request(
        "textDocument/codeAction",
        textDocument={"uri": client.uri("sample.py")},
        range=whole(text),
        context={"diagnostics": [], "only": ["quickfix"]},
    )
    quick = [each for each in offered if each.get("data", {}).get("what") == "fix"]
    assert {(each["data"]["code"], each["data"]["start"]) for each in quick} == set(expected)
    for each in quick[:3]:
        chosen = client.chosen(each)
        assert chosen == {client.uri("sample.py"): expected[each["data"]["code"], each["data"]["start"]]}


def test_silence_writes_the_comment_of_the_command(client: Client, run: Run, tmp_path: Path) -> None:
    (found,) = client.open("train.py", TEXT)
    offered = client.actions(client.uri("train.py"), found["range"])
    chosen = client.chosen(offered["Silence TFM304 (oversized-prefetch) here"])
    (tmp_path / "train.py").write_text(TEXT)
    run("check", "--isolated", "-n", "--add-ignore", "train.py")
    assert chosen == {client.uri("train.py"): (tmp_path / "train.py").read_text()}
    assert client.change("train.py", chosen[client.uri("train.py")]) == []


def test_the_page_of_a_rule_is_opened(client: Client) -> None:
    (found,) = client.open("train.py", TEXT)
    action = client.actions(client.uri("train.py"), found["range"])["Open the page of TFM304 (oversized-prefetch)"]
    command = action["command"]
    client.request("workspace/executeCommand", command=command["command"], arguments=command["arguments"])
    client.until(lambda: client.told("window/showDocument"))
    assert client.told("window/showDocument")[0]["uri"] == found["codeDescription"]["href"]


def test_actions_come_back_from_editors_without_false(client: Client) -> None:
    """Emacs reads false as nothing, and writes that as null."""
    client.open("train.py", TEXT)
    action = client.actions(client.uri("train.py"))[QUICK]
    again = json.loads(json.dumps(action).replace("false", "null"))
    again.pop("diagnostics")
    assert client.chosen(again) == {client.uri("train.py"): TEXT.replace("1000", "tf.data.AUTOTUNE")}


def test_actions_of_an_older_text_change_nothing(client: Client) -> None:
    (found,) = client.open("train.py", TEXT)
    action = client.actions(client.uri("train.py"), found["range"])[QUICK]
    client.change("train.py", f"# new\n{TEXT}")
    assert client.chosen(action) == {}


def test_actions_are_for_the_text_that_is_open(client: Client) -> None:
    """Also where it was changed so shortly before that it was not linted yet."""
    client.open("train.py", TEXT)
    start = {"line": 0, "character": 0}
    client.edit("train.py", [{"range": {"start": start, "end": start}, "text": "# 😀\n"}])
    action = client.actions(client.uri("train.py"))[QUICK]
    assert client.chosen(action) == {client.uri("train.py"): f"# 😀\n{TEXT.replace('1000', 'tf.data.AUTOTUNE')}"}


@pytest.mark.parametrize("data", [None, {}, [], {"uri": 3}, {"what": "fix"}, "x"])
def test_data_that_is_none_of_ours_changes_nothing(client: Client, data: Any) -> None:
    client.open("train.py", TEXT)
    assert client.request("codeAction/resolve", title="x", data=data).get("edit") is None


def test_a_client_that_completes_no_actions_gets_them_whole(tmp_path: Path) -> None:
    with Client(tmp_path, capabilities={}) as client:
        (found,) = client.open("train.py", TEXT)
        assert "codeDescription" not in found and "relatedInformation" not in found
        action = client.actions(client.uri("train.py"), found["range"])[QUICK]
        (edit,) = action["edit"]["changes"][client.uri("train.py")]
        assert applied(TEXT, [(edit["range"], edit["newText"])]) == TEXT.replace("1000", "tf.data.AUTOTUNE")
        client.request("workspace/executeCommand", command="tfmemlint.openRulePage", arguments=["TFM304"])
        assert client.told("window/showMessage")[0]["message"].endswith("TFM304.md")


def test_findings_that_the_baseline_accepts_are_not_repaired(client: Client, run: Run) -> None:
    both = f"{TWICE}{TEXT}"
    (client.root / "train.py").write_text(TEXT)
    baseline = client.root / "tfmemlint-baseline.json"
    run("check", "--isolated", "-q", "-n", f"--write-baseline={baseline}", str(client.root))
    (client.root / "pyproject.toml").write_text("[tool.tfmemlint]\nbaseline = 'tfmemlint-baseline.json'\n")
    found = client.open("train.py", both)
    assert [each["code"] for each in found] == ["TFM305", "TFM305"]
    offered = client.actions(client.uri("train.py"), only=[FIX_ALL])
    for text in client.chosen(offered[ALL]).values() if offered else ():
        assert "prefetch(1000)" in text
