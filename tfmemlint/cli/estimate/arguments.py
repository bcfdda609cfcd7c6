"""The arguments of `tfmemlint estimate`."""

from __future__ import annotations

import argparse
import ast
import difflib
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfmemlint.cli.arguments import Parser
from tfmemlint.cli.usage import UsageError
from tfmemlint.report.estimates import FORMATS
from tfmemlint.units import Size, parse_size

if TYPE_CHECKING:
    from tfmemlint.estimate.step import Optimizer

_DESCRIPTION = """Say how many bytes of GPU memory one training step or one batch of `predict` takes, before it runs.

Scripts, notebooks and Markdown are read, never run or imported, and no TensorFlow is needed. What the code does not say
is named with the option that supplies it; the answer is then a lower bound, or that for each example."""

_MEASURE = """Run the step and print what it takes beside the estimate. This executes code of the files that you name:
without network, with files read-only and under limits where bubblewrap or unshare work here."""

_EXIT = """exit codes:
  0  all steps were estimated
  1  a step does not fit: even the least that it takes is over --gpu-memory or --gpu, or gpu-memory of the configuration
  2  wrong usage or configuration, or input that cannot be read or parsed
"""

TIMEOUT = 180
"""Seconds that a program may take, where the command line does not say."""
_LARGEST_BATCH = 1 << 31
_OPTIMIZER = re.compile(r"(?P<name>\w+)(?:\((?P<arguments>[^()]*)\))?")
_ARGUMENT = re.compile(r"\s*(?P<name>[a-z_]+)\s*=\s*(?P<value>[\w.+-]+)\s*")
PRECISIONS = ("float32", "mixed_float16", "mixed_bfloat16", "float16", "bfloat16")


def parse(words: Sequence[str]) -> argparse.Namespace:
    """Read the arguments. Raises UsageError for wrong ones."""
    options = estimate_parser().parse_args(list(words))
    options.paths = options.paths or ["."]
    if options.predict and options.mode == "eager":
        raise UsageError("--predict and --eager cannot be used together; `predict` runs a graph")
    for option in ("python", "timeout"):
        if getattr(options, option) is not None and not options.measure:
            raise UsageError(f"--{option} says how to run the step; give --measure, too")
    return options


def estimate_parser() -> argparse.ArgumentParser:
    """The parser of `estimate`."""
    parser = Parser(
        "tfmemlint estimate",
        usage="tfmemlint estimate [OPTION ...] [PATH ...]",
        description=_DESCRIPTION,
        epilog=_EXIT,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="*", metavar="PATH", help="files and directories (default: .)")
    _add_facts(parser.add_argument_group("what the code does not say"))
    _add_choice(parser.add_argument_group("which steps, and how they run"))
    _add_budget(parser.add_argument_group("what it must fit into"))
    _add_measure(parser.add_argument_group("what it is in truth", _MEASURE))
    _add_output(parser.add_argument_group("output"))
    return parser


def _add_facts(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--batch", type=_batches, default=(), metavar="N[,N...]",
        help="examples of one batch, in place of the code's; one answer for each",
    )  # fmt: skip
    group.add_argument(
        "--input", type=_shape, metavar="[BATCHx]N,N,...",
        help="the shape of one example, as 224,224,3; of a batch of 32, for which the code has no size: 32x224,224,3",
    )  # fmt: skip
    group.add_argument(
        "--optimizer", type=_optimizer, metavar="NAME", help="a class of Keras: adam, 'SGD(momentum=0.9)'"
    )
    group.add_argument(
        "--set", type=_fact, action="append", default=[], dest="facts", metavar="NAME=VALUE",
        help="what an expression of the code is: num_classes=10, 'len(vocab)=20000', 'x.shape=(None, 9)'; repeatable",
    )  # fmt: skip
    group.add_argument("--precision", choices=PRECISIONS, metavar="POLICY", help=", ".join(PRECISIONS))


def _add_choice(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--function", metavar="NAME", help="the steps of this function only")
    group.add_argument("--model", metavar="NAME", help="the steps of the model with this name only")
    group.add_argument("--predict", action="store_true", help="take each step for a batch of `predict`: no gradients")
    mode = group.add_mutually_exclusive_group()
    mode.add_argument("--eager", dest="mode", action="store_const", const="eager", help="as if run eagerly")
    mode.add_argument("--jit", dest="mode", action="store_const", const="jit", help="as if compiled by XLA")


def _add_budget(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--gpu-memory", type=_size, metavar="SIZE", help="the memory of the card or slice, as 16GiB")
    group.add_argument("--gpu", metavar="NAME", help="the card: T4, L4, A100, ...; with --gpu-memory a slice of one")
    group.add_argument("--isolated", action="store_true", help="ignore all configuration files")


def _add_measure(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--measure", action="store_true", help="run each step and measure it, on the CPU")
    group.add_argument("--python", metavar="FILE", help="the interpreter that has TensorFlow")
    group.add_argument(
        "--timeout", type=_seconds, metavar="SECONDS", help=f"kill a program after this time (default: {TIMEOUT})"
    )


def _add_output(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--output-format", choices=FORMATS, default="text", metavar="FORMAT", help=", ".join(FORMATS))
    group.add_argument("-o", "--output-file", metavar="FILE", help="write the report to a file")
    group.add_argument("--per-layer", action="store_true", help="list all layers (JSON and HTML always do)")
    group.add_argument(
        "--what-if", action=argparse.BooleanOptionalAction, default=True, help="say what changes would save (default)"
    )
    group.add_argument("--compare", metavar="REF", help="say how the peak has changed since a git revision")


def _size(text: str) -> Size:
    try:
        return parse_size(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _seconds(text: str) -> int:
    if not text.isdecimal() or not 0 < int(text) < _LARGEST_BATCH:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds over 0")
    return int(text)


def _batches(text: str) -> tuple[int, ...]:
    sizes = _whole_numbers(text)
    if not sizes:
        raise argparse.ArgumentTypeError(f"{text!r} is not a batch size, or some parted by commas")
    return tuple(dict.fromkeys(sizes))


def _shape(text: str) -> tuple[int | None, tuple[int, ...]]:
    """The number of examples, where it is said, and the shape of one."""
    what = "the shape of one example; write its sizes with commas, as 224,224,3, or 32x224,224,3 for a batch of 32"
    batch, by, sizes = text.partition("x")
    rows = _whole_numbers(batch) if by else []
    shape = _whole_numbers(sizes if by else text)
    if not shape or (by and len(rows) != 1):
        raise argparse.ArgumentTypeError(f"{text!r} is not {what}")
    return (rows[0] if rows else None), tuple(shape)


def _whole_numbers(text: str) -> list[int]:
    """Sizes with commas between them; none where one of them is no size."""
    words = [word.strip() for word in text.strip().removeprefix("(").removesuffix(")").split(",") if word.strip()]
    sizes = [int(word) for word in words if re.fullmatch(r"[0-9]{1,10}", word) and 0 < int(word) < _LARGEST_BATCH]
    return sizes if len(sizes) == len(words) else []


def _fact(text: str) -> tuple[str, Any]:
    """An expression, as Python prints it, and the value that it has: what stands before and behind the first `=` that
    parts an expression from a literal."""
    from tfmemlint.estimate.facts.origins import canonical, is_readable

    begun = None
    for at, letter in enumerate(text):
        if letter != "=":
            continue
        try:
            name = canonical(text[:at].strip())
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if not is_readable(name):
            continue
        begun = begun or (name, text[at + 1 :].strip())
        try:
            return name, ast.literal_eval(text[at + 1 :].strip())
        except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
            continue
    if begun is not None:
        raise argparse.ArgumentTypeError(
            f"{begun[1]!r} is no value of Python's, as 10, (28, 28) or 'adam' (a text needs quotes of its own)"
        )
    raise argparse.ArgumentTypeError(f"{text!r} is no NAME=VALUE, as num_classes=10 or 'len(vocab)=20000'")


def _optimizer(text: str) -> Optimizer:
    """An optimizer of Keras, with what it is made with as the code has it: `SGD(momentum=0.9)`."""
    from tfmemlint.estimate.step import Optimizer
    from tfmemlint.knowledge.tables import table

    known = {name.removesuffix(" keras2").rpartition(".")[2] for name in table("slots")}
    found = _OPTIMIZER.fullmatch(text.strip())
    by_name = {name.lower(): name for name in known}
    name = by_name.get(found["name"].lower()) if found else None
    if found is None or name is None:
        hint = suggestion(text.partition("(")[0], sorted(known))
        raise argparse.ArgumentTypeError(f"{text!r} is no optimizer of Keras; {hint}")
    arguments = {}
    for each in filter(str.strip, (found["arguments"] or "").split(",")):
        argument = _ARGUMENT.fullmatch(each)
        value = _value(argument["value"]) if argument else None
        if argument is None or value is None:
            raise argparse.ArgumentTypeError(f"{each.strip()!r} of {text!r} is no NAME=NUMBER, as in SGD(momentum=0.9)")
        arguments[argument["name"]] = value
    return Optimizer(name, arguments)


def _value(text: str) -> float | bool | None:
    if text in ("True", "False"):
        return text == "True"
    try:
        return int(text) if text.isdecimal() else float(text)
    except ValueError:
        return None


def suggestion(word: str, known: Sequence[str]) -> str:
    """What somebody who wrote a word may have meant: `did you mean A100?`, or all that there is."""
    by_name = {name.lower(): name for name in known}
    near = difflib.get_close_matches(word.strip().lower(), by_name, 1, 0.5)
    return f"did you mean {by_name[near[0]]}?" if near else f"known are {', '.join(known)}"
