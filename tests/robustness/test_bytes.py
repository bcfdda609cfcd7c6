"""Repairs leave every byte outside their edits as it was, whatever the file is made of."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tfmemlint.cli.commands import main

BEFORE = ".repeat().cache()"
AFTER = ".cache().repeat()"
TEXT = f"""import tensorflow as tf


def pipeline(files):
    # naïve: é
    x = tf.data.TFRecordDataset(files)
    return x{BEFORE}.batch(8).prefetch(tf.data.AUTOTUNE)


NAME = "\\u00e9"
"""

LAYOUTS = {
    "plain": TEXT.encode(),
    "CRLF": TEXT.replace("\n", "\r\n").encode(),
    "CR": TEXT.replace("\n", "\r").encode(),
    "mixed line ends": TEXT.replace("\n", "\r\n", 3).encode(),
    "byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "byte order mark and CRLF": b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode(),
    "latin-1": ("# -*- coding: latin-1 -*-\n" + TEXT).encode("latin-1"),
    "latin-1 and CRLF": ("# coding: latin-1\n" + TEXT).replace("\n", "\r\n").encode("latin-1"),
    "cp1251": ("# coding: cp1251\n" + TEXT.replace("é", "ж").replace("ï", "и")).encode("cp1251"),
    "shift_jis": ("# coding: shift_jis\n" + TEXT.replace("é", "表").replace("ï", "予")).encode("shift_jis"),
    "tabs": TEXT.replace("    ", "\t").encode(),
    "form feeds": TEXT.replace("\n\n\ndef", "\n\f\n\ndef").encode(),
    "form feed first": b"\f" + TEXT.encode(),
    "form feed before code": TEXT.replace("NAME =", "\fNAME =").encode(),
    "no last line end": TEXT.rstrip("\n").encode(),
    "trailing blanks": TEXT.replace("\n", "  \n").encode(),
    "many last line ends": TEXT.encode() + b"\n\n\n",
    "control characters in strings": TEXT.replace('"\\u00e9"', '"\x01\x1b\x7f\x85\u2028"').encode(),
    "backslash continuation": TEXT.replace(BEFORE, f" \\\n        {BEFORE}").encode(),
    "blank before a handler's colon": TEXT.replace(
        "    return x", "    try:\n        x.y\n    except ImportError :\n        return x"
    ).encode(),
    "line of a backslash": TEXT.replace("\n\ndef", "\n\\\ndef").encode(),
    "wide characters before the place": TEXT.replace("return x", "s = '😀😀'; return x").encode(),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_only_the_edit_changes(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    data = LAYOUTS[name]
    path = Path("a.py")
    path.write_bytes(data)
    path.chmod(0o640)
    assert main(["check", "--select=TFM305", "-q", "--fix", "--no-cache"]) == 0
    assert path.read_bytes() == data.replace(BEFORE.encode(), AFTER.encode())
    assert path.stat().st_mode & 0o777 == 0o640
    compile(path.read_bytes(), "a.py", "exec")
    assert main(["check", "--select=TFM305", "-q", "--fix", "--no-cache"]) == 0
    assert path.read_bytes() == data.replace(BEFORE.encode(), AFTER.encode())
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.py"]


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_place_is_that_of_the_users_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = LAYOUTS[name]
    Path("a.py").write_bytes(data)
    assert main(["check", "--select=TFM305", "--output-format=json", "--no-cache"]) == 1
    (record,) = json.loads(capsys.readouterr().out)
    head, _, _ = data.partition(b"cache()")
    lines = head.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    encoding = next((each for each in ("latin-1", "cp1251", "shift_jis") if each.encode() in data), "utf-8-sig")
    column = len(lines[-1].decode(encoding)) + 1
    assert record["location"] == {"row": len(lines), "column": column}
