"""How programs come to flagged places: what conditions, settings and constructors ask for."""

from __future__ import annotations

import pytest
from test_plan import before, planned


def last(text: str, old: str) -> str:
    """The line that calls the flagged function."""
    return before(text, old).rstrip().splitlines()[-1]


class TestConditions:
    """Arguments that the conditions around the flagged place ask for."""

    @pytest.mark.parametrize(
        ("test", "given"),
        [
            ("mode == 'train'", "mode='train'"),
            ("mode != 'test'", ""),
            ("not mode != 'train'", "mode='train'"),
            ("mode in ('train', 'all')", "mode='train'"),
            ("mode == 3 and other", "mode=3"),
            ("mode == 'train' or other", ""),
            ("mode", "mode=True"),
            ("not mode", "mode=False"),
            ("mode == other", ""),
            ("mode == 'eval'", ""),
        ],
    )
    def test_an_argument_is_as_the_condition_asks(self, test: str, given: str) -> None:
        text = f"""
            import tensorflow as tf
            other = object()
            def f(mode="eval"):
                if {test}:
                    return tf.ones([9])
                return None
        """
        assert last(text, "tf.ones([9])") == f"tfmemlint_consume(f({given}))"

    def test_of_the_other_branch_the_opposite(self) -> None:
        text = """
            import tensorflow as tf
            def f(training=True, kind="a"):
                if training:
                    return None
                elif kind != "wide":
                    return None
                else:
                    return tf.ones([9])
        """
        made = planned(text, "tf.ones([9])", "None")
        assert made.pair.before.source.rstrip().endswith("tfmemlint_consume(f(training=False, kind=\"wide\"))")
        assert "training of f is False, as the flagged place asks" in made.pair.replaced

    @pytest.mark.parametrize(
        ("default", "test", "refused"),
        [
            ("0", "not size", True),
            ("None", "size is None", True),
            ("-1", "size == -1", True),
            ("-1", "other is None or size == -1", True),
            ("4", "not size", False),
            ("None", "size > 3", False),
        ],
    )
    def test_what_a_function_refuses_is_made_up(self, default: str, test: str, refused: bool) -> None:
        text = f"""
            import tensorflow as tf
            other = object()
            def f(size={default}):
                if {test}:
                    raise ValueError("size")
                return tf.ones([9])
        """
        assert ("size=64" in last(text, "tf.ones([9])")) is refused

    def test_a_condition_inside_another_function_asks_for_nothing(self) -> None:
        text = """
            import tensorflow as tf
            def f(training=False):
                def inner(training):
                    if training:
                        return tf.ones([9])
                return inner(True)
        """
        assert last(text, "tf.ones([9])") == "tfmemlint_consume(f())"


class TestSettings:
    """Names that a module gets in other ways than by its own statements."""

    def test_what_a_function_sets_for_all_is_kept_with_its_call(self) -> None:
        text = """
            import tensorflow as tf
            def read():
                global ROWS
                ROWS = 8
            def say():
                print("no rows")
            read()
            say()
            x = tf.ones([ROWS])
            y = x + 1.0
        """
        made = before(text, "x + 1.0")
        assert "\nread()\n" in made and "say" not in made

    def test_texts_that_are_evaluated_may_name_what_is_imported(self) -> None:
        text = """
            import os
            from math import floor, ceil
            import tensorflow as tf
            def size():
                return 3
            rows = eval("floor")(7.5)
            x = tf.ones([rows])
        """
        made = before(text, "tf.ones([rows])")
        assert "from math import floor, ceil\n" in made and "def size():" in made

    def test_without_that_they_are_left_out(self) -> None:
        made = before("import os\nimport tensorflow as tf\nfrom math import ceil\nx = tf.ones([3])\n", "tf.ones([3])")
        assert made == "import tensorflow as tf\nx = tf.ones([3])\n"

    def test_flags_are_defined_for_a_name_of_their_own_import(self) -> None:
        text = """
            import tensorflow as tf
            from absl import flags
            from absl.flags import FLAGS
            flags.DEFINE_integer("rows", 8, "how many")
            x = tf.ones([FLAGS.rows])
        """
        assert 'flags.DEFINE_integer("rows", 8, "how many")' in before(text, "tf.ones([FLAGS.rows])")


class TestMadeUp:
    """What parameters are by what is done with them, and what constructors are given."""

    def test_what_is_mapped_is_a_function_and_what_batches_is_a_number(self) -> None:
        text = """
            import tensorflow as tf
            def rows(parse, size, again):
                data = tf.data.Dataset.range(9).map(parse).shuffle(buffer_size=size).repeat(count=again)
                return data.batch(2)
        """
        made = last(text, "data.batch(2)")
        assert 'parse=tfmemlint_function("parse")' in made
        assert "size=64" in made and "again=10" in made

    def test_what_is_repeated_is_an_array(self) -> None:
        text = """
            import numpy as np
            import tensorflow as tf
            def rows(x, y):
                return tf.repeat(x, 2), np.take(y, [0]) * 2
        """
        made = last(text, "tf.repeat(x, 2)")
        assert "x=tfmemlint_" in made and "y=tfmemlint_" in made

    def test_what_is_joined_as_paths_are_is_a_path(self) -> None:
        text = """
            import tensorflow as tf
            def rows(base):
                return tf.io.read_file(str(base / "train" / "rows.bin"))
        """
        assert "base=__import__(\"pathlib\").Path('folder')" in last(text, "tf.io.read_file")

    def test_keywords_that_go_to_a_layer_are_what_that_asks_for(self) -> None:
        text = """
            import tensorflow as tf
            class Base(tf.keras.layers.Layer):
                def __init__(self, **kwargs):
                    super().__init__()
                    self.attend = tf.keras.layers.MultiHeadAttention(**kwargs)
            class Net(Base):
                # tfmemlint: example x=float32[2,3,4]
                def call(self, x):
                    return x * 2
        """
        made = planned(text, "x * 2", "x")
        assert "Net(num_heads=2, key_dim=10)(" in made.pair.before.source
        assert "num_heads=2, key_dim=10 is given to Net: nothing in the project makes one" in made.pair.replaced

    def test_a_callback_has_a_model(self) -> None:
        text = """
            import tensorflow as tf
            class Watch(tf.keras.callbacks.Callback):
                def __init__(self, rows=3):
                    super().__init__()
                    self.rows = rows
                def on_epoch_end(self, epoch, logs=None):
                    print(tf.ones([self.rows]))
        """
        made = last(text, "tf.ones([self.rows])")
        assert made.startswith("tfmemlint_consume(tfmemlint_callback(Watch()).on_epoch_end(")
