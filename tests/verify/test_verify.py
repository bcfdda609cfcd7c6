"""`tfmemlint verify PATH` from end to end."""

from __future__ import annotations

import json
import re
import shutil
import textwrap
from pathlib import Path
from typing import Any

import pytest

from tfmemlint.cli import commands
from tfmemlint.verify.evidence import fixtures_folder

MIB = 1024**2

PIPELINE = """
    import tensorflow as tf

    def rows(count):
        return tf.data.Dataset.range(count).map(lambda i: tf.fill([128, 1024], tf.cast(i, tf.float32)))

    data = rows(32).repeat(8).cache()
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.fit(data)
"""


@pytest.fixture
def fixtures(tmp_path: Path) -> str:
    """An empty folder of rules' samples."""
    (tmp_path / "fixtures").mkdir()
    return str(tmp_path / "fixtures")


def script(tmp_path: Path, text: str) -> str:
    path = tmp_path / "train.py"
    path.write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    return str(path)


def verdicts(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    assert commands.main(["verify", "--device", "cpu", "--output-format", "json", "--repeat", "1", *words]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["results"]
    return found


@pytest.mark.tensorflow
def test_a_finding_is_confirmed_with_its_numbers(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = script(tmp_path, PIPELINE)
    (found,) = verdicts(capsys, "--select", "TFM305", "--fixtures", fixtures, path)
    assert (found["code"], found["verdict"], found["metric"]) == ("TFM305", "confirmed", "peak_bytes")
    assert found["place"].endswith("train.py:6:27")
    assert found["before"] == pytest.approx(128 * MIB, rel=0.05)
    assert found["after"] == pytest.approx(16 * MIB, rel=0.1)
    assert "the data set is iterated in place of training" in found["notes"]
    assert "fit" not in found["programs"]["before"]["source"]
    assert ".cache().repeat(8)" in found["programs"]["after"]["source"]
    assert Path(path).read_text(encoding="utf-8") == textwrap.dedent(PIPELINE).lstrip("\n")


@pytest.mark.tensorflow
def test_a_program_that_cannot_run_is_inconclusive_and_says_what_to_do(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
        import struct
        import tensorflow as tf
        with open("not_there.bin", "rb") as stream:
            x = struct.unpack("4d", stream.read())
        data = tf.data.Dataset.from_tensor_slices(x).repeat(8).cache()
        print(list(data))
    """
    (found,) = verdicts(capsys, "--select", "TFM305", "--fixtures", fixtures, script(tmp_path, text))
    assert found["verdict"] == "inconclusive"
    assert "FileNotFoundError" in found["reason"] and "# tfmemlint: example" in found["reason"]


@pytest.mark.tensorflow
def test_a_data_set_of_keras_is_made_up_and_training_is_cut(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(next(fixtures_folder().glob("TFM601-*")), Path(fixtures) / "TFM601-model-built-in-loop")
    text = """
        import tensorflow as tf
        (x, y), _ = tf.keras.datasets.mnist.load_data()
        for units in range(100, 140):
            layers = [tf.keras.layers.Flatten(), tf.keras.layers.Dense(units), tf.keras.layers.Dense(10)]
            model = tf.keras.Sequential(layers)
            model.compile("sgd", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
            model.fit(x[:3000], y[:3000], epochs=50)
    """
    (found,) = verdicts(capsys, "--select", "TFM601", "--fixtures", fixtures, script(tmp_path, text))
    assert found["runs"]["before"][0]["status"] == "ok"
    assert any("mnist.load_data() gave made-up images" in note for note in found["notes"])
    assert "fit() was cut to epochs=2" in found["notes"] and "fit() was cut to steps_per_epoch=20" in found["notes"]


@pytest.mark.tensorflow
def test_modules_of_the_project_are_run_in_slices(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    modules = {
        "setup.py": "",
        "nets/__init__.py": "from .plots import draw\nfrom .data import *",
        "nets/plots.py": "import not_there",
        "nets/config.py": "import not_there\nROWS = 32\nnot_there.read(ROWS)",
        "nets/data.py": """
            import pickle
            import tensorflow as tf
            from . import config
            from .plots import draw

            class Width:
                def __init__(self, value):
                    self.value = value

            @tf.function
            def filled(i, width):
                if i > 3:
                    i = i * 2
                return tf.fill([128, width], tf.cast(i, tf.float32))

            def pipeline(width):
                width = pickle.loads(pickle.dumps(Width(width))).value
                data = tf.data.Dataset.range(config.ROWS).map(lambda i: filled(i, width))
                data = data.repeat(8).cache()
                return data
        """,
        "scripts/train.py": """
            import not_there
            from nets.data import pipeline, draw

            def main():
                not_there.log("start")
                data = pipeline(1024)
                not_there.train(data)

            if __name__ == "__main__":
                main()
        """,
    }
    for name, text in modules.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(textwrap.dedent(text).lstrip("\n"), encoding="utf-8")
    (found,) = verdicts(capsys, "--select", "TFM305", "--fixtures", fixtures, str(tmp_path / "nets" / "data.py"))
    assert (found["verdict"], found["metric"]) == ("confirmed", "peak_bytes")
    assert found["before"] == pytest.approx(128 * MIB, rel=0.05)
    assert found["after"] == pytest.approx(16 * MIB, rel=0.1)
    assert "nets/config.py is cut to 1 of its 3 statements" in found["notes"]
    before, after = (found["programs"][side]["modules"] for side in ("before", "after"))
    assert sorted(before) == ["nets/__init__.py", "nets/config.py", "nets/data.py"]
    assert [name for name in before if before[name] != after[name]] == ["nets/data.py"]


def test_an_input_that_is_not_known_is_made_up_and_named(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = """
        import tensorflow as tf
        def pipeline(images):
            return tf.data.Dataset.from_tensor_slices(images).repeat(8).cache()
    """
    words = ["verify", "--dry-run", "--select", "TFM305", "--fixtures", fixtures, script(tmp_path, text)]
    assert commands.main(words) == 0
    shown = capsys.readouterr().out
    assert re.search(r"# images of pipeline is made up as float32\[\d+,\d+,\d+,\d+\]: its rank by its name", shown)


def test_one_line_can_be_chosen_and_the_programs_shown(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = script(tmp_path, PIPELINE)
    assert commands.main(["verify", "--dry-run", "--select", "TFM305", "--fixtures", fixtures, f"{path}:6"]) == 0
    assert "data = rows(32).cache().repeat(8)" in capsys.readouterr().out
    assert commands.main(["verify", "--dry-run", "--select", "TFM305", "--fixtures", fixtures, f"{path}:2"]) == 0
    assert capsys.readouterr().out == ""


def test_findings_of_a_notebook_have_programs_and_are_chosen_by_cell(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = (
        "import tensorflow as tf\ndata = tf.data.Dataset.range(99).map(lambda i: tf.fill([128, 1024], 1.0))",
        "data = data.repeat(8).cache()\nprint(list(data))",
    )
    cells = [{"cell_type": "code", "source": text, "metadata": {}, "outputs": []} for text in texts]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), encoding="utf-8")
    shown = {}
    for place in ("2:1", "cell 2:1", "1:1", "1"):
        words = ["verify", "--dry-run", "--select", "TFM305", "--fixtures", fixtures, f"{path}:{place}"]
        assert commands.main(words) == 0
        shown[place] = "data.cache().repeat(8)" in capsys.readouterr().out
    assert shown == {"2:1": True, "cell 2:1": True, "1:1": False, "1": True}


def test_a_wrong_example_comment_is_one_line_and_exit_2(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = script(tmp_path, PIPELINE + "    # tfmemlint: example x=flot32[3]\n")
    assert commands.main(["verify", "--select", "TFM305", "--fixtures", fixtures, path]) == 2
    assert "no dtype 'flot32'" in capsys.readouterr().err


def test_a_file_without_findings_has_nothing_to_verify(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert commands.main(["verify", "--fixtures", fixtures, script(tmp_path, "import tensorflow as tf\n")]) == 0
    assert capsys.readouterr().out == "no findings to verify\n"


def test_a_file_that_does_not_parse_is_named(tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["verify", "--fixtures", fixtures, script(tmp_path, "import tensorflow as tf\nx = (\n")]) == 2
    assert "TFM002" in capsys.readouterr().err


def test_a_card_is_imitated_on_the_cpu_only(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.main(["verify", "--memory-limit", "1GiB", "--device", "gpu", "x.py"]) == 2
    assert "leave --device gpu out" in capsys.readouterr().err


def test_each_line_counts_that_is_named_of_a_file(
    tmp_path: Path, fixtures: str, capsys: pytest.CaptureFixture[str]
) -> None:
    again = "again = rows(16).repeat(4).cache()\n"
    path = script(tmp_path, textwrap.dedent(PIPELINE) + again)
    shown = {}
    for lines in (["6"], ["9"], ["9", "6"], ["6", "9"]):
        words = ["verify", "--dry-run", "--select", "TFM305", "--fixtures", fixtures]
        assert commands.main([*words, *(f"{path}:{line}" for line in lines)]) == 0
        shown[" ".join(lines)] = set(re.findall(r"train\.py:(\d+):\d+ TFM305: before", capsys.readouterr().out))
    assert shown == {"6": {"6"}, "9": {"9"}, "9 6": {"6", "9"}, "6 9": {"6", "9"}}
