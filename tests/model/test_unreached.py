"""Which code certainly never runs."""

from __future__ import annotations

import pytest
from programs import model_of

NEVER = [
    "if False:\n    here()",
    "if 0:\n    here()",
    "if True:\n    pass\nelse:\n    here()",
    "if unknown:\n    pass\nelif False:\n    here()",
    "if False:\n    if unknown:\n        here()",
    "if False and unknown:\n    here()",
    "if not True:\n    here()",
    "x = here() if False else 0",
    "while False:\n    here()",
    "debug = False\nif debug:\n    here()",
    "path = None\nif path is not None:\n    here()",
    "mode = 'train'\nif mode == 'test':\n    here()",
    "rate = 0.0\nif rate > 0 and unknown:\n    here()",
    "gpus = 1\nif gpus == 1:\n    pass\nelif unknown:\n    here()",
    "memory = -1\nif memory != -1:\n    here()",
    "debug = True\nuse(debug)\ndebug = False\nif debug:\n    here()",
    "debug = False\ndef f():\n    if debug:\n        here()",
    "gpus = 1\nif gpus == 1:\n    memory = -1\nelif gpus == 2:\n    memory = 9\nelse:\n    assert False\n"
    "if memory != -1:\n    here()",
    "def f():\n    return 1\n    here()",
    "def f():\n    raise ValueError\n    if unknown:\n        here()",
    "for i in items:\n    continue\n    here()",
    "for i in items:\n    break\n    here()",
    "def f():\n    assert False\n    here()",
    "def f():\n    if a:\n        return 1\n    elif b:\n        raise b\n    else:\n        return 2\n    here()",
    "debug = False\ndef f():\n    if not debug: return 1\n    here()",
    "class C:\n    def f(self):\n        here()\n    def f(self):\n        pass",
    "class C:\n    def g(self):\n        self.f()\n    def f(self):\n        here()\n    def f(self):\n        pass",
    "if False:\n    def f():\n        here()",
    "import sys\ndef f():\n    sys.exit()\n    here()",
    "import os\ndef f():\n    if a:\n        os._exit(1)\n    else:\n        exit('no')\n    here()",
    "def f():\n    import sys\n    for i in items:\n        sys.exit()\n        here()",
    "from sys import exit\ndef f():\n    exit()\n    here()",
    "for i in items:\n    exit()\n    here()",
    "import sys\nwhile unknown:\n    if a:\n        sys.exit()\n    else:\n        break\n    here()",
]

RUNS = [
    "if unknown:\n    here()",
    "if __name__ == '__main__':\n    here()",
    "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    here()",
    "import sys\nif sys.platform == 'win32':\n    here()",
    "debug = False\nif unknown:\n    debug = True\nif debug:\n    here()",
    "first = False\nfor i in items:\n    if first:\n        here()\n    first = True",
    "debug = True\nif unknown:\n    debug = False\nif debug:\n    here()",
    "debug = False\ndef on():\n    global debug\n    debug = True\non()\nif debug:\n    here()",
    "def f():\n    on = False\n    def g():\n        nonlocal on\n        on = True\n    g()\n    if on: here()",
    "debug = False\nfor debug in (False, True):\n    if debug:\n        here()",
    "count = 0\ncount += 1\nif count:\n    here()",
    "def f(debug=False):\n    if debug:\n        here()",
    "debug = False\nexec(open('options.py').read())\nif debug:\n    here()",
    "debug = False\nfrom options import *\nif debug:\n    here()",
    "train = False #@param {type: 'boolean'}\nif train:\n    here()",
    "import os\ndebug = os.environ.get('DEBUG', False)\nif debug:\n    here()",
    "try:\n    import hvd\n    parallel = True\nexcept ImportError:\n    parallel = False\nif parallel:\n    here()",
    "size = 2\nif size < 'a':\n    here()",
    "def f():\n    if unknown:\n        return 1\n    here()",
    "def f():\n    with expected():\n        raise ValueError\n    here()",
    "def f():\n    try:\n        return 1\n    except ValueError:\n        pass\n    here()",
    "class C:\n    @property\n    def f(self):\n        here()\n    @f.setter\n    def f(self, to):\n        pass",
    "class C:\n    def f(self):\n        here()\n    old = f\n    def f(self):\n        pass",
    "class C:\n    @register\n    def f(self):\n        here()\n    @register\n    def f(self):\n        pass",
    "def f():\n    here()\nf()\ndef f():\n    pass",
    "def f():\n    here()\ndef f():\n    pass\nf()",
    "def run():\n    f()\ndef f():\n    here()\nrun()\ndef f():\n    pass",
    "if unknown:\n    def f():\n        here()\nelse:\n    def f():\n        pass",
    "import sys\nsys.exit()\nhere()",
    "import sys\nif unknown:\n    sys.exit()\nelse:\n    exit()\nhere()",
    "import sys\nfor i in items:\n    sys.exit()\nhere()",
    "import sys\ndef f():\n    if unknown:\n        sys.exit()\n    here()",
    "def f(exit):\n    exit()\n    here()",
    "def exit():\n    pass\ndef f():\n    exit()\n    here()",
    "import sys\ndef f():\n    try:\n        sys.exit()\n    except SystemExit:\n        pass\n    here()",
    "import sys\ndef f():\n    atexit.register(sys.exit)\n    here()",
]


@pytest.mark.parametrize(("program", "never"), [*((each, True) for each in NEVER), *((each, False) for each in RUNS)])
def test_what_never_runs(program: str, never: bool) -> None:
    file = model_of(program)
    assert file.contexts.never_runs(file.calls_by_word["here"][0]) is never
