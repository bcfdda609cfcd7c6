"""Whether one checkout lints slower than another: the same files, in turns, each against parsing alone.

    python -m benchmarks compare BEFORE AFTER PATHS --sample 200

BEFORE and AFTER are checkouts with a `.venv` of their own, as `make` makes it. Each is one process, and only one of
them works at a time. In a round each file is parsed with `libcst.parse_module` and linted with the default rules by
both, the one that starts changing from file to file and from round to round. The fastest round of each counts, in CPU
seconds of the process. A checkout's figure is how many times as long as parsing its linting takes; the result is how
much larger AFTER's figure is than BEFORE's. Parsing is the same code in both, so that what else the machine does at the
time mostly cancels out; the figure of each round shows how far it does not.

The exit code is 1 when AFTER is slower by more than `--at-most` per cent.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.corpora import python_files, sampled

WORKER = Path(__file__).with_name("compare_worker.py")


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print; 0, or 1 if the second checkout is slower than `--at-most` allows."""
    options = arguments(words)
    checkouts = [Checkout(options.before), Checkout(options.after)]
    paths = sampled([path.resolve() for path in python_files(options.paths)], options.sample)
    programs = [path for path in paths if all(list(map(Checkout.ask, checkouts, (path, path))))]  # both get warm
    if not programs:
        sys.exit("no file that uses TensorFlow in these paths")
    for number in range(options.rounds):
        for each in checkouts:
            each.rounds.append({})
        for index, path in enumerate(programs):
            for each in checkouts if (number + index) % 2 == 0 else reversed(checkouts):
                each.measure(path)
    print(f"{len(programs)} files that use TensorFlow, {options.rounds} rounds")
    for name, each in zip(("before", "after"), checkouts, strict=True):
        parse, lint = each.seconds()
        print(f"{name:6}  parse {parse:7.2f} s  lint {lint:7.2f} s  {lint / parse:6.3f} times as long  {each.root}")
    change, *of_rounds = [
        100 * (checkouts[1].times(chosen) / checkouts[0].times(chosen) - 1)
        for chosen in (range(options.rounds), *([number] for number in range(options.rounds)))
    ]
    print(f"change  {change:+.1f} %   (in single rounds {', '.join(f'{each:+.1f}' for each in of_rounds)})")
    return 1 if change > options.at_most else 0


def arguments(words: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--rounds", type=int, default=5, help="how often each file is read (default: 5)")
    parser.add_argument("--sample", type=int, default=0, metavar="N", help="read N files, spread evenly over the paths")
    parser.add_argument("--at-most", type=float, default=5.0, metavar="PERCENT", help="fail above (default: 5)")
    return parser.parse_args(words)


@dataclass
class Checkout:
    """A process that lints with the code of one checkout, and what it has measured."""

    root: Path
    rounds: list[dict[Path, tuple[float, float]]] = field(default_factory=list)
    """For each round the CPU seconds of parsing and of linting each file."""

    def __post_init__(self) -> None:
        folder, name = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
        python = self.root.absolute() / ".venv" / folder / name
        if not python.exists():
            sys.exit(f"{python} does not exist; `make run` in the checkout makes it")
        # -P: nothing is imported from this folder or from the working directory in place of the checkout.
        command = [str(python), "-P", str(WORKER)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        used = Path(self._answer()).resolve()
        if used.parent != self.root.resolve():
            sys.exit(f"{python} runs {used}, which is another checkout")

    def ask(self, path: Path) -> tuple[float, float] | None:
        """CPU seconds of parsing and of linting one file; None where it does not use TensorFlow or does not parse."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(str(path)) + "\n")
        self._process.stdin.flush()
        answer = self._answer()
        return None if answer is None else (answer[0], answer[1])

    def measure(self, path: Path) -> None:
        """Add the figures of a file to the present round."""
        self.rounds[-1][path] = self.ask(path) or sys.exit(f"{path} has changed")

    def _answer(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            sys.exit(f"the process of {self.root} ended")
        return json.loads(line)

    def seconds(self, rounds: Sequence[int] | None = None) -> tuple[float, float]:
        """CPU seconds of parsing and of linting all files, the fastest of these rounds (None: of all) for each file."""
        chosen = self.rounds if rounds is None else [self.rounds[number] for number in rounds]
        parse, lint = (sum(min(each[path][part] for each in chosen) for path in chosen[0]) for part in (0, 1))
        return parse, lint

    def times(self, rounds: Sequence[int]) -> float:
        """How many times as long as parsing linting takes."""
        parse, lint = self.seconds(rounds)
        return lint / parse


if __name__ == "__main__":
    sys.exit(main())
