"""What is made up for flagged steps of pipelines: the lines that the programs have in place of what is not known."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path

import pytest

from tfmemlint.cli import commands

PROGRAMS = {
    "sizes that nobody knows, and few pictures of a known size": (
        """
        def rows(names):
            ds = tf.data.Dataset.from_tensor_slices(names).map(decode)
            return ds.batch(32).shuffle(1000)

        def decode(name):
            return tf.io.decode_jpeg(tf.io.read_file(name), channels=3)
        """,
        "TFM307",
        ('ds = tfmemlint_dataset(("uint8", (192, 192, 3)), 1820)', "ds.batch(32).shuffle(1000)"),
    ),
    "a batch that only the caller has": (
        """
        def rows(batch):
            ds = tf.data.Dataset.range(100_000).map(lambda n: tf.zeros([64, 64]))
            ds = ds.batch(batch)
            return ds.prefetch(batch)
        """,
        "TFM304",
        ('ds = tfmemlint_dataset(("float32", (32, 64, 64)), 384)', "batch = 64"),
    ),
    "what is read of objects, tables and lengths": (
        """
        class Data:
            def rows(self, table, x):
                ds = tf.data.Dataset.range(100_000).map(lambda n: tf.zeros([64, 64]))
                return ds.batch(self.args.batch).shuffle(table["a"].shape[0]).prefetch(len(x))
        """,
        "TFM307",
        (
            "self = tfmemlint_object(args=tfmemlint_object(batch=32))",
            "table = {'a': tfmemlint_object(shape=(64,))}",
            "x = range(64)",
        ),
    ),
    "lengths of the rows that it is made of": (
        """
        def batches(x, y):
            x = np.asarray(x, np.float32).reshape(-1, 512)
            return tf.data.Dataset.from_tensor_slices(x).shuffle(y.shape[0]).batch(16).prefetch(100)
        """,
        "TFM304",
        ('x = tfmemlint_array("float32", (2048, 512))', "y = tfmemlint_object(shape=(2048,))"),
    ),
    "elements of which a comment tells": (
        """
        # tfmemlint: example ds=dataset(float32[64,64], int64[]) * 9000
        def rows(files, parse):
            ds = tf.data.TFRecordDataset(files).map(parse)
            return ds.shuffle(500_000)
        """,
        "TFM309",
        ('ds = tfmemlint_dataset([("float32", (64, 64)), ("int64", ())], 9000)', "return ds.shuffle(1)"),
    ),
    "names of files that are read before the flagged place": (
        """
        def decode(name):
            return tf.image.resize(tf.io.decode_jpeg(tf.io.read_file(name), channels=3), (64, 64))

        pictures = list(tf.data.Dataset.list_files("photos/*.jpg").map(decode))
        """,
        "TFM310",
        (
            'list(tfmemlint_dataset(("float32", (64, 64, 3)), 4096))',
            'list((None for _ in tfmemlint_dataset(("float32", (64, 64, 3)), 4096)))',
        ),
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_what_is_not_known_of_a_pipeline_is_made_up(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, code, lines = PROGRAMS[name]
    path = tmp_path / "program.py"
    path.write_text("import numpy as np\nimport tensorflow as tf\n" + textwrap.dedent(text), encoding="utf-8")
    assert commands.main(["verify", "--dry-run", "--select", code, str(path)]) == 0
    shown = capsys.readouterr().out
    assert [line for line in lines if line not in shown] == []


def test_elements_of_which_nothing_is_known_are_not_made_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.py"
    text = """
    import absent
    import tensorflow as tf

    def rows(files):
        ds = tf.data.TFRecordDataset(files).map(absent.parse)
        return ds.shuffle(500_000)
    """
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    commands.main(["verify", "--repeat", "1", "--no-cache", "--select", "TFM309", "--output-format", "json", str(path)])
    (attempt, *_) = json.loads(capsys.readouterr().out)["results"][0]["attempts"]
    assert attempt["programs"] == "alone"
    assert "too little is known of the elements of ds; say what it is" in attempt["reason"]
    assert "# tfmemlint: example ds=dataset(float32[28,28,1], int64[])" in attempt["reason"]
