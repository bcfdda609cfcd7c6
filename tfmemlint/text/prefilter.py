"""Cheap questions about a file's bytes, asked before anything heavy is imported."""

from __future__ import annotations

import re

_LIBRARY = re.compile(rb"tensorflow|keras(?:tuner)?(?![a-z])|tfds|TF_FORCE_GPU")


def mentions_tensorflow(data: bytes) -> bool:
    """Whether the bytes name TensorFlow or Keras at all; a file that does not is clean by definition."""
    return _LIBRARY.search(data) is not None
