"""Which loops give a call what they have made of its answer in the round before."""

from collections.abc import Iterator

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.query.repetition.feedback import feeds_back
from tfmemlint.syntax.tree import called_word, walk

ON_SELF = """
class A:
    def go(self, a):
        self.s = a
    def run(self):
        for i in n:
            self.go(ask(self.s))
"""
FED_BACK = [
    "while True:\n    a = ask(s)\n    s = env.step(a)",
    "while True:\n    s, r, _ = env.step(pick(ask(s)))",
    "for i in n:\n    y, s = ask(x, s)",
    "for i in n:\n    s += [ask(s)]",
    "for i in n:\n    s.append(ask(s[-1]))",
    "for i in n:\n    s[:, i] = ask(s)",
    "for i in n:\n    s[i, ask(s)] = 1",
    "for i in n:\n    game.move(ask(game.seen()))",
    "for i in n:\n    if ask(game.height) > 0:\n        game.jump()",
    "for i in n:\n    if ask(s) > 0:\n        a = 1\n    else:\n        a = 2\n    s = go(a)",
    "for i in n:\n    x = np.concatenate([x[1:], ask(x)])",
    "for i in n:\n    self.state = step(ask(self.state))",
    "for i in n:\n    self.env.step(ask(self.env.state))",
    "def add(to, p):\n    to.append(p)\nfor i in n:\n    add(s, ask(s))",
    "def add(to, p):\n    to[0] = p + 1\n    return 0\nfor i in n:\n    p = ask(s)\n    add(s, p)",
    "def seen(g):\n    return g.pixels\nfor i in n:\n    g.move(ask(seen(g)))",
    ON_SELF,
    "for i in n:\n    for w in range(3):\n        s = [w, *s]\n    s = join(s, ask(s))",
]
OWN_ITEMS = [
    "for x in xs:\n    ask(x)",
    "for x in xs:\n    x = x / 255\n    p = ask(x)\n    x = p",
    "for x in xs:\n    p = ask(x)\n    x[0] = p",
    "for x in xs:\n    d = {}\n    d['x'] = x\n    d['p'] = ask(d['x'])",
    "while True:\n    x = camera.read()\n    show(x, ask(x))",
    "while len(done) < 9:\n    done.append(ask(xs[len(done)]))",
    "while len(done) < 9:\n    done.append(ask(xs[done.shape[0]]))",
    "for x in xs:\n    memory.append((x, ask(x)))",
    "for x in xs:\n    best = max(best, ask(x))",
    "for x in xs:\n    y = np.append(x, 1)\n    out = np.append(out, ask(y))",
    "for i in n:\n    self.seen.append(ask(self.xs[i]))",
    "for i in n:\n    self.kept = ask(self.load(i))",
    "for x in xs:\n    net.fit(x, ask(x))",
    "s = ask(s)\nfor x in xs:\n    ask(x)",
]


@pytest.mark.parametrize("code", FED_BACK)
def test_loops_that_go_on_from_the_last_answer(code: str) -> None:
    assert _feeds_back(code)


@pytest.mark.parametrize("code", OWN_ITEMS)
def test_loops_over_what_is_there(code: str) -> None:
    assert not _feeds_back(code)


@pytest.mark.parametrize(
    ("loop", "expected"),
    [
        ("while True:\n    s = env.step(player.act(s))", True),
        ("for s in states:\n    found.append(player.act(s))", False),
        ("for s in states:\n    found.append(player.act(s))\n    player.last = found[-1]", False),
    ],
)
def test_answers_of_a_function_that_the_loop_calls(loop: str, expected: bool) -> None:
    file = model_of(f"class Player:\n    def act(self, s):\n        return pick(ask(s))\nplayer = Player()\n{loop}")
    answer, applied = (next(_calls(file.module, word)) for word in ("ask", "act"))
    assert feeds_back(file, applied, next(walk(file.module, cst.For, cst.While)), answer=answer) is expected


def test_nothing_but_a_loop_has_rounds() -> None:
    file = model_of("found = [ask(x) for x in xs]")
    assert not feeds_back(file, next(_calls(file.module, "ask")), next(walk(file.module, cst.ListComp)))


def _feeds_back(code: str) -> bool:
    file = model_of(f"import numpy as np\n{code}")
    loop = next(walk(file.module, cst.For, cst.While))
    return feeds_back(file, list(_calls(file.module, "ask"))[-1], loop)


def _calls(module: cst.Module, word: str) -> Iterator[cst.Call]:
    return (call for call in walk(module, cst.Call) if called_word(call) == word)
