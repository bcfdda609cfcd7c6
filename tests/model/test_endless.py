"""Programs that never get past a loop still have names that their functions see."""

import libcst as cst

from tfmemlint.config.settings import Config
from tfmemlint.model.file import File
from tfmemlint.text.read import read_source

PROGRAM = """
import tensorflow as tf

def step(x):
    return tf.zeros([2, 3])

while True:
    step(1)
"""


def test_functions_see_the_module_of_an_endless_program() -> None:
    source = read_source(PROGRAM.encode(), "serve.py")
    file = File(source, cst.parse_module(source.text), Config())
    assert [call.name for call in file.calls("tf.zeros")] == ["tf.zeros"]
