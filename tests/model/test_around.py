"""Which modules of a project tell for what versions a file is written."""

from pathlib import Path

import pytest

from tfmemlint.config.settings import Config
from tfmemlint.lint.parsing import parse
from tfmemlint.model.file import File
from tfmemlint.project.siblings import Siblings
from tfmemlint.text.read import read_source

FIRST = "import tensorflow as tf\nsession = tf.Session()\n"


def file_in(root: Path, program: str, modules: dict[str, str]) -> File:
    for name, text in {"train.py": program, **modules}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    path = str(root / "train.py")
    source = read_source(program.encode(), path)
    module, _, _ = parse(source)
    assert module is not None
    return File(source, module, Config(), Siblings(path, str(root), lambda each: parse(each)[0]))


AROUND = [
    ("import graphs", {"graphs.py": FIRST}, True),
    ("import nets", {"nets/__init__.py": "from . import graphs", "nets/graphs.py": FIRST}, True),
    ("import graphs", {"graphs.py": "import tensorflow as tf\nfrom tensorflow.contrib import slim\n"}, True),
    ("import graphs", {"graphs.py": "import tensorflow as tf\nx = tf.layers.dense(x, 3)\n"}, True),
    ("", {"main.py": f"import train\n{FIRST}"}, True),
    # Nothing that runs with the file.
    ("", {"graphs.py": FIRST}, False),
    ("", {"old/main.py": f"import model\n{FIRST}", "old/train.py": ""}, False),
    ("", {"old/main.py": f"import train\n{FIRST}", "old/train.py": ""}, False),
    ("", {"test_train.py": f"import train\n{FIRST}"}, False),
    ("", {"checks.py": f"import unittest\nimport train\n{FIRST}"}, False),
    # What is no sign of version 1.
    ("import tensorflow as tf\nimport graphs\ntf.GradientTape()", {"graphs.py": FIRST}, False),
    ("import graphs", {"graphs.py": FIRST.replace("tensorflow", "tensorflow.compat.v1")}, False),
    ("import graphs", {"graphs.py": "import tensorflow as tf\n# tf.Session()\nTEXT = 'tf.Session'"}, False),
    ("import graphs", {"graphs.py": f"{FIRST}@tf.function\ndef f(): pass"}, False),
    ("import graphs", {"graphs.py": "import tensorflow as tf\ntf.keras.layers.Dense(3)"}, False),
]


@pytest.mark.parametrize(("program", "modules", "expected"), AROUND)
def test_version_1_shows_in_the_modules_of_one_program(
    program: str, modules: dict[str, str], expected: bool, tmp_path: Path
) -> None:
    assert file_in(tmp_path, program, modules).may_be_version_1 is expected
