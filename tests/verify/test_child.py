"""What is measured of real programs, in fresh processes and in copies of one that has imported TensorFlow."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tfmemlint.verify.claim import Claim
from tfmemlint.verify.judge import judge
from tfmemlint.verify.run import interpreters, measure
from tfmemlint.verify.run.interpreters import MeasureError
from tfmemlint.verify.run.measure import Failure, Program, Run, Settings
from tfmemlint.verify.run.sandbox import Limits
from tfmemlint.verify.verdicts import CONFIRMED

MIB = 1024**2
SETTINGS = Settings(device="cpu", repeat=2, limits=Limits(wall=120.0))


def run(source: str, settings: Settings = SETTINGS, simulated_gpus: int = 0) -> Run:
    return measure.run_once(Program(textwrap.dedent(source), simulated_gpus), settings)


@pytest.fixture(scope="module")
def served() -> Iterator[Settings]:
    """The settings with one process that has imported TensorFlow for all programs that need no fresh one."""
    with measure.preloaded(SETTINGS) as settings:
        yield settings


@pytest.mark.tensorflow
class TestTensorFlow:
    def test_figures_of_a_program_that_keeps_and_drops_tensors(self) -> None:
        program = """
            import numpy as np
            import tensorflow as tf

            @tf.function
            def traced(n):
                return tf.constant(n)

            kept = tf.ones([10, 256, 1024])
            dropped = tf.ones([50, 256, 1024])
            traced(1), traced(2), traced(2)
            del dropped
            rows = np.ones((200, 1024, 128))
        """
        result = run(program)
        assert (result.status, result.device, result.traces) == ("ok", "CPU:0", 2)
        assert result.peak_bytes is not None and 60 * MIB <= result.peak_bytes < 61 * MIB
        assert result.live_bytes is not None and 10 * MIB <= result.live_bytes < 11 * MIB
        assert result.rss_peak is not None and result.rss_start is not None
        assert result.rss_peak - result.rss_start > 200 * MIB
        assert result.arrays_peak is not None and 200 * MIB <= result.arrays_peak < 201 * MIB
        assert result.versions["tensorflow"] and result.seconds > 0
        assert max(sample[1] for sample in result.timeline) <= result.peak_bytes

    def test_the_allocator_counts_the_same_bytes_in_every_process(self, served: Settings) -> None:
        program = """
            import tensorflow as tf
            data = tf.data.Dataset.range(64).map(lambda i: tf.ones([256, 256]) * tf.cast(i, tf.float32))
            total = tf.zeros([256, 256])
            for step, row in enumerate(data.repeat(2).cache()):
                total += row
                tfmemlint_mark()
        """
        first, second = run(program), run(program, served)
        assert first.status == "ok"
        assert first.live_bytes == second.live_bytes
        assert len(first.marks) == len(second.marks) == 128

    def test_arrays_count_wherever_numpy_puts_them(self, served: Settings) -> None:
        program = """
            import numpy as np
            import tensorflow as tf
            arrays = [np.arange(400_000).astype(float) for _ in range(6)]
            tensors = [tf.convert_to_tensor(array) for array in arrays]
            tfmemlint_mark()
        """
        first, second = run(program), run(program, served)
        assert first.live_bytes == second.live_bytes
        assert first.live_bytes is not None and first.live_bytes >= 6 * 3_200_000

    def test_a_program_s_figures_are_the_same_in_each_run_to_the_byte(self, served: Settings) -> None:
        program = """
            import numpy as np
            import tensorflow as tf
            weights = tf.Variable(tf.random.normal([256, 256]))
            sums = []
            for step in range(20):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(tf.square(weights * np.arange(step + 1.0, dtype=np.float32)[-1]))
                weights.assign_sub(tape.gradient(loss, weights))
                sums.append(tf.reduce_mean(tf.constant(np.ones((step + 1, 3), np.float32)), axis=[0, 1]))
                tfmemlint_mark()
        """
        runs = [run(program), run(program, served), run(program, served)]
        assert [each.status for each in runs] == ["ok"] * 3
        figures = [(each.peak_bytes, each.live_bytes, [mark[1:3] for mark in each.marks]) for each in runs]
        assert figures[0] == figures[1] == figures[2]

    def test_a_pipeline_has_filled_its_buffer_whenever_the_program_goes_on(self, served: Settings) -> None:
        program = """
            import tensorflow as tf
            data = tf.data.Dataset.range(40).map(lambda i: tf.fill([512, 512], tf.cast(i, tf.float32))).prefetch(8)
            for step, row in enumerate(data):
                tfmemlint_mark()
        """
        result = run(program, served)
        live = [mark[1] // MIB for mark in result.marks if mark[1] is not None]
        filled = 8 + 1 + 1  # the buffer, the row that waits for room there, and the row that the program holds
        assert live == [filled] * 31 + [9, 8, 7, 6, 5, 4, 3, 2, 1]

    def test_what_is_timed_runs_as_it_likes(self, served: Settings) -> None:
        program = """
            import os
            tfmemlint_value(len(os.sched_getaffinity(0)))
        """
        assert run(program, replace(SETTINGS, timed=True)).value == len(os.sched_getaffinity(0))
        assert run(program, served).value == 1

    def test_data_sets_of_texts_and_tables_are_made_up_too(self, served: Settings) -> None:
        program = """
            import tensorflow as tf
            from tensorflow.keras.datasets import imdb
            (x, y), (tx, ty) = imdb.load_data(num_words=100)
            assert len(x) == len(y) == len(tx) == 25000 and max(x[0]) < 100 and len(imdb.get_word_index()) > 80000
            (x, y), _ = tf.keras.datasets.boston_housing.load_data()
            assert x.shape == (404, 13) and x.dtype == "float64" and y.shape == (404,)
        """
        result = measure.run_once(Program(textwrap.dedent(program), substitute=True), served)
        assert result.status == "ok", result.reason
        assert any("imdb" in note for note in result.notes) and any("boston" in note for note in result.notes)

    def test_preparations_before_the_reset_do_not_count_and_values_come_back(self, served: Settings) -> None:
        program = """
            import tensorflow as tf
            big = tf.ones([100, 1024, 256]); del big
            f = tf.function(lambda: 1)
            f()
            tfmemlint_reset()
            small = tf.ones([1024, 256])
            tfmemlint_value(small.shape[0])
        """
        result = run(program, served)
        assert result.peak_bytes is not None and result.peak_bytes < 1.1 * MIB
        assert (result.traces, result.value) == (0, 1024.0)

    def test_a_check_of_device_settings_runs_on_simulated_cards(self, served: Settings) -> None:
        bad = """
            import tensorflow as tf
            gpus = tf.config.list_physical_devices("GPU")
            assert len(gpus) == 2
            tf.config.experimental.set_memory_growth(gpus[0], True)
            tf.zeros(3)
        """
        good = """
            import tensorflow as tf
            for gpu in tf.config.list_physical_devices("GPU"):
                tf.config.experimental.set_memory_growth(gpu, True)
            tf.zeros(3)
        """
        before, after = (run(program, served, simulated_gpus=2) for program in (bad, good))
        assert before.error is not None and before.error.lines == (6,)
        claim = Claim(error="ValueError: Memory growth cannot differ between GPU devices")
        assert judge(claim, [before], [after]).kind == CONFIRMED
        assert after.gpu_options is not None and after.gpu_options["allow_growth"] is True

    def test_the_runtime_is_not_initialised_by_the_monitor(self, served: Settings) -> None:
        program = """
            import tensorflow as tf
            import time
            time.sleep(0.1)
            tf.config.set_logical_device_configuration(
                tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 2)
            tfmemlint_mark()
        """
        result = run(program, served)
        assert result.status == "ok" and not result.initialized
        assert result.peak_bytes is None and result.marks[0][1] == 0

    def test_a_card_that_is_too_small_is_imitated(self) -> None:
        settings = Settings(device="cpu", allocator_limit=100 * MIB, limits=Limits(wall=120.0))
        result = run("import tensorflow as tf; tf.ones([200, 1024, 256])", settings)
        assert result.out_of_memory and result.error is not None
        assert result.error.type == "ResourceExhaustedError"

    def test_a_program_that_forks_has_one_result(self) -> None:
        program = """
            import os
            import tensorflow as tf
            if os.fork() == 0:
                raise ValueError("in the copy")
            os.wait()
            tfmemlint_value(3)
        """
        result = run(program)
        assert (result.status, result.value) == ("ok", 3.0)


class TestArrays:
    """Where arrays lie once `arrays` has been installed, in a process of its own."""

    def python(self, source: str) -> str:
        start = f"""
import sys
sys.path.insert(0, {str(measure.CHILD.parent)!r})
import arrays
import numpy as np
kept = arrays.install()
sys.path.pop(0)
"""
        done = subprocess.run(
            [sys.executable, "-c", start + textwrap.dedent(source)], capture_output=True, text=True, check=False
        )
        return done.stdout + done.stderr

    def test_each_array_lies_past_a_multiple_of_64(self) -> None:
        source = """
            sizes = [*range(200), 5_000, 300_000]
            arrays = [make(size) for size in sizes for make in (np.empty, np.zeros, np.arange)]
            with np.errstate(all="ignore"):  # what `empty` holds may be no number
                arrays += [array + 1 for array in arrays]
            print({array.ctypes.data % 64 for array in arrays if array.size}, all(not np.zeros(n).any() for n in sizes))
        """
        assert self.python(source) == "{16} True\n"

    def test_arrays_keep_their_content_when_they_grow_and_shrink(self) -> None:
        source = """
            for first in range(1, 300, 7):
                array = np.arange(first)
                for size in (3, 5_000, 64, 100_000, 17, 1):
                    kept = array[:size].copy()
                    array.resize(size)
                    assert (array[: len(kept)] == kept).all() and not array[len(kept) :].any()
                    assert array.ctypes.data % 64 == 16
            print(np.fromiter(range(10_000), int).sum())
        """
        assert self.python(source) == "49995000\n"

    @pytest.mark.skipif(platform.machine() != "x86_64", reason="the code that frees arrays is that of x86-64")
    def test_what_numpy_raises_while_it_frees_arrays_is_raised(self) -> None:
        source = """
            try:
                np.isnat("no time")
            except TypeError as error:
                print(type(error).__name__)
        """
        assert self.python(source) == "TypeError\n"


class TestWithoutTensorFlow:
    """The monitor itself, on programs that never import TensorFlow."""

    def child(self, tmp_path: Path, source: str, **request: object) -> tuple[Run, subprocess.CompletedProcess[str]]:
        program = tmp_path / "program.py"
        program.write_text(textwrap.dedent(source), encoding="utf-8")
        result = tmp_path / "result.json"
        text = json.dumps({"program": str(program), "result": str(result), "preload": False, **request})
        done = subprocess.run(
            [sys.executable, str(measure.CHILD), "-"], input=text, capture_output=True, text=True, check=False
        )
        return measure.msgspec.convert(json.loads(result.read_bytes()), Run), done

    def test_a_program_sees_itself_as_main(self, tmp_path: Path) -> None:
        source = "import sys\nprint(__name__, __file__ == sys.argv[0], sys.argv[1:])\n"
        _, done = self.child(tmp_path, source, argv=["--epochs", "3"])
        assert done.stdout == "__main__ True ['--epochs', '3']\n"

    def test_modules_of_the_verifier_shadow_nothing(self, tmp_path: Path) -> None:
        result, _ = self.child(tmp_path, "import html, report_that_is_not_there")
        assert result.error is not None and "report_that_is_not_there" in result.error.message

    def test_an_exception_is_described_and_shown_without_the_monitor_s_frames(self, tmp_path: Path) -> None:
        result, done = self.child(tmp_path, "def f():\n    raise KeyError('k')\nf()\n")
        assert result.status == "error" and done.returncode == 1
        assert result.error is not None
        assert (result.error.type, result.error.lines) == ("KeyError", (3, 2))
        assert "main.py" not in done.stderr and "program.py" in done.stderr

    @pytest.mark.parametrize(("end", "code"), [("3", 3), ("0", 0), ("'no data'", 1), ("", 0)])
    def test_the_program_s_exit_status_is_kept(self, tmp_path: Path, end: str, code: int) -> None:
        result, done = self.child(tmp_path, f"raise SystemExit({end})")
        assert done.returncode == code
        assert result.status == ("error" if code else "ok")

    @pytest.mark.parametrize(
        ("collector", "before", "after"),
        [
            ("off", range(5000, 5001), range(5000, 5001)),
            ("each mark", range(1, 5000), range(1)),
            ("", range(1, 5000), None),
        ],
    )
    def test_python_s_collector_runs_as_asked_for(
        self, tmp_path: Path, collector: str, before: range, after: range | None
    ) -> None:
        source = """
            import weakref

            class Ring:
                pass

            alive = weakref.WeakSet()
            for number in range(5000):
                ring = Ring()
                ring.itself = ring
                alive.add(ring)
            del ring
            count = len(alive)
            tfmemlint_mark()
            print(count, len(alive))
        """
        _, done = self.child(tmp_path, source, collector=collector)
        counts = [int(word) for word in done.stdout.split()]
        assert counts[0] in before
        assert counts[1] in (after or counts[:1])

    def test_exit_handlers_of_a_script_run(self, tmp_path: Path) -> None:
        _, done = self.child(tmp_path, "import atexit; atexit.register(print, 'bye')")
        assert done.stdout == "bye\n"

    def test_the_line_that_holds_the_memory_is_seen(self, tmp_path: Path) -> None:
        source = """
            kept = []
            for _ in range(300):
                kept.append(bytearray(b"x") * (1 << 20))
        """
        result, _ = self.child(tmp_path, source, lines=True, own=str(tmp_path), interval=0.001)
        most = max(result.lines, key=lambda line: line.rss)
        assert most.line == 4 and most.file == str(tmp_path / "program.py")


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("", "TypeError"),
        ("no\nmore", "TypeError: no"),
        ("in user code:\n\n    File a.py, line 3\n\n    TypeError: bad dtype\n", "TypeError: TypeError: bad dtype"),
    ],
)
def test_an_exception_in_one_line(message: str, text: str) -> None:
    assert Failure("TypeError", message=message).text == text


def test_an_interpreter_without_tensorflow_is_refused_in_one_line(tmp_path: Path) -> None:
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\nexit 9\n", encoding="utf-8")
    python.chmod(0o755)
    with pytest.raises(MeasureError, match="has no TensorFlow; name an interpreter"):
        interpreters.check_interpreter(str(python))


def test_an_interpreter_that_is_not_there_is_refused_in_one_line() -> None:
    with pytest.raises(MeasureError, match="cannot start /nonexistent/python"):
        interpreters.check_interpreter("/nonexistent/python")


@pytest.mark.tensorflow
def test_a_child_that_leaves_no_result_is_a_crash() -> None:
    settings = Settings(python=sys.executable, device="cpu")
    result = measure.run_once(Program("import os; os._exit(5)"), settings)
    assert (result.status, result.reason) == ("crash", "ended with exit status 5")
