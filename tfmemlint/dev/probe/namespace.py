"""What the examples can name: `tf` with Keras 3 or Keras 2, `np`, and a few values and files.

Runs only inside a probe's child process.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from tfmemlint.dev.probe.forks import fake_gpu, in_fork


class _WithKeras2:
    """TensorFlow with Keras 2 as its Keras."""

    def __init__(self) -> None:
        self.keras = import_module("tf_keras")

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("tensorflow"), name)


def namespace(keras: int) -> dict[str, Any]:
    """The names that examples use, with Keras 3 or 2. Makes no tensor."""
    np = import_module("numpy")
    noise = np.random.default_rng(0)
    return {
        "tf": import_module("tensorflow") if keras == 3 else _WithKeras2(),
        "np": np,
        "fake_gpu": fake_gpu,
        "IMAGE": noise.uniform(size=(60, 60, 3)).astype("float32"),
        "IMAGES": noise.uniform(size=(8, 12, 12, 3)).astype("float32"),
        "BYTES": noise.integers(0, 255, (8, 8, 3), dtype="uint8"),
        "MATRIX": np.ones((2, 2), "float32"),
        "ROWS": np.ones((4, 2), "float32"),
        **{name: str(Path(name.lower())) for name in ("SAVED", "DATASET", "FOLDER", "TEXTS")},
        "PNG": "folder/a/0.png",
        "CSV": "rows.csv",
        "MODEL": f"model{keras}.keras",
    }


def make_files() -> None:
    """Makes the files that examples read in the current folder, in forks, since making some of them needs tensors."""
    in_fork(_tensorflow_files)
    for keras in (3, 2):
        in_fork(partial(_model, keras))


def _tensorflow_files() -> None:
    tf = import_module("tensorflow")
    tf.saved_model.save(tf.Module(), "saved")
    tf.data.Dataset.range(3).save("dataset")
    Path("rows.csv").write_text("a,b\n1,2\n3,4\n")
    for label in "ab":
        for index in range(8):
            picture, text = Path(f"folder/{label}/{index}.png"), Path(f"texts/{label}/{index}.txt")
            for path in (picture, text):
                path.parent.mkdir(parents=True, exist_ok=True)
            picture.write_bytes(tf.io.encode_png(tf.cast(tf.fill([8, 8, 3], index), tf.uint8)).numpy())
            text.write_text(f"{label} {index}")


def _model(keras: int) -> None:
    names = namespace(keras)
    layers = names["tf"].keras.layers
    model = names["tf"].keras.Sequential([names["tf"].keras.Input([3]), layers.Dense(2)])
    model.save(names["MODEL"])
