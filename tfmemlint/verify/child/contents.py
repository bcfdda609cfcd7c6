"""What is in files that are made up; loaded by `main.py`."""

from __future__ import annotations

import ast
import builtins
import functools
import io
import json
import math
import os
import re
import struct
import types
import zlib
from typing import Any

SIDE = 256
FILES = 64
LINES, WORDS, COLUMNS = 200, 12, 10
MOST_COLUMNS = 1 << 14
SHADES = 256
"""Numbers of tables are below it, as those of pictures are."""

IMAGES = (".bmp", ".gif", ".jpeg", ".jpg", ".png", ".ppm", ".tif", ".tiff")
AUDIO = (".aac", ".flac", ".m4a", ".mp3", ".ogg", ".wav")
RATE, SECONDS = 16000, 3
SEPARATORS = {".csv": ",", ".tsv": "\t"}
TEXTS = (".csv", ".data", ".lst", ".text", ".tsv", ".txt", ".vec", "")
"""Endings of texts, of which one without an ending is one."""

SETTINGS = (".json", ".yaml", ".yml")
MARK = "tfmemlint made up"
"""The one key of a file of settings, whose values are made up as they are asked for."""

READ_SETTINGS = ("load", "loads", "safe_load", "full_load", "unsafe_load")
OF_OBJECTS = (".joblib", ".mat", ".npy", ".npz", ".p", ".pickle", ".pkl")
"""Endings of files that a program opens itself and hands to what loads them (see `loaded.py`)."""

OTHERS = (".h5", ".json", ".mat", ".npy", ".tfrec", ".tfrecord", ".tfrecords", ".xml")
"""Endings that a folder's files may have, without anything in them that could be read."""


def likeliest(source: str) -> str:
    """The ending that files of a folder have most likely, of those that a program names."""
    named = [each for each in re.findall(r"(\.\w{2,8})[\"']", source) if each in (*IMAGES, *AUDIO, *TEXTS, *OTHERS)]
    usual = ".tfrecord" if "TFRecordDataset(" in source else ".jpg"
    first = next((ending for ending in named if ending in IMAGES), named[0] if named else usual)
    return next((ending for ending in named if ending in AUDIO), first) if first not in IMAGES else first


def names_in_folder(classes: int, ending: str) -> tuple[list[str], str]:
    """The names of the files of a folder, in folders for so many classes, if any, and words for what is in it."""
    each = FILES if classes < 2 else max(1, 2 * FILES // classes)
    folders = [f"class_{number:03}/" for number in range(classes)] or [""]
    inside = f"{classes} folders of {each} files" if classes else f"{each} files"
    names = [f"{folder}{number:03}{ending}" for folder in folders for number in range(each)]
    return names, f"a folder with {inside} ({ending})"


def ending_of(pattern: str) -> str | None:
    """The ending that a pattern asks for."""
    return next((each for each in (*IMAGES, *AUDIO, *TEXTS, *OTHERS) if each and pattern.lower().endswith(each)), None)


def kind(path: str, like: str = "") -> str | None:
    """What a file of that name is made up as, in words; None for what cannot be. What it is `like` is the
    ending that counts, whatever its name ends with."""
    ending = like or os.path.splitext(path)[1].lower()
    if ending in AUDIO:
        return f"a sound of {SECONDS} seconds"
    if ending in IMAGES:
        return f"a picture of {SIDE} by {SIDE}"
    if ending in SETTINGS:
        return "a file of settings"
    if ending in OF_OBJECTS:
        return "a file of arrays or objects"
    return f"a text of {LINES} lines" if ending in TEXTS else None


def make_way(path: str) -> None:
    """Have there the folder of a made-up file. An entry of another folder that was made up as a file makes room for it:
    now it shows that the program takes it for a folder."""
    above = folder = os.path.dirname(path)
    while above and not os.path.lexists(above):
        above = os.path.dirname(above)
    if os.path.isfile(above):
        os.unlink(above)
    os.makedirs(folder, exist_ok=True)


def write(path: str, like: str = "", lines: tuple[int, int] = (0, 0)) -> None:
    """A made-up file of that kind; an empty one where there is none. `lines` tells how many numbers the lines of texts
    have, if any, and how many columns those of tables."""
    numbers, columns = lines
    ending = like or os.path.splitext(path)[1].lower()
    if ending in AUDIO or ending in IMAGES:
        with open(path, "wb") as file:
            file.write(wav() if ending in AUDIO else png())
        return
    with open(path, "w", encoding="utf-8") as text:
        if ending in SEPARATORS:
            row = SEPARATORS[ending].join(str(each % SHADES) for each in range(max(columns, COLUMNS)))
            text.write(f"{row}\n" * LINES)
        elif ending in SETTINGS:
            json.dump({MARK: os.path.splitext(os.path.basename(path))[0]}, text)
        elif ending in TEXTS:
            for line in range(LINES):
                if numbers:
                    text.write(" ".join(str((line + at) % 10) for at in range(numbers)) + "\n")
                    continue
                text.write(" ".join(f"word{line * WORDS + number}" for number in range(WORDS)) + "\n")


def patch_settings(module: types.ModuleType) -> None:
    """Have a module that reads settings give stand-ins for those that are made up."""
    for name in READ_SETTINGS:
        if (function := vars(module).get(name)) is not None:
            setattr(module, name, _reading(function))


def _reading(function: Any) -> Any:
    @functools.wraps(function)
    def read(*args: Any, **kwargs: Any) -> Any:
        try:
            found = function(*args, **kwargs)
        except ValueError:
            if not _is_made_up(args[0] if args else None):
                raise
            return builtins.tfmemlint_settings("settings")  # type: ignore[attr-defined]
        if isinstance(found, dict) and list(found) == [MARK]:
            return builtins.tfmemlint_settings(found[MARK])  # type: ignore[attr-defined]
        return found

    return read


def _is_made_up(text: Any) -> bool:
    """Whether this is a text that was made up, or its file."""
    if isinstance(text, str):
        return re.match(r"word\d", text) is not None
    name = getattr(text, "name", "")
    return isinstance(name, str) and f"{os.sep}tfmemlint_made_up{os.sep}" in name


@functools.lru_cache
def lines_of(name: str) -> tuple[int, int]:
    """How many numbers the lines of texts have, as the code of a file makes numbers of them, 0 where it makes none; and
    how many columns those of tables, as it takes them by their places, 0 where it does not."""
    try:
        with io.FileIO(name) as file:
            tree = ast.parse(file.read())
    except (OSError, SyntaxError, ValueError):
        return 0, 0
    return _numbers(tree), _columns(tree)


def _columns(tree: ast.AST) -> int:
    """Up to the last place that is taken of a row, `row[1:785]`; else as many as a row is reshaped to, behind its
    label."""
    places, sizes = [0], [0]
    for node in ast.walk(tree):
        if isinstance(node, ast.Subscript):
            end = node.slice.upper if isinstance(node.slice, ast.Slice) else node.slice
            places.append(_number(end) or 0)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "reshape":
            given = node.args[0].elts if len(node.args) == 1 and isinstance(node.args[0], ast.Tuple) else node.args
            numbers = [number for each in given if (number := _number(each)) is not None]
            sizes.append(1 + math.prod(numbers) if numbers and len(numbers) == len(given) else 0)
    most = max(places) if max(places) >= COLUMNS else max(sizes)
    return most if most <= MOST_COLUMNS else 0


def _number(node: ast.AST | None) -> int | None:
    return node.value if isinstance(node, ast.Constant) and type(node.value) is int else None


def _numbers(tree: ast.AST) -> int:
    found = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("float", "int", "map") and node.args:
            makes = getattr(node.func, "id", "") != "map" or getattr(node.args[0], "id", "") in ("float", "int")
            words = [each for arg in node.args for each in ast.walk(arg)] if makes else []
            names = {getattr(each, "id", getattr(each, "attr", "")) for each in words}
            if "readline" in names or "line" in names:
                several = "split" in names or any(isinstance(each, ast.Subscript) for each in words)
                found = max(found, WORDS if several else 1)
    return found


def wav() -> bytes:
    """A WAV file of one channel, by the format's description."""
    count = RATE * SECONDS
    body = b"".join(struct.pack("<h", (at * 97 % 401 - 200) * 80) for at in range(count))
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, RATE * 2, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + len(body), b"WAVE") + form + struct.pack("<4sI", b"data", len(body)) + body
    )


def png() -> bytes:
    """A PNG file, by the format's description: a library need not be there. Most readers look at what a file begins
    with, whatever its name ends with."""

    def chunk(kind: bytes, content: bytes) -> bytes:
        body = kind + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    shades = bytes(range(256)) * 4
    rows = b"".join(b"\0" + shades[row : row + SIDE * 3] for row in range(SIDE))
    header = struct.pack(">IIBBBBB", SIDE, SIDE, 8, 2, 0, 0, 0)
    content = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + content
