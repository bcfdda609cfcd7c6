"""Constants through arithmetic, text, containers and arguments of the command line."""

import pytest
from programs import shown_in

NUMBERS = [
    ("2 + 3 * 4", "14"), ("7 // 2", "3"), ("7 % 4", "3"), ("7 / 2", "3.5"), ("2 ** 10", "1024"), ("-3", "-3"),
    ("1 << 4", "16"), ("6 & 3", "2"), ("1_000", "1000"), ("1e3", "1000.0"), ("0x10", "16"), ("not 0", "True"),
    ("9 ** 9 ** 9", "?"), ("1 / 0", "?"), ("10 ** 30", "?"), ("'a' * 3", "?"), ("x + 1", "?"),
    ("int(7.9)", "7"), ("float('2.5')", "2.5"), ("int('8')", "8"), ("int('x')", "?"), ("round(2.4)", "2"),
    ("abs(-3)", "3"), ("min(3, 2)", "2"), ("max([3, 5])", "5"), ("sum([1, 2, 3])", "6"), ("len('abc')", "len 3"),
    ("len([1, 2])", "len 2"), ("len({'a': 1})", "len 1"), ("len(unknown)", "len ?"),
    ("len([1, 2]) * 2", "4"), ("math.pi", "3.141592653589793"), ("np.pi * 2", "6.283185307179586"),
    ("math.ceil(7 / 2)", "4"), ("math.floor(3.5)", "3"), ("int(np.ceil(7 / 2))", "4"), ("math.sqrt(16)", "4.0"),
    ("math.prod([2, 3])", "6"), ("int(np.prod((2, 3)))", "6"), ("2 == 2", "?"),
    ("pow(2, 3)", "8"),
]  # fmt: skip

TEXT = [
    ("'a' + 'b'", "'ab'"), ("'a' 'b'", "'ab'"), ("f'a{3}b'", "'a3b'"), ("n = 4\nf'{n}x{n}'", "'4x4'"),
    ("f'{{}}'", "'{}'"), ("f'{n:03d}'", "?"), ("f'{unknown}'", "?"), ("f'{1!r}'", "?"), ("r'\\d'", "'\\\\d'"),
    ("b'a'", "b'a'"), ("str(3)", "'3'"), ("'a'.upper()", "?"), ("'%d' % 3", "?"),
]  # fmt: skip

CONTAINERS = [
    ("(1, 2)[1]", "2"), ("[1, 2][-1]", "2"), ("[1, 2, 3][1:]", "[2, 3]"), ("(1, 2) + (3,)", "(1, 2, 3)"),
    ("(1, 2)[i]", "1 | 2"), ("(1, 2)[5]", "1 | 2"), ("[0] * 3", "[0, 0, 0]"), ("(None,) * 2", "(None, None)"),
    ("(*(1, 2), 3)", "(1, 2, 3)"), ("[*range(2), 3]", "[0, 1, 3]"), ("[*unknown, 3]", "[...]"),
    ("{'a': 1, **{'b': 2}}", "{a: 1, b: 2}"), ("{'a': 1, **unknown}['a']", "?"),
    ("{'a': 1} | {'b': 2}", "{a: 1, b: 2}"), ("d = {'a': 1}\nd |= {'a': 3}\nd['a']", "3"),
    ("import os\nos.environ |= {'A': '1'}\nos.environ", "os.environ"),
    ("import tensorflow as tf\nfor d in tf.config.list_physical_devices('GPU'):\n    probe(d.device_type)", "'GPU'"),
    ("{'a': 1}['a']", "1"), ("{'a': 1}['b']", "?"), ("{'a': 1}.get('a')", "1"),
    ("dict(a=1, b=2)['b']", "2"),
    ("list((1, 2))", "[1, 2]"),
    ("tuple([1, 2])", "(1, 2)"),
    ("list(range(3))", "[0, 1, 2]"),
    ("d = {'a': 1}\nd[k] = 2\nlen(d)", "len ?"), ("d = {'a': 1}\nd.update(more)\nlen(d)", "len ?"),
    ("d = {'a': 1}\nlen(d)", "len 1"), ("d = {}\nd['k'] = 3\nd['k']", "3"), ("d = {'k': 1}\nd['k'] = 3\nd['k']", "3"),
    ("a = []\na.append(1)\na[0]", "?"), ("a = [1]\na.append(2)\nlen(a)", "len ?"), ("a = [1]\na[0] = 5\na[0]", "5"),
    ("next(iter([4]))", "4"), ("a, (b, c) = 1, (2, 3)\nc", "3"), ("sorted((2, 1))", "sorted of 1 | 2"),
    ("list({'a': 1}.values())[0]", "1"), ("for k, v in {'a': 1, 'b': 2}.items():\n    probe(v)", "1 | 2"),
]  # fmt: skip

ARGUMENTS = [
    ("parser.add_argument('--size', type=int, default=64)\nargs = parser.parse_args()\nargs.size", "64"),
    ("parser.add_argument('-b', '--batch-size', default=64)\nargs = parser.parse_args()\nargs.batch_size", "64"),
    ("parser.add_argument('--size', type=int)\nargs = parser.parse_args()\nargs.size", "?"),
    ("parser.add_argument('--flag', action='store_true')\nargs = parser.parse_args()\nargs.flag", "?"),
    ("parser.add_argument('--size', default=4)\nargs, rest = parser.parse_known_args()\nargs.size", "4"),
    ("parser.add_argument('--size', dest='n', default=4)\nargs = parser.parse_args()\nargs.n", "4"),
    ("from absl import flags\nflags.DEFINE_integer('size', 8, 'h')\nFLAGS = flags.FLAGS\nFLAGS.size", "8"),
    ("flags = tf.compat.v1.flags\nflags.DEFINE_integer('size', default=8, help='h')\nflags.FLAGS.size", "8"),
]

RECORDS = [
    ("from types import SimpleNamespace\nc = SimpleNamespace(n=4)\nc.n", "4"),
    ("c = argparse.Namespace(n=4)\ndef f(c):\n    probe(c.n)\nf(c)", "4"),
    ("def f(c=argparse.Namespace(n=4)):\n    probe(c.n)", "4"),
    ("c = argparse.Namespace(n=4)\nc.n = 5\nc.n", "5"),
    ("c = argparse.Namespace(n=4)\ndef f(c):\n    probe(c.n)\nc.n = 5\nf(c)", "?"),
    ("c = argparse.Namespace(n=4)\nc.m", "?"),
    ("c = argparse.Namespace(**given)\nc.n", "?"),
    ("from collections import namedtuple\nC = namedtuple('C', 'm, n')\nC(3, 4).n", "4"),
    ("from collections import namedtuple\nC = namedtuple('C', ['m', 'n'])\nC(3, n=4).n", "4"),
    ("from collections import namedtuple\nC = namedtuple('C', 'm n')\nC(3).n", "?"),
    ("parser.add_argument('--n', default=4)\ndef f(args):\n    probe(args.n)\nargs = parser.parse_args()\nargs.n = 5\n"
     "f(args)", "?"),
]  # fmt: skip

PARSER = "import argparse\nparser = argparse.ArgumentParser()\n"


@pytest.mark.parametrize(("program", "expected"), [*NUMBERS, *TEXT, *CONTAINERS])
def test_constants(program: str, expected: str) -> None:
    assert shown_in(program) == expected


@pytest.mark.parametrize(("program", "expected"), [*ARGUMENTS, *RECORDS])
def test_defaults_of_the_command_line_and_records(program: str, expected: str) -> None:
    assert shown_in(PARSER + program) == expected
