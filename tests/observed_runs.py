"""Runs many programs under one imported TensorFlow and writes down what of each can be observed afterwards.

    with observing(folder) as observed:
        runs = observed(programs)

Each runs in a child forked from one process that has imported TensorFlow, one top-level statement at a time, so that
one that lacks a file or a library stops nothing but itself, and with short loops. What is observed of a program:
`errors` and `printed`, `names` (what the module's names stand for: arrays and tensors by dtype, shape and content,
datasets by specification and elements, models by configuration and weights), `unfinished` (the names in statements
that took too long), `lines` (which lines have run, and not only raised) and `seconds` of the processor; or `died` and
why.

    python observed_runs.py FOLDER

is that process. It reads numbers, of which each asks for the list of programs in FOLDER/NUMBER.json, and prints them
again when what was observed lies in FOLDER/NUMBER.observed.json.
"""

from __future__ import annotations

import ast
import contextlib
import faulthandler
import gc
import hashlib
import io
import json
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from itertools import count, islice
from pathlib import Path
from subprocess import PIPE
from traceback import walk_tb
from types import FrameType, FunctionType, ModuleType
from typing import Any

from made_up import make_up_files, make_up_libraries

SECONDS_OF_ONE, SECONDS_OF_STATEMENT = 30, 3
ROUNDS, CUT = 4, "tfmemlint_cut"
"""How often a loop's body runs, and what a loop asks for its items."""
MEMORY = 12 << 30
AT_ONCE = 2
ELEMENTS, BYTES = 5, 16 << 20
"""After how many elements, or bytes of them, a data set is left."""
PIECES, PIECE = 32, 1 << 20
"""How many pieces of a larger array are compared, and the bytes of each."""
DEEPEST = 5
MEASURING = ("tfmemlint_mark", "tfmemlint_reset", "tfmemlint_value")
"""What is built in while a sample is measured."""

Described = Any
Observed = dict[str, Any]
_PASSING = r"0x[0-9a-f]+|goo\.gle/debug.*|Error in user-defined function .*? iterator: \S+ |line \d+|/\S*tmp\w{8}\b|"
_PASSING += r"\{\{\w*node .*?\}\}|Dataset\w*:\d+|\[Op:.*?\]|\S*__inference\S*|(?<= for )'.*?'(?= with )"
"""What differs from run to run in the words of errors: addresses, lines, temporary folders, names of nodes."""


@contextlib.contextmanager
def observing(folder: Path) -> Iterator[Callable[..., list[Observed]]]:
    """What runs a list of programs, with `traced=False` without noting `lines`; `folder` is for its files."""
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": "-1", "PYTHONHASHSEED": "0"}
    environment["TF_CPU_ALLOCATOR_USE_BFC"] = "1"  # the allocator that has figures to ask for
    command = [sys.executable, __file__, str(folder)]
    with (
        (folder / "said").open("w+") as said,
        subprocess.Popen(command, env=environment, stdin=PIPE, stdout=PIPE, stderr=said, text=True) as server,
    ):
        numbers = count()

        def observed(programs: list[str], traced: bool = True) -> list[Observed]:
            number = next(numbers)
            (folder / f"{number}.json").write_text(json.dumps({"programs": programs, "traced": traced}))
            assert server.stdin is not None
            assert server.stdout is not None
            print(number, file=server.stdin, flush=True)
            answer = server.stdout.readline()
            assert answer == f"{number}\n", (folder / "said").read_text()[-2000:]
            found: list[Observed] = json.loads((folder / f"{number}.observed.json").read_text())
            return found

        try:
            yield observed
        finally:
            server.kill()


# -- values ----------------------------------------------------------------------------------------------------------


def _bytes_of(array: Any) -> str:
    """A hash of the content; of a large array's, of pieces all over it."""
    import numpy as np

    if array.dtype == object:
        return hashlib.sha256(repr(array.tolist()).encode()).hexdigest()[:16]
    content = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    found = hashlib.sha256()
    step = max(PIECE, content.size // PIECES)
    for start in range(0, content.size, step):
        found.update(content[start : start + PIECE])
    found.update(content[-PIECE:])
    return found.hexdigest()[:16]


def _array(kind: str, array: Any) -> Described:
    small = repr(array.tolist()) if array.size <= 4 and array.dtype != object else _bytes_of(array)
    return [kind, str(array.dtype), list(array.shape), small]


def _dataset(dataset: Any, depth: int) -> Described:
    import tensorflow as tf

    elements: list[Described] = []
    left = BYTES
    try:
        for element in dataset.take(ELEMENTS):
            elements.append(describe(element, depth + 1))
            left -= sum(each._numpy().nbytes for each in tf.nest.flatten(element) if isinstance(each, tf.Tensor))
            if left < 0:
                break
    except Exception as error:
        elements.append(_error(error))
    return ["dataset", repr(dataset.element_spec), elements]


def _error(error: BaseException) -> str:
    text = re.sub(r"\*[* ]*", "*", re.sub(_PASSING, "*", f"{type(error).__name__}: {error}"))
    return text.split("\n")[0][:300]


def describe(value: Any, depth: int = 0) -> Described:
    """A value in words that are equal for values that a program cannot tell apart."""
    import numpy as np
    import tensorflow as tf

    kind = type(value)
    name = f"{kind.__module__}.{kind.__qualname__}"
    if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
        return [kind.__name__, repr(value)]
    if isinstance(value, np.ndarray):
        return _array("ndarray", value)
    if isinstance(value, np.generic):
        return [name, repr(value)]
    if isinstance(value, tf.Variable):
        return ["variable", value.trainable, _array("", value.read_value()._numpy())]
    if isinstance(value, tf.Tensor):
        known = hasattr(value, "_numpy")  # without a copy, unlike `numpy`
        return _array("tensor", np.asarray(value._numpy())) if known else ["symbolic", repr(value.dtype)]
    if isinstance(value, (tf.SparseTensor, tf.RaggedTensor)):
        return [kind.__name__, [describe(each, depth + 1) for each in tf.nest.flatten(value, expand_composites=True)]]
    if isinstance(value, tf.data.Dataset):
        return _dataset(value, depth)
    if depth >= DEEPEST or isinstance(value, (ModuleType, FunctionType, type)):
        return [kind.__name__, getattr(value, "__qualname__", "")]
    if isinstance(value, dict):
        return [kind.__name__, [[describe(k, depth + 1), describe(v, depth + 1)] for k, v in list(value.items())[:200]]]
    if isinstance(value, (list, tuple, set, frozenset)):
        return [kind.__name__, len(value), [describe(each, depth + 1) for each in list(value)[:200]]]
    if hasattr(value, "get_config") and hasattr(value, "weights"):
        return [name, _config(value), [_array("", np.asarray(each)) for each in value.weights]]
    if name.endswith(("callbacks.History", "history.History")):
        return ["History", describe(value.history, depth + 1), describe(value.epoch, depth + 1)]
    if kind.__module__ == "__main__":
        return [name, describe(dict(sorted(vars(value).items())) if hasattr(value, "__dict__") else {}, depth + 1)]
    return [name]


def _config(value: Any) -> str:
    try:
        return re.sub(r"0x[0-9a-f]+", "*", repr(value.get_config()))[:5000]
    except Exception as error:
        return _error(error)


# -- programs --------------------------------------------------------------------------------------------------------


class _TooLongError(BaseException):
    pass


def _nothing(*_: object) -> None:
    pass


def _short_training() -> None:
    """Two epochs without a progress bar, which shows times: what is compared is there after the first."""
    import keras

    def quiet(method: Any) -> Any:
        def called(self: Any, *args: Any, **more: Any) -> Any:
            if "epochs" in more:
                more["epochs"] = min(more["epochs"], 2)
            return method(self, *args, **{**more, "verbose": 0})

        return called

    for name in ("fit", "evaluate", "predict"):
        setattr(keras.Model, name, quiet(getattr(keras.Model, name)))


class _ShortLoops(ast.NodeTransformer):
    """Cuts `for` loops, which say no more after some rounds. AutoGraph reads the file, where they are whole."""

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        cut = ast.Name(CUT, ast.Load())
        node.iter = ast.copy_location(ast.Call(ast.copy_location(cut, node.iter), [node.iter], []), node.iter)
        return node


def _cut(items: Any) -> Any:
    return islice(items, ROUNDS)


def _child(source: str, folder: Path, traced: bool) -> None:
    answer: Observed
    try:
        answer = _observed(source, folder, traced)
    except BaseException as error:
        answer = {"died": _error(error)}
    folder.with_suffix(".json").write_text(json.dumps(answer))
    os._exit(0)


def _observed(source: str, folder: Path, traced: bool) -> Observed:
    """Run the program in a folder of its own, and describe what is left."""
    import keras

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS_OF_ONE, SECONDS_OF_ONE))
    os.chdir(folder)
    make_up_files(source, folder)
    Path("program.py").write_text(source)  # where AutoGraph looks for the source of functions
    path = os.path.abspath("program.py")
    lines: set[int] = set()
    raised: set[int] = set()

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        if frame.f_code.co_filename != path:
            return None
        lines.add(frame.f_lineno)
        return trace

    waiting: set[int] = set()

    def too_long(*_: Any) -> None:
        if waiting:  # one of both signals is enough
            waiting.clear()
            raise _TooLongError

    def timed(seconds: int) -> None:
        """Count the processor's time, which a busy machine does not shorten, and the clock's for what only waits."""
        waiting.clear()
        waiting.update({seconds} if seconds else ())
        signal.setitimer(signal.ITIMER_PROF, seconds)
        signal.alarm(20 * seconds)
        if seconds:  # what waits outside of Python hears no signal
            faulthandler.dump_traceback_later(60 * seconds, exit=True)
        else:
            faulthandler.cancel_dump_traceback_later()

    signal.signal(signal.SIGALRM, too_long)
    signal.signal(signal.SIGPROF, too_long)
    module = ModuleType("__main__")
    vars(module).update({**dict.fromkeys(MEASURING, _nothing), CUT: _cut})
    sys.modules["__main__"] = module
    sys.argv = [path]
    scope = vars(module)
    tree, short = ast.parse(source), _ShortLoops()
    errors: list[str] = []
    unfinished: set[str] = set()
    printed: list[str] = []
    for statement in tree.body:
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__":
            continue
        code = compile(ast.Module([short.visit(statement)], []), path, "exec", dont_inherit=True)
        output = io.StringIO()
        random.seed(0)
        keras.utils.set_random_seed(0)
        timed(SECONDS_OF_STATEMENT)
        try:
            with contextlib.redirect_stdout(output):
                sys.settrace(trace if traced else None)
                exec(code, scope)
        except _TooLongError:
            unfinished.update(node.id for node in ast.walk(statement) if isinstance(node, ast.Name))
        except BaseException as error:
            errors.append(_error(error))
            raised.update(line for frame, line in walk_tb(error.__traceback__) if frame.f_code.co_filename == path)
        finally:
            sys.settrace(None)
            timed(0)
        printed.append(output.getvalue()[:2000])
    names = {}
    for name, value in sorted(scope.items()):
        if not name.startswith(("__", "tfmemlint_")):
            timed(SECONDS_OF_STATEMENT)
            try:
                names[name] = describe(value)
            except BaseException as error:
                names[name] = [_error(error)]
            finally:
                timed(0)
    return {
        "errors": errors,
        "printed": "".join(printed),
        "names": names,
        "unfinished": sorted(unfinished),
        "lines": sorted(lines - raised),
        "seconds": time.process_time(),
    }


def main(folder: str) -> None:
    import keras
    import tensorflow as tf

    assert keras.__version__ and tf.__version__
    make_up_libraries()
    _short_training()
    gc.freeze()  # the collector of a child need not look at what is imported
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a child writes past Python is no answer
    for line in sys.stdin:
        path = Path(folder, f"{line.strip()}.json")
        answers = _runs(path.with_suffix(""), **json.loads(path.read_text()))
        path.with_suffix(".observed.json").write_text(json.dumps(answers))
        print(line.strip(), file=told, flush=True)


def _runs(folder: Path, programs: list[str], traced: bool) -> list[Observed]:
    answers: list[Observed] = [{} for _ in programs]
    killed: list[int] = []
    running: dict[int, int] = {}

    def start(index: int) -> None:
        (folder / str(index)).mkdir(parents=True)
        child = os.fork()  # harmless: nothing has started the runtime in this process
        if child == 0:
            _child(programs[index], folder / str(index), traced)
        running[child] = index

    def take() -> None:
        """Wait for one of the children, and take what it has written down."""
        child, status = os.wait()
        index = running.pop(child)
        written = folder / f"{index}.json"
        if written.exists():
            answers[index] = json.loads(written.read_text())
        else:
            answers[index] = {"died": f"killed: {os.waitstatus_to_exitcode(status)}"}
            killed.append(index)
        shutil.rmtree(folder / str(index), ignore_errors=True)

    for index in range(len(programs)):
        start(index)
        if len(running) == AT_ONCE:
            take()
    while running:
        take()
    for index in list(killed):  # by the memory or time that others took, or by what it does itself
        start(index)
        take()
    return answers


if __name__ == "__main__":
    main(*sys.argv[1:])
