"""A process that answers the server's questions: a length and a pickle in, a length and a pickle out."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import struct
import sys
from typing import Any, BinaryIO

from tfmemlint.lint.recursion import with_deep_stack
from tfmemlint.run.pool import limit_memory

_SWEPT = 8
"""Answers after which the trees that were left are looked for: with a deep stack the collector hardly ever does."""

HEAD = struct.Struct(">Q")
"""How long the pickle is that follows."""


def main() -> None:
    """Answer until the pipe is closed, which the end of the server does."""
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints, a rule of a pack say, must not write into the answers
    limit_memory()
    with contextlib.suppress(KeyboardInterrupt, BrokenPipeError):
        with_deep_stack(lambda: _answer_all(sys.stdin.buffer, out))


def _answer_all(questions: BinaryIO, answers: BinaryIO) -> None:
    from tfmemlint.lint.registry import RegistryError, load_rules
    from tfmemlint.server.desk import Desk

    desk = Desk()
    with contextlib.suppress(RegistryError):  # which the first answer names
        load_rules()
    gc.freeze()  # what stays for good need not be looked at each time
    answered = 0
    while len(head := questions.read(HEAD.size)) == HEAD.size:
        (length,) = HEAD.unpack(head)
        # Only our own server writes here.
        answers.write(packed(desk.answer(pickle.loads(questions.read(length)))))
        answers.flush()
        answered += 1
        if answered % _SWEPT == 0:  # behind the answer, when nobody waits
            gc.collect()


def packed(message: Any) -> bytes:
    """A message as it goes through the pipe."""
    data = pickle.dumps(message, pickle.HIGHEST_PROTOCOL)
    return HEAD.pack(len(data)) + data
