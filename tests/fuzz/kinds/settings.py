"""Projects with any configuration, and any command line: an exit code that means something, in few and plain words."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from random import Random

from tfmemlint.cli.commands import main
from tfmemlint.config.settings import keys

from ..case import Broken, Case, Kind
from ..programs import samples

TEXTS = ("", "x", "ALL", "ADVICE", "TFM3", "TFM305", "cache-after-repeat", "error", "text", "json", "64MiB", "1e9GiB",
         "9" * 5000, "9" * 400 + "GiB", "a\nb", "\x1b[31m", "\u202e", "\0", "../outside", "../outside/keep.json", "..",
         "~", "/", "/dev/null", "a.py", "*a*a*a*a*a*b", "[", "\\", "!", "**/", "![z-a]", "[[a]", "x" * 300, "é", "-",
         "tests/**", "*.py", "/a.py", "..a", "a=b", "$HOME", "%s{0}", "'", '"', " ")  # fmt: skip
SCALARS = ("true", "false", "0", "-1", "1", "9" * 5000, "0x" + "f" * 5000, "1e400", "nan", "-inf", "1979-05-27", "1.5",
           "07:32:00", "1979-05-27T00:32:00Z", "[]", "{}", "[[]]", "9223372036854775808", "[1, 'a']")  # fmt: skip
OPTIONS = ("--select", "--extend-select", "--ignore", "--fail-on", "--least-cost", "--min-bytes", "--max-tensor",
           "--gpu-memory", "--baseline", "--diff-base", "--output-format", "-o", "--sort", "--config", "--exclude",
           "--extend-exclude", "--stdin-filename")  # fmt: skip
FLAGS = ("--preview", "--fix", "--unsafe-fixes", "--diff", "--show-fixes", "--add-ignore", "--add-ignore=a\nb", "-n",
         "--write-baseline", "--exit-zero", "--exit-non-zero-on-fix", "--statistics", "-q", "-v", "--isolated",
         "--force-exclude", "--no-respect-gitignore", "--include-markdown", "-", "-j1", "-jx", "-j-1", "--no-fix",
         "--help", "--version", "--unknown", "-nqv", "--", "--select=", "-j2")  # fmt: skip
FAILURES = ("Traceback (most", "internal error:", "; other findings stand", "could not be checked")
LOCAL = tuple(text for text in TEXTS if not text.startswith(("..", "~", "/", "-")))
"""Values for the command line, which may name any file: none that lies outside."""


def make(chance: Random, number: int) -> Case | None:
    """A project of a few files and the words of a command line."""
    files = {
        "a.py": chance.choice(samples()).encode("utf-8", "surrogateescape"),
        "sub/b.py": b"import tensorflow as tf\nx = tf.ones(3)\n",
    }
    if chance.randrange(6):
        name, head = chance.choice([("pyproject.toml", "[tool.tfmemlint]\n"), ("tfmemlint.toml", "")])
        text = (_table(chance) if not chance.randrange(3) else "") + head + "".join(_line(chance) for _ in range(2))
        files[name] = text.encode("utf-8", "surrogatepass") + (b"" if chance.randrange(20) else b"\xff")
    if not chance.randrange(3):
        lines = [chance.choice([*TEXTS, "sub/", "#", "!a.py", "*"]) for _ in range(chance.randrange(5))]
        files[".gitignore"] = "\n".join(lines).encode()
    if not chance.randrange(4):
        files["tfmemlint-baseline.json"] = _json(chance)
    project = {name: _held(data) for name, data in files.items()}
    return Case("settings.json", json.dumps({"files": project, "words": _words(chance)}, indent=1).encode())


def _held(data: bytes) -> str | dict[str, str]:
    """Bytes as JSON holds them: text where they are some."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode()}


def _table(chance: Random) -> str:
    return f"[tool.{chance.choice(['other', 'ruff', 'black'])}]\nx = {_value(chance)}\n"


def _line(chance: Random) -> str:
    key = chance.choice([*keys(), *keys(), *keys(), *TEXTS])
    quoted = key if key.replace("-", "").isalnum() and key.isascii() else json.dumps(key)
    return f"{quoted} = {_fitting(key, chance) if chance.randrange(3) else _value(chance)}\n"


def _fitting(key: str, chance: Random) -> str:
    """A value of the type that the key takes, as far as this is known here."""
    kind = str(keys()[key].type) if key in keys() else ""
    text = json.dumps(chance.choice(TEXTS))
    if "dict" in kind:
        return f"{{{json.dumps(chance.choice(TEXTS))} = {chance.choice([text, f'[{text}]'])}}}"
    if "tuple" in kind:
        return f"[{text}, {json.dumps(chance.choice(TEXTS))}]"
    return chance.choice(["true", "false"]) if "bool" in kind else text


def _value(chance: Random) -> str:
    match chance.randrange(4):
        case 0 | 1:
            return chance.choice(SCALARS)
        case 2:
            return json.dumps(chance.choice(TEXTS))
        case _:
            return f"[{_value(chance)}, {_value(chance)}]"


def _json(chance: Random) -> bytes:
    return chance.choice([b"", b"{", b"[]", b"null", b"[" * 100_000, b'{"version": 1, "entries": 5}', b"\xff", b"\0",
                          b'{"version": 1, "entries": []}', b'{"version": 99, "entries": []}', b'{"auths": {"a": 1}}',
                          b'{"version": 1, "entries": [{"path": 5}]}', b'"' + b"9" * 9000])  # fmt: skip


def _words(chance: Random) -> list[str]:
    words = ["check"] if chance.randrange(8) else chance.choice([["config"], ["rules"], ["rule"], ["chek"], []])
    for _ in range(chance.randrange(4)):
        if chance.randrange(2):
            words.append(chance.choice(FLAGS))
        else:
            option, value = chance.choice(OPTIONS), chance.choice(LOCAL)
            if option == "--config" and chance.randrange(2):
                value = _line(chance).strip()
            words += [option, value] if chance.randrange(2) else [f"{option}={value}"]
    if not chance.randrange(3):
        words.append(chance.choice(["a.py", ".", "sub", "no", "a\nb.py", "pyproject.toml", "sub/../a.py", ""]))
    return words


def check(case: Case) -> None:
    """The exit code is one of those promised, errors are lines that can be read, and nothing changes outside."""
    project = json.loads(case.data)
    with tempfile.TemporaryDirectory() as top:
        here, outside = Path(top, "project"), Path(top, "outside")
        for name, data in project["files"].items():
            path = here / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data.encode() if isinstance(data, str) else base64.b64decode(data["base64"]))
        _fill(outside)
        before = _contents(outside)
        os.environ |= {"HOME": str(outside), "COLUMNS": "100"}
        os.environ.pop("XDG_CACHE_HOME", None)
        os.chdir(here)
        code, out, err = _run(project["words"])
        os.chdir(top)
        _judge(code, out, err, max(map(len, project["words"]), default=0))
        if _contents(outside) != before:
            raise Broken("a run changes files outside of the project")


def _run(words: list[str]) -> tuple[int, str, str]:
    with tempfile.TemporaryFile() as none, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        for number, stream in ((0, none), (1, out), (2, err)):
            os.dup2(stream.fileno(), number)
        sys.stdin = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout, sys.stderr = (os.fdopen(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))
        code = main(words)
        texts = []
        for stream, plain in ((out, sys.stdout), (err, sys.stderr)):
            plain.flush()
            stream.seek(0)
            texts.append(stream.read().decode("utf-8", "replace"))
    return code, texts[0], texts[1]


def _judge(code: int, out: str, err: str, longest: int) -> None:
    shown = f"\nexit code {code}\n{out[-1500:]}\n{err[-1500:]}"
    failures = [line for line in (out + err).splitlines() if any(each in line for each in FAILURES)]
    if failures or code not in (0, 1, 2):
        raise Broken(f"exit code {code}: {failures[0].strip()[:150] if failures else 'nothing said'}{shown}")
    if code == 2 and not (out + err).strip():
        raise Broken(f"exit code 2 without a word{shown}")
    for line in err.split("\n"):
        if not line.isprintable() or len(line) > 700 + 2 * longest:
            raise Broken(f"an error is no line that people can read: {line[:80]!a}{shown}")


def _fill(folder: Path) -> None:
    for name in ("keep.json", "0.1.0/old.bin", f"0.1.0/{'a' * 32}.bin"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text('{"kept": true}\n')
        os.utime(path, (0, 0))


def _contents(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
        for path in sorted(folder.rglob("*"))
    }


KIND = Kind("settings", make, check)
