"""Which environment variables programs set, and to what."""

import pytest
from programs import model_of, shown

from tfmemlint.model.file import File
from tfmemlint.query.runtime.environment import Setting, given_to_children, mentions_variable, settings

HEADER = "import os\nfrom os import environ\nimport copy\n"


def told(file: File, found: list[Setting]) -> list[str]:
    """Name, value and code of each setting."""
    texts = [file.text(each.expression) if each.expression is not None else "elsewhere" for each in found]
    return [f"{each.variable} = {shown(each.value)} ({text})" for each, text in zip(found, texts, strict=True)]


OWN = [
    ("os.environ['A'] = '1'", ["A = '1' ('1')"]),
    ("environ['A'] = x", ["A = ? (x)"]),
    ("name = 'A'\nos.environ[name] = '1'", ["A = '1' ('1')"]),
    ("os.environ[name] = '1'", []),
    ("other['A'] = '1'", []),
    ("os.putenv('A', '1')", ["A = '1' ('1')"]),
    ("os.environ.setdefault('A', '1')", ["A = '1' ('1')"]),
    ("os.environ.update({'A': '1'}, C='3')", ["A = '1' ('1')", "C = '3' ('3')"]),
    ("d = {'A': '1'}\nos.environ.update(d)", ["A = '1' (elsewhere)"]),
    ("os.environ |= {'A': '1'}", ["A = '1' ('1')"]),
    ("for k, v in [('A', '1'), ('B', 2)]:\n    os.environ[k] = str(v)", ["A = '1' (str(v))", "B = '2' (str(v))"]),
    ("for k, v in [('A', '1'), ('B', 2)]:\n    os.environ[k] = other", []),
    ("os.getenv('A')\nos.environ.get('A')\nprint(os.environ['A'])", []),
    ("os.environ['B'] = '1'\nos.putenv('A', '1')\nos.environ['C'] = '1'", ["B = '1' ('1')", "A = '1' ('1')",
                                                                          "C = '1' ('1')"]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), OWN)
def test_settings_of_the_program_itself(program: str, expected: list[str]) -> None:
    file = model_of(program, HEADER)
    assert told(file, settings.of(file)) == expected


CHILDREN = [
    ("run(env={**os.environ, 'A': '1'})", ["A = '1' ('1')"]),
    ("run(env=dict(os.environ, A='1'))", ["A = '1' ('1')"]),
    ("env = os.environ.copy()\nenv['A'] = '1'", ["A = '1' ('1')"]),
    ("env = copy.copy(os.environ)\nenv['A'] = '1'", ["A = '1' ('1')"]),
    ("env = {}\nenv['A'] = '1'", []),
    ("run(env={**os.environ, 'B': '1'})", []),
    ("os.environ.update({'A': '1'})\nos.environ |= {'A': '1'}\nos.environ['A'] = '1'", []),
]


@pytest.mark.parametrize(("program", "expected"), CHILDREN)
def test_what_dictionaries_give_to_other_processes(program: str, expected: list[str]) -> None:
    file = model_of(program, HEADER)
    assert told(file, given_to_children("A").of(file)) == expected


@pytest.mark.parametrize(
    ("program", "mentioned"),
    [
        ("print(os.environ.get('CARDS'))", True),
        ("parser.add_argument('--x', help='sets CARDS')", True),
        ("'Set CARDS before you run this.'", False),
        ("CARDS = 1", False),
    ],
)
def test_a_text_that_is_no_documentation_mentions_a_variable(program: str, mentioned: bool) -> None:
    assert mentions_variable(model_of(program, HEADER), "CARDS") is mentioned
