"""From findings to pairs of programs: what is kept, what is left out, and what cannot be known."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import libcst as cst
import pytest

from tfmemlint.config.settings import Config
from tfmemlint.finding import Edit, Finding, Fix, Related, Safety, Severity, Span
from tfmemlint.model.file import File
from tfmemlint.text.read import read_source
from tfmemlint.verify.claim import Claim
from tfmemlint.verify.evidence import Sample
from tfmemlint.verify.plan.examples import read_examples
from tfmemlint.verify.plan.from_finding import plan
from tfmemlint.verify.plan.programs import PlanError
from tfmemlint.verify.plan.templates import Plan
from tfmemlint.verify.result import Pair
from tfmemlint.verify.run.measure import Program
from tfmemlint.verify.verdicts import RULE_ONLY, TOO_SMALL


def planned(
    text: str,
    old: str,
    new: str | None,
    *,
    related: str | None = None,
    sample: Sample | None = None,
    size: int | None = None,
    safety: Safety = Safety.SAFE,
    severity: Severity = Severity.WARNING,
    path: str = "train.py",
    samples_too: bool = False,
) -> Plan:
    """The plan for a finding at the text `old`, which its repair replaces by `new` (None: no repair)."""
    text = textwrap.dedent(text).lstrip("\n")
    source = read_source(text.encode(), path)
    file = File(source, cst.parse_module(source.text), Config())
    start = source.text.index(old)
    fix = None if new is None else Fix("", (Edit(start, start + len(old), new),), safety)
    others = () if related is None else (Related(Span(source.text.index(related), source.text.index(related) + 1), ""),)
    span = Span(start, start + len(old))
    finding = Finding("TFM305", "name", severity, "", span, size, others, fix)
    return plan(finding, file, sample, read_examples(source), samples_too)


def sources(text: str, old: str, new: str | None) -> tuple[str, str]:
    pair = planned(text, old, new).pair
    return pair.before.source, pair.after.source


def before(text: str, old: str, new: str = "None") -> str:
    return sources(text, old, new)[0]


def dedented(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


class TestModuleLevel:
    def test_only_what_the_flagged_statement_needs_is_kept(self) -> None:
        text = """
            import os
            import matplotlib.pyplot as plt
            import tensorflow as tf

            ROWS = 10
            # not needed
            COLUMNS = 20
            print("hello")
            x = tf.zeros([ROWS, 3])
            y = tf.ones(3)
            z = x + 1.0
        """
        assert before(text, "x + 1.0") == dedented("""
            import tensorflow as tf

            ROWS = 10
            x = tf.zeros([ROWS, 3])
            z = x + 1.0
        """)

    def test_the_repaired_program_differs_by_the_repair_alone(self) -> None:
        flagged, repaired = sources(
            "import tensorflow as tf\nx = tf.ones(3)\ny = tf.cast(x, 'float64')\n", "'float64'", "'float32'"
        )
        assert repaired == flagged.replace("float64", "float32")

    def test_changes_of_a_kept_object_and_its_later_uses_stay(self) -> None:
        text = """
            import tensorflow as tf
            model = tf.keras.Sequential()
            model.add(tf.keras.layers.Dense(3))
            model.compile("adam", "mse")
            x = tf.zeros([10, 3])
            other = []
            other.append(1)
            history = model.fit(x, x)
        """
        program = before(text, "tf.zeros([10, 3])", "tf.zeros([5, 3])")
        assert "model.add(" in program and "model.compile(" in program and "model.fit(x, x)" in program
        assert "other" not in program

    def test_changes_that_need_what_is_kept_anyway_stay(self) -> None:
        made = before(
            """
            import tensorflow as tf
            from readers import first_rows

            rows = first_rows()
            model = tf.keras.Sequential([tf.keras.layers.Dense(len(rows))])
            model.compile("sgd", "mse", loss_weights=[len(rows)])
            model.fit(rows)
            """,
            "model.fit(rows)",
        )
        assert "model.compile(" in made

    def test_results_are_not_saved_or_plotted(self) -> None:
        text = """
            import tensorflow as tf
            import pandas as pd
            x = tf.zeros(3)
            pd.DataFrame(x).plot()
            x.save("x.npy")
            frame = pd.DataFrame([1])
            frame.add(x)
            y = x + 1
        """
        program = before(text, "tf.zeros(3)")
        assert "pandas" not in program and "save" not in program and "frame" not in program
        assert "y = x + 1" in program

    def test_settings_of_tensorflow_before_the_place_stay(self) -> None:
        text = """
            import tensorflow as tf
            tf.keras.mixed_precision.set_global_policy("mixed_float16")
            x = tf.zeros(3)
            tf.random.set_seed(1)
        """
        program = before(text, "tf.zeros(3)")
        assert "set_global_policy" in program and "set_seed" not in program

    def test_a_flagged_setting_shows_in_what_the_module_does_afterwards(self) -> None:
        text = """
            import tensorflow as tf
            import wandb
            x = tf.zeros(1)
            tf.keras.backend.set_floatx("float64")
            def main():
                return tf.zeros(2)
            if __name__ == "__main__":
                main()
                wandb.log(1)
        """
        assert before(text, '"float64"', '"float32"') == dedented("""
            import tensorflow as tf
            tf.keras.backend.set_floatx("float64")
            def main():
                return tf.zeros(2)
            if __name__ == "__main__":
                main()
        """)

    def test_names_that_only_the_repair_uses_are_there(self) -> None:
        text = "import numpy as np\nimport tensorflow as tf\nx = tf.ones(3)\ny = x / 255.0\n"
        assert "import numpy as np" in before(text, "255.0", "np.float32(255.0)")

    def test_the_statement_of_a_related_place_stays(self) -> None:
        text = """
            import tensorflow as tf
            a = tf.constant(1)
            b = tf.constant(2)
            tf.config.set_visible_devices([])
        """
        made = planned(text, "[]", "None", related="a = ")
        assert "a = tf.constant(1)" in made.pair.before.source
        assert "b = " not in made.pair.before.source

    def test_branches_and_handlers(self) -> None:
        text = """
            import tensorflow as tf
            if tf.executing_eagerly():
                print("yes")
            elif tf.test:
                x = tf.zeros(3)
            else:
                print("no")
            try:
                y = tf.ones(3)
            except ValueError as error:
                print(error)
            finally:
                print("end")
            z = x + y
        """
        made = planned(text, "x + y", "x - y")
        assert made.pair.before.source == dedented("""
            import tensorflow as tf
            if tf.executing_eagerly():
                pass
            elif tf.test:
                x = tf.zeros(3)
            try:
                y = tf.ones(3)
            except ValueError as error:
                raise
            z = x + y
        """)
        assert made.pair.replaced == ("the exception handler at line 10 raises again what it catches",)

    def test_a_fallback_in_a_handler_is_kept(self) -> None:
        text = """
            import tensorflow as tf
            try:
                import fancy
            except ImportError:
                fancy = None
            x = tf.ones(3) if fancy is None else fancy.x
        """
        assert "except ImportError:\n    fancy = None" in before(text, "tf.ones(3)")


class TestFunctions:
    TEXT = """
        import sys
        import tensorflow as tf

        def rows(n, scale=2.0):
            x = tf.zeros([n, 3])
            print("made")
            y = x * scale
            return y

        def main():
            print(sys.argv)
            data = rows(7)
            unrelated = 5
            return data

        if __name__ == "__main__":
            main()
    """

    def test_a_function_is_reached_through_its_callers(self) -> None:
        assert before(self.TEXT, "x * scale") == dedented("""
            import tensorflow as tf

            def rows(n, scale=2.0):
                x = tf.zeros([n, 3])
                y = x * scale
                return y

            def main():
                data = rows(7)
                return data

            if __name__ == "__main__":
                main()
        """)

    def test_a_name_of_the_function_keeps_nothing_that_is_called_so_outside(self) -> None:
        text = """
            import tensorflow as tf

            def double(n):
                result = tf.zeros([n])
                result = result * 2.0
                return result

            result = print("another")
            made = double(3)
            result = made + 1.0
        """
        assert before(text, "tf.zeros([n])") == dedented("""
            import tensorflow as tf

            def double(n):
                result = tf.zeros([n])
                result = result * 2.0
                return result

            made = double(3)
            result = made + 1.0
        """)

    def test_a_function_without_callers_is_called_with_what_is_known(self) -> None:
        text = """
            import tensorflow as tf
            # tfmemlint: example x=float32[4,3] n=2
            def f(x, n, *rest, scale=1.0, **more):
                return x * scale
        """
        made = planned(text, "x * scale", "x")
        last = made.pair.before.source.splitlines()[-1]
        assert last == 'tfmemlint_consume(f(x=tfmemlint_array("float32", (4, 3)), n=2))'
        assert "x=float32[4,3] is given to f" in made.pair.replaced

    def test_an_unknown_parameter_is_made_up_and_asked_for(self) -> None:
        made = planned("import tensorflow as tf\ndef f(images):\n    return images * 2\n", "images * 2", "images")
        assert any(re.fullmatch(r"images of f is made up as .*: its rank by its name", x) for x in made.pair.replaced)
        assert made.guessed == (
            "parameter images of f is not known; say what it is in a comment: "
            "# tfmemlint: example images=float32[32,224,224,3]"
        )

    def test_a_method_is_called_on_a_new_object(self) -> None:
        text = """
            import tensorflow as tf
            # tfmemlint: example x=float32[4,3]
            class Net(tf.keras.Model):
                def __init__(self, width=8):
                    super().__init__()
                def call(self, x):
                    return x * 2
            class Data:
                def make(self):
                    return tf.zeros(3)
        """
        assert 'Net()(x=tfmemlint_array("float32", (4, 3)))' in before(text, "x * 2")
        assert "tfmemlint_consume(Data().make())" in before(text, "tf.zeros(3)")

    def test_a_constructor_that_the_class_inherits_is_given_its_arguments(self) -> None:
        made = before(
            """
            import tensorflow as tf

            class Source:
                def __init__(self, number):
                    self.number = number

            class Pictures(Source):
                def batches(self):
                    return tf.zeros([self.number, 3])
            """,
            "tf.zeros([self.number, 3])",
        )
        assert re.search(r"Pictures\(number=\d+\)\.batches\(\)", made)

    def test_an_example_stands_in_for_an_assignment(self) -> None:
        text = """
            import numpy as np
            import tensorflow as tf
            x = np.load("data.npy")  # tfmemlint: example x=uint8[10,3]
            y = x / 255.0
        """
        made = planned(text, "x / 255.0", "x")
        assert 'x = tfmemlint_array("uint8", (10, 3))' in made.pair.before.source
        assert 'x=uint8[10,3] stands in for np.load("data.npy")' in made.pair.replaced


class TestLoops:
    def test_loops_are_cut_and_the_one_around_the_place_is_marked(self) -> None:
        text = """
            import tensorflow as tf
            for epoch in range(100):
                for step in 1, 2, 3:
                    x = tf.zeros(step)
            while x is None or epoch:
                x = x + 1
        """
        program = before(text, "tf.zeros(step)", "tf.zeros(1)")
        assert "for epoch in tfmemlint_some(range(100), 8, 2):" in program
        assert "for step in tfmemlint_some((1, 2, 3), 50, 3, marked=True):" in program
        assert "tfmemlint_enter(5)\nwhile tfmemlint_more(50, 5) and (x is None or epoch):" in program

    def test_so_is_a_tuple_in_parentheses(self) -> None:
        program = before("import tensorflow as tf\nfor step in (1, 2, 3):\n    x = tf.ones(3)\n", "tf.ones(3)")
        assert "for step in (tfmemlint_some((1, 2, 3), 50, 2, marked=True)):" in program

    def test_a_break_and_its_condition_stay(self) -> None:
        text = """
            import tensorflow as tf
            limit = 3
            for n in range(9):
                x = tf.zeros(n)
                print(n)
                if n > limit:
                    print("end")
                    break
        """
        program = before(text, "tf.zeros(n)", "tf.zeros(1)")
        assert "limit = 3" in program and "    if n > limit:\n        break\n" in program
        assert "print" not in program

    def test_a_repair_that_replaces_a_whole_loop_wins_over_its_cut(self) -> None:
        text = "import tensorflow as tf\nx = tf.ones(3)\nfor i in range(9):\n    x = x + 1\n"
        flagged, repaired = sources(text, "for i in range(9):\n    x = x + 1", "x = x + 9")
        assert "tfmemlint_some(range(9), 2000, 3" in flagged
        assert repaired == "import tensorflow as tf\nx = tf.ones(3)\nx = x + 9\n"


class TestDatasets:
    def test_a_pipeline_is_iterated_and_not_trained_on(self) -> None:
        text = """
            import tensorflow as tf
            model = tf.keras.Sequential([tf.keras.layers.Dense(3)])
            ds = tf.data.Dataset.range(10).repeat(3).cache()
            ds = ds.batch(2)
            model.fit(ds)
        """
        assert before(text, ".repeat(3).cache()", ".cache().repeat(3)") == dedented("""
            import tensorflow as tf
            ds = tf.data.Dataset.range(10).repeat(3).cache()
            ds = ds.batch(2)
            tfmemlint_consume(ds)
        """)

    def test_it_is_iterated_where_it_is_made(self) -> None:
        text = """
            import tensorflow as tf
            def main():
                ds = tf.data.Dataset.range(10).cache()
                for x in ds:
                    print(x)
            main()
        """
        program = before(text, ".cache()", "")
        assert "    ds = tf.data.Dataset.range(10).cache()\n    tfmemlint_consume(ds)\n" in program
        assert "print" not in program


def sample(claim: Claim, cards: int = 0, program: str = "pass") -> Sample:
    return Sample("TFM305", Path("TFM305-x"), claim, Pair(Program(program, cards), Program(program + "\n", cards)))


class TestClaims:
    TEXT = "import tensorflow as tf\ngpus = tf.config.list_physical_devices()\ntf.config.set_visible_devices(gpus[0])\n"

    def test_an_error_is_looked_for_on_simulated_cards_after_a_first_operation(self) -> None:
        made = planned(self.TEXT, "gpus[0]", "gpus", sample=sample(Claim(error="ValueError: x"), 2))
        assert made.claim.error == "ValueError: x"
        assert made.pair.before.simulated_gpus == 2
        assert made.pair.before.source.endswith("tfmemlint_initialise()\n")

    def test_memory_is_looked_at_in_every_way(self) -> None:
        made = planned(self.TEXT, "gpus[0]", "gpus", sample=sample(Claim("peak_bytes", 4.0)))
        assert made.claim == Claim()

    def test_a_repair_that_is_only_shown_says_so(self) -> None:
        made = planned(self.TEXT, "gpus[0]", "gpus", safety=Safety.DISPLAY)
        assert "the repair is one that is only shown, never applied" in made.pair.replaced

    def test_without_a_repair_the_rule_s_sample_takes_the_finding_s_size(self) -> None:
        program = "SIZE = 1 << 20  # tfmemlint: finding bytes\nprint(SIZE)"
        made = planned(
            self.TEXT, "gpus[0]", None, sample=sample(Claim("rss", 2.0), program=program), size=12345, samples_too=True
        )
        assert made.pair.before.source == "SIZE = 12345\nprint(SIZE)"
        assert made.claim.metric == "rss"
        (note,) = made.pair.replaced
        assert "own sample" in note and "at the size of this finding" in note

    def test_a_sample_is_not_run_unless_it_is_asked_for(self) -> None:
        with pytest.raises(PlanError, match="--samples") as caught:
            planned(self.TEXT, "gpus[0]", None, sample=sample(Claim("rss", 2.0)))
        assert caught.value.kind == RULE_ONLY

    def test_bytes_that_nothing_can_measure_are_not_run(self) -> None:
        with pytest.raises(PlanError, match="cannot be measured") as caught:
            planned(self.TEXT, "gpus[0]", "gpus", sample=sample(Claim("peak_bytes")), size=24)
        assert caught.value.kind == TOO_SMALL

    def test_a_sample_is_not_made_larger_than_a_machine(self) -> None:
        program = "SIZE = 1 << 20  # tfmemlint: finding bytes"
        made = planned(
            self.TEXT,
            "gpus[0]",
            None,
            sample=sample(Claim("rss", 2.0), program=program),
            size=1 << 40,
            samples_too=True,
        )
        assert made.pair.before.source == f"SIZE = {512 * 1024**2}"
        (note,) = made.pair.replaced
        assert "at 512 MiB in place of the 1 TiB of this finding" in note

    def test_advice_that_promises_no_memory_is_not_measured(self) -> None:
        with pytest.raises(PlanError, match="promises no memory"):
            planned(self.TEXT, "gpus[0]", "gpus", severity=Severity.INFO)

    def test_with_neither_repair_nor_sample_there_is_a_reason(self) -> None:
        with pytest.raises(PlanError, match="neither a repair to compare with nor a sample"):
            planned(self.TEXT, "gpus[0]", None)


def test_imports_of_the_user_s_own_package_work_from_elsewhere(tmp_path: Path) -> None:
    package = tmp_path / "src" / "mine" / "data"
    package.mkdir(parents=True)
    for folder in (package, package.parent):
        (folder / "__init__.py").touch()
    made = planned("import tensorflow as tf\nx = tf.ones(3)\n", "tf.ones(3)", "None", path=str(package / "load.py"))
    assert made.pair.before.package == "mine.data"
    assert made.pair.before.path == (str(package), str(tmp_path / "src"))
