"""What has certainly, perhaps or not yet happened when the program reaches a place."""

from __future__ import annotations

import libcst as cst
import pytest
from programs import model_of

from tfmemlint.model.calls import Call

PROGRAMS = [
    ("effect()\nhere()", "certainly"),
    ("here()\neffect()", "no"),
    ("if flag:\n    effect()\nhere()", "perhaps"),
    ("if flag:\n    effect()\nelse:\n    effect()\nhere()", "certainly"),
    ("if False:\n    effect()\nhere()", "no"),
    ("mode = 1\nif mode == 1:\n    effect()\nelse:\n    pass\nhere()", "certainly"),
    ("if flag:\n    effect()\nelse:\n    raise ValueError\nhere()", "certainly"),
    ("for i in items:\n    effect()\nhere()", "perhaps"),
    ("while True:\n    effect()\n    if flag:\n        break\nhere()", "certainly"),
    ("for i in [n for n in (1, 2) if n > limit]:\n    effect()\nhere()", "perhaps"),
    ("for i in enumerate(range(100)):\n    effect()\nhere()", "certainly"),
    ("for i in range(5, 5):\n    effect()\nhere()", "perhaps"),
    ("for i in items:\n    here()\n    effect()", "no"),
    ("try:\n    effect()\nexcept ValueError:\n    pass\nhere()", "perhaps"),
    ("try:\n    pass\nfinally:\n    effect()\nhere()", "certainly"),
    ("try:\n    effect()\nexcept ValueError:\n    raise\nhere()", "certainly"),
    ("with open('f'):\n    effect()\nhere()", "certainly"),
    ("with effect():\n    here()", "certainly"),
    ("x = effect() if flag else 0\nhere()", "perhaps"),
    ("x = flag and effect()\nhere()", "perhaps"),
    ("x = [effect() for i in items]\nhere()", "perhaps"),
    ("x = [effect() for i in (1, 2)]\nhere()", "certainly"),
    ("x = [effect() for i in (1, 2) if i > n]\nhere()", "perhaps"),
    ("x = (effect() for i in (1, 2))\nhere()", "perhaps"),
    ("f = lambda: effect()\nhere()", "no"),
    ("list(map(lambda i: effect(), items))\nhere()", "perhaps"),
    ("effect()\nlist(map(lambda i: here(), items))", "certainly"),
    ("def f(i):\n    here()\neffect()\nlist(map(f, items))", "certainly"),
    ("f = lambda: effect()\nf()\nhere()", "certainly"),
    ("def f():\n    effect()\nhere()", "no"),
    ("def f():\n    effect()\nf()\nhere()", "certainly"),
    ("def f():\n    here()\neffect()\nf()", "certainly"),
    ("def f():\n    here()\nf()\neffect()", "no"),
    ("def f():\n    here()\nif flag:\n    effect()\nf()", "perhaps"),
    ("def f():\n    here()\neffect()", "certainly"),
    ("def f():\n    effect()\ndef g():\n    f()\ndef main():\n    g()\n    here()\nmain()", "certainly"),
    ("def f():\n    effect()\ndef main():\n    f()\n    here()\nif __name__ == '__main__':\n    main()", "certainly"),
    ("def f():\n    here()\nif __name__ == '__main__':\n    effect()", "no"),
    ("if __name__ == '__main__':\n    effect()\n    def f():\n        here()", "certainly"),
    ("if __name__ == '__main__':\n    effect()\n    class C:\n        def run(self):\n            here()", "certainly"),
    ("if __name__ == '__main__':\n    class C:\n        def run(self):\n            here()\n    effect()", "no"),
    ("if __name__ == '__main__':\n    effect()\nclass C:\n    def run(self):\n        here()", "no"),
    ("def main():\n    effect()\n    class C:\n        def run(self):\n            here()\nmain()", "certainly"),
    ("def f():\n    return\n    effect()\nf()\nhere()", "no"),
    ("def f(a):\n    if a:\n        return\n    effect()\nf(1)\nhere()", "perhaps"),
    ("def main():\n    def later():\n        here()\n    effect()\nmain()", "no"),
    ("def main():\n    effect()\n    def later():\n        here()\nmain()", "certainly"),
    ("class C:\n    def __init__(self):\n        effect()\nC()\nhere()", "certainly"),
    ("class C:\n    def run(self):\n        effect()\nC().run()\nhere()", "certainly"),
    ("class C:\n    effect()\nhere()", "certainly"),
    ("class C(effect()):\n    pass\nhere()", "certainly"),
    ("def f(a=effect()):\n    pass\nhere()", "certainly"),
    ("def f(a=lambda: effect()):\n    pass\nhere()", "no"),
    ("class C:\n    def run(self, *, a=effect()):\n        pass\nhere()", "certainly"),
    ("class C:\n    def run(self):\n        effect()\nhere()", "no"),
    ("def f(n):\n    effect()\n    f(n - 1)\nf(3)\nhere()", "certainly"),
    ("def f():\n    g()\ndef g():\n    f()\nf()\nhere()", "no"),
    ("match mode:\n    case 1:\n        effect()\nhere()", "perhaps"),
    ("match mode:\n    case 1:\n        effect()\n    case _:\n        effect()\nhere()", "certainly"),
    ("import sys\nif flag:\n    effect()\n    sys.exit()\nhere()", "no"),
    ("assert effect()\nhere()", "certainly"),
    ("del x[effect()]\nhere()", "certainly"),
    ("print(here(), effect())", "no"),
    ("print(effect(), here())", "certainly"),
    ("effect().then(here())", "certainly"),
]


@pytest.mark.parametrize(("program", "expected"), PROGRAMS)
def test_what_happened_before(program: str, expected: str) -> None:
    file = model_of(program)

    def classify(node: Call | cst.BaseSmallStatement) -> str | None:
        return "effect" if isinstance(node, Call) and node.method == "effect" else None

    place = file.calls_by_word["here"][0]
    happened = file.effects.order("effect", classify).before(place, "effect")
    assert {None: "no", True: "certainly", False: "perhaps"}[happened and happened.certain] == expected
