"""Runs programs under the child, each in a contained process of its own, and returns what they cost."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from tfmemlint.verify.run import sandbox
from tfmemlint.verify.run.first_region import first_region
from tfmemlint.verify.run.interpreters import MeasureError, interpreter
from tfmemlint.verify.run.project_folder import PROJECT, lay_out, link_entries, started_in
from tfmemlint.verify.run.runs import Bounds, Failure, Line, Run, read_result
from tfmemlint.verify.run.sandbox import Level
from tfmemlint.verify.run.server import Server, can_serve
from tfmemlint.verify.run.spared import spared
from tfmemlint.verify.run.variants import EACH_MARK, USUAL, Variant
from tfmemlint.verify.run.watch import Limits, Outcome
from tfmemlint.verify.run.workspaces import workspace

if TYPE_CHECKING:
    from tfmemlint.verify.run.kept import Kept
    from tfmemlint.verify.run.side_by_side import Beside

__all__ = ["Failure", "Line", "Run"]

CHILD = Path(__file__).parents[1] / "child" / "main.py"
FAILURES_ENOUGH = 2
WALL_TO_WORK = 18
"""Of the seconds that a program may take, one in so many may be its own processor time: others use processors, too."""

RESERVED = ("program.py", "request.json", PROJECT, "__pycache__")


@dataclass(frozen=True)
class Step:
    """One training step of a program to measure: the line of its call or loop, the batch to take in place of the
    program's, the mode ("graph", "eager", "jit"; None for the program's own), and whether `predict` is meant."""

    line: int
    batch: int | None = None
    mode: str | None = None
    predict: bool = False


@dataclass(frozen=True)
class Program:
    """One complete Python program. `simulated_gpus` graphics cards exist for TensorFlow's own checks of settings."""

    source: str
    simulated_gpus: int = 0
    path: tuple[str, ...] = ()
    """Folders put in front of `sys.path`."""
    folder: str | None = None
    """The folder whose entries the program shall find, read-only, in its working folder."""
    package: str = ""
    """The package that the program's relative imports start from."""
    substitute: bool = False
    """Whether data is made up and training cut short."""
    root: str = ""
    """The folder of the project that `modules` belong to."""
    version_1: bool = False
    """Whether it is written for TensorFlow 1."""
    raised: bool = False
    """Whether the exceptions count that it catches."""
    keras_2: bool = False
    """Whether it is written for Keras 2."""
    file: str = ""
    """The file that it is made of."""
    shapes: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...] = ()
    """Pairs of the sizes that arrays are made up with behind their first axis, and those that fit in their place."""
    rows: tuple[tuple[int, int], ...] = ()
    """Pairs of the numbers of rows that data is made up with, and those that fit in their place."""
    columns: tuple[str, ...] = ()
    """Columns that tables have which are made up, beside those that the code names."""
    present: bool = False
    many: bool = False
    """Whether files and folders are there that it looks for before it reads them; whether folders have many files."""
    modules: tuple[tuple[str, str], ...] = ()
    """The modules of the project that lie in the place of its own: paths from its folder, with texts."""
    collects: bool = False
    """Whether Python's collector runs before each mark, so that no garbage counts as growth."""
    step: Step | None = None
    """The training step that is measured, after which the program ends."""

    @property
    def listing(self) -> str:
        """The program for a reader, its modules below it."""
        parts = [self.source, *(f"# {'-' * 10} {path} {'-' * 10}\n{text}" for path, text in self.modules)]
        return "\n".join(f"{part.rstrip()}\n" for part in parts)


@dataclass(frozen=True)
class Settings:
    """How programs are run. `allocator_limit` is the memory in bytes of the card to imitate, None for no limit."""

    python: str = sys.executable
    device: str = "auto"
    repeat: int = 3
    allocator_limit: int | None = None
    limits: Limits = field(default_factory=Limits)
    level: Level | None = None
    interval: float = 0.005
    timed: bool = False
    """Whether seconds are compared, which a program takes as it likes, and not bytes, the same in each run."""
    variant: Variant = USUAL
    server: Server | None = None
    """What runs the programs that need no fresh process (see `preloaded`)."""
    lane: int = 0
    """Which of the places side by side is meant, each with its own processor."""
    beside: Beside | None = None
    """What runs a second program at the same time."""
    kept: Kept | None = None
    """The runs of unchanged programs, which are not run again."""


def _bounds(settings: Settings, outcome: Outcome) -> Bounds:
    """What a process that ended so can have cost at most; the memory of a graphics card is not known here."""
    tensors = settings.limits.addresses if settings.device == "cpu" or not sandbox.has_cards() else Bounds.tensors
    return Bounds(outcome.seconds, tensors, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def believed(source: Path | int, settings: Settings, outcome: Outcome, key: str = "") -> Run:
    """The run that the child reported, or what its outcome tells where there is no report that can be believed."""
    if outcome.ended != "exit":
        return Run(outcome.ended, outcome.reason, seconds=outcome.seconds, output=outcome.output)
    run = read_result(source, _bounds(settings, outcome), key)
    if run.status == "ok" and outcome.code:
        run = Run("crash")
    if run.status == "crash":
        return Run("crash", outcome.reason or run.reason, seconds=outcome.seconds, output=outcome.output)
    return msgspec.structs.replace(run, output=outcome.output)


def _variables(settings: Settings) -> dict[str, str]:
    # `arrays.py` places the arrays of the program's own thread. In the others, as those of a pipeline's generator,
    # a threshold that stays makes malloc map each large array 16 bytes past a page, where TensorFlow copies it too.
    extra = {"TF_CPU_ALLOCATOR_USE_BFC": "1", "MALLOC_MMAP_THRESHOLD_": "65536"}
    extra["PYTHONHASHSEED"] = str(settings.variant.hash_seed)
    if settings.device == "cpu":
        extra["CUDA_VISIBLE_DEVICES"] = "-1"
    if settings.allocator_limit is not None:
        extra["TF_CPU_BFC_MEM_LIMIT_IN_MB"] = str(max(1, settings.allocator_limit // 1024**2))
    return extra


@contextlib.contextmanager
def preloaded(settings: Settings) -> Iterator[Settings]:
    """The settings with a process that has imported TensorFlow once for all programs, where this system keeps them
    apart all the same; without a graphics card, whose driver a copy of a process cannot use."""
    level = settings.level or sandbox.strongest_level()
    if not can_serve(level) or (settings.device != "cpu" and sandbox.has_cards()):
        yield settings
        return
    server = Server(
        interpreter(settings.python),
        _shared(settings),
        limits=settings.limits,
        extra=_variables(settings),
        level=level,
        needed=[str(CHILD), *sandbox.folders("PYTHONPATH")],
        lane=settings.lane,
    )
    with server:
        yield replace(settings, server=server)


def _shared(settings: Settings) -> dict[str, Any]:
    """The part of a request that is the same for all programs."""
    libraries = sandbox.folders("PYTHONPATH")
    return {"libraries": libraries, "device": settings.device, "reserve": first_region(settings)}


def _request(program: Program, settings: Settings, work: str, key: str) -> dict[str, Any]:
    return {
        **_shared(settings),
        "program": os.path.join(work, "program.py"),
        "source": program.source,
        "modules": [text for _, text in program.modules],
        "path": lay_out(program.root, program.modules, _folders(program), work),
        "key": key,
        "simulated_gpus": program.simulated_gpus,
        "substitute": program.substitute,
        "package": program.package,
        "beside": started_in(program.folder, program.root),
        "version_1": program.version_1,
        "keras_2": program.keras_2,
        "shapes": program.shapes,
        "rows": program.rows,
        "columns": program.columns,
        "present": program.present,
        "many": program.many,
        "raised": program.raised,
        "patient": 0.0 if program.step else settings.limits.wall / 3,
        "work": settings.limits.wall / WALL_TO_WORK,
        "step": {**asdict(program.step), "seconds": settings.limits.wall / 3} if program.step else None,
        "interval": settings.interval,
        "paced": not settings.timed,
        "collector": settings.variant.collector or (EACH_MARK if program.collects else ""),
    }


def _folders(program: Program) -> list[str]:
    return [os.path.abspath(folder) for folder in program.path]


def _read_by(program: Program) -> list[str]:
    """The folders that the program may read."""
    return [*_folders(program), *filter(None, [program.folder, program.root])]


def run_once(program: Program, settings: Settings, tick: Callable[[], None] | None = None) -> Run:
    """Run the program in a contained process; `tick` is called a few times a second. Raises MeasureError where the
    interpreter cannot be started."""
    server = settings.server
    if server is None or settings.timed or any(map(sandbox.is_hidden, _read_by(program))):
        return _run_fresh(program, settings, tick)
    if not server.prepare(spared(program.source, program.modules)):
        return _run_fresh(program, settings, tick)
    key = secrets.token_hex(16)
    with tempfile.TemporaryFile() as result:
        if program.folder is not None:
            link_entries(program.folder, server.folder, RESERVED)
        request = _request(program, settings, server.folder, key)
        outcome = server.run(request, result.fileno(), tick, settings.limits)
        return believed(result.fileno(), settings, outcome, key)


def _run_fresh(program: Program, settings: Settings, tick: Callable[[], None] | None) -> Run:
    python, key = interpreter(settings.python), secrets.token_hex(16)
    with workspace() as work, tempfile.TemporaryFile() as result:
        request = {**_request(program, settings, work, key), "result": result.fileno()}
        if program.folder is not None:
            link_entries(program.folder, work, RESERVED)
        where = Path(work, "request.json")
        where.write_text(json.dumps(request), encoding="utf-8")
        try:
            outcome = sandbox.run(
                [python, "-B", str(CHILD), str(where)],
                work=work,
                limits=settings.limits,
                extra=_variables(settings),
                level=settings.level,
                gpu=settings.device != "cpu" and sandbox.has_cards(),
                repeatable=settings.device != "gpu" and not settings.timed,
                needed=[str(CHILD), *request["libraries"], *_read_by(program)],
                keep_open=[result.fileno()],
                lane=settings.lane,
                tick=tick,
            )
        except OSError as error:
            raise MeasureError(f"cannot start {python}: {error.strerror}") from error
        return believed(result.fileno(), settings, outcome, key)


def measure(
    program: Program,
    settings: Settings,
    done: Callable[[], None] | None = None,
    tick: Callable[[], None] | None = None,
) -> tuple[Run, ...]:
    """`settings.repeat` runs of the program; fewer where it raises what it would raise again, or fails each time.
    `done` is called after each, `tick` a few times a second."""
    name = settings.kept.name(program, settings) if settings.kept is not None else None
    if settings.kept is not None and name is not None and (known := settings.kept.get(name)) is not None:
        if done:
            for _ in known:
                done()
        return known
    runs: list[Run] = []
    while len(runs) < settings.repeat:
        runs.append(run_once(program, settings, tick))
        if done:
            done()
        raised = runs[-1].status == "error" and not runs[-1].out_of_memory
        if raised or (len(runs) >= FAILURES_ENOUGH and all(run.status != "ok" for run in runs)):
            break
    if settings.kept is not None and name is not None:
        settings.kept.put(name, tuple(runs))
    return tuple(runs)
