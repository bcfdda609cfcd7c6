"""What is in files that are made up; loaded by `main.py`."""

from __future__ import annotations

import builtins
import functools
import importlib
import json
import os
import re
import struct
import types
import zlib
from typing import Any

how_read: Any = importlib.import_module("tfmemlint_lines")
lines_of, lines_in = how_read.lines_of, how_read.lines_in

SIDE = 256
FILES = 64
LINES, WORDS, COLUMNS = 200, how_read.WORDS, how_read.COLUMNS
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

OF_VECTORS = re.compile(r"glove|word2vec|w2v|fasttext|\.vec$", re.IGNORECASE)
WIDTH, USUAL_WIDTH = re.compile(r"(?<!\d)(\d{2,4})d(?![a-z])", re.IGNORECASE), 100
"""Names of files of words with a vector each, and how many numbers a name says that these have: `glove.6B.300d.txt`."""

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


def names_in_folder(classes: int, ending: str, times: int = 1) -> tuple[list[str], str]:
    """The names of the files of a folder, in folders for so many classes, if any, and words for what is in it; `times`
    as many files as usual."""
    each = times * FILES if classes < 2 else max(1, times * 2 * FILES // classes)
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


def write(path: str, like: str = "", lines: Any = None) -> None:
    """A made-up file of that kind; an empty one where there is none. `lines` tells how those of texts are read."""
    lines = lines or how_read.Lines()
    ending = like or os.path.splitext(path)[1].lower()
    if ending in AUDIO or ending in IMAGES:
        with open(path, "wb") as file:
            file.write(wav() if ending in AUDIO else png())
        return
    with open(path, "w", encoding="utf-8") as text:
        if ending in TEXTS and OF_VECTORS.search(os.path.basename(path)):
            width = int(found[1]) if (found := WIDTH.search(os.path.basename(path))) else USUAL_WIDTH
            numbers = " ".join(f"{(at % 7) / 7:.3f}" for at in range(width))
            text.writelines(f"word{number} {numbers}\n" for number in range(LINES))
        elif ending in TEXTS and lines.fields:
            text.writelines(f"{lines.line(number)}\n" for number in range(LINES))
        elif ending in SEPARATORS:
            row = SEPARATORS[ending].join(str(each % SHADES) for each in range(max(lines.columns, COLUMNS)))
            text.write(f"{row}\n" * LINES)
        elif ending in SETTINGS:
            json.dump({MARK: os.path.splitext(os.path.basename(path))[0]}, text)
        elif ending in TEXTS:
            for line in range(LINES):
                if lines.numbers:
                    text.write(" ".join(str((line + at) % 10) for at in range(lines.numbers)) + "\n")
                    continue
                words = (f"word{line * WORDS + number}" for number in range(WORDS))
                numbered = (str(line % 10) if at in lines.places else word for at, word in enumerate(words))
                text.write(" ".join(numbered) + "\n")


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


OF_CLASS = re.compile(r"class_\d{3}")


def name_classes(folder: str, names: Any) -> None:
    """Give the folders of classes in a made-up folder the names that the program has for them, if it has any."""
    made = sorted(each for each in os.listdir(folder) if OF_CLASS.fullmatch(each)) if names else []
    for old, name in zip(made, names or (), strict=False):
        os.rename(os.path.join(folder, old), os.path.join(folder, str(name)))


@functools.lru_cache
def wav() -> bytes:
    """A WAV file of one channel, by the format's description."""
    count = RATE * SECONDS
    body = b"".join(struct.pack("<h", (at * 97 % 401 - 200) * 80) for at in range(count))
    form = struct.pack("<4sIHHIIHH", b"fmt ", 16, 1, 1, RATE, RATE * 2, 2, 16)
    return (
        struct.pack("<4sI4s", b"RIFF", 36 + len(body), b"WAVE") + form + struct.pack("<4sI", b"data", len(body)) + body
    )


@functools.lru_cache
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
