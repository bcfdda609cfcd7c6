"""How long one small file takes from a cold start, against a process that only imports libcst.

    python -m benchmarks cold                  each command eleven times, in turns
    python -m benchmarks cold --at-most 2.5    exit code 1 when a command takes more than that many times as long

Each run is a process of its own, without a cache of tfmemlint and with Python's compiled files, as after an
installation. What counts is CPU time, the children's too, and of it the median; the machine has a part in every figure,
so that ratios are compared and not milliseconds.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.processes import Command, in_turns

HEAD = "import tensorflow as tf\n\n"
TRAIN = """
model.compile(optimizer="adam", loss="sparse_categorical_crossentropy")
model.fit(tf.data.Dataset.from_tensor_slices((images, labels)).batch(32), epochs=3)
"""
FILES = {
    "plain.py": "import os\n\n\ndef main():\n    for name in os.listdir('.'):\n        print(name)\n\n\nmain()\n",
    "ten_lines.py": HEAD
    + "def batches(files):\n"
    + "    images = tf.data.TFRecordDataset(files).map(decode, num_parallel_calls=8)\n"
    + "    return images.batch(32).prefetch(1000)\n\n\n"
    + "model = tf.keras.Sequential([tf.keras.layers.Dense(10)])\nmodel.compile('adam', 'mse')\n",
    "resnet.py": HEAD + "model = tf.keras.applications.ResNet50(weights=None)" + TRAIN,
    "densenet.py": HEAD + "model = tf.keras.applications.DenseNet121(weights=None)" + TRAIN,
    "written.py": """import tensorflow as tf
from tensorflow.keras import layers


def block(x, filters, stride=1, shortcut=None):
    y = x
    for size, step, width in ((1, stride, filters), (3, 1, filters), (1, 1, 4 * filters)):
        y = layers.BatchNormalization()(layers.Conv2D(width, size, strides=step, padding="same")(y))
        if width == filters:
            y = layers.Activation("relu")(y)
    if shortcut:
        x = layers.BatchNormalization()(layers.Conv2D(4 * filters, 1, strides=stride)(x))
    return layers.Activation("relu")(layers.Add()([x, y]))


inputs = tf.keras.Input((224, 224, 3))
x = layers.BatchNormalization()(layers.Conv2D(64, 7, strides=2, padding="same")(inputs))
x = layers.MaxPooling2D(3, strides=2, padding="same")(layers.Activation("relu")(x))
for filters, blocks, stride in ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)):
    x = block(x, filters, stride, shortcut=True)
    for _ in range(blocks - 1):
        x = block(x, filters)
outputs = layers.Dense(1000, activation="softmax")(layers.GlobalAveragePooling2D()(x))
model = tf.keras.Model(inputs, outputs)
"""
    + TRAIN,
}
TOOL = ("-m", "tfmemlint")
COMMANDS = {
    "import libcst": ("-c", "import libcst"),
    "--version": (*TOOL, "--version"),
    "check, no TensorFlow": (*TOOL, "check", "--isolated", "--no-cache", "plain.py"),
    "check, ten lines": (*TOOL, "check", "--isolated", "--no-cache", "ten_lines.py"),
    "estimate ResNet50": (*TOOL, "estimate", "resnet.py"),
    "estimate ResNet50, written out": (*TOOL, "estimate", "written.py"),
    "estimate DenseNet121 on a T4": (*TOOL, "estimate", "--gpu", "T4", "densenet.py"),
}


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 1 where a command takes longer than `--at-most` allows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=11, help="runs of each command (default: 11)")
    parser.add_argument("--at-most", type=float, metavar="TIMES", help="fail where a command takes longer")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    options = parser.parse_args(words)
    with tempfile.TemporaryDirectory() as folder:
        for name, text in FILES.items():
            Path(folder, name).write_text(text)
        found = measured(Path(folder), options.runs)
    unit = found["import libcst"]
    rows = {name: {"seconds": seconds, "times": seconds / unit} for name, seconds in found.items()}
    if options.json:
        print(json.dumps(rows, indent=2))
    else:
        for name, row in rows.items():
            print(f"{name:32}{1000 * row['seconds']:6.0f} ms  {row['times']:5.2f} x")
    return int(options.at_most is not None and any(row["times"] > options.at_most for row in rows.values()))


def measured(folder: Path, runs: int) -> dict[str, float]:
    """The median CPU seconds of each command; the first run of each, which compiles, does not count."""
    commands = {name: Command((sys.executable, *words), folder) for name, words in COMMANDS.items()}
    in_turns(commands, 1)
    return {name: taken.cpu for name, taken in in_turns(commands, runs).items()}


if __name__ == "__main__":
    sys.exit(main())
