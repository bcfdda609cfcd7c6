"""Where a value goes: what the code does with the result of `make()`, in the order of the code."""

import pytest
from programs import model_of

from tfmemlint.query.flow.uses import Does, Use, uses
from tfmemlint.query.limits import FOLLOWED_USES


def shown(program: str, **follow: object) -> list[str]:
    """`does word at node`, with what else holds for the use."""
    file = model_of(program)
    made = file.calls_by_word["make"][0]
    return [_shown(use, file.text(use.node)) for use in uses(file, made, **follow)]  # type: ignore[arg-type]


def _shown(use: Use, node: str) -> str:
    marks = [mark for mark in ("part", "unpacked", "held", "captured") if getattr(use, mark)]
    return " ".join([use.does.name, *([use.word] if use.word else []), node, *marks])


WITHOUT_NAMES = [
    ("make()", []),
    ("v = make()", []),
    ("make().size", ["READ size make()"]),
    ("make().fit(x)", ["METHOD fit make()"]),
    ("make()(x)", ["CALL make()"]),
    ("f(make())", ["PASS f make()"]),
    ("x.f(key=make())", ["PASS f make()"]),
    ("make()[0]", ["ITEM make()"]),
    ("a, b = make()", ["ITEM make()"]),
    ("for x in make(): pass", ["ITERATE make()"]),
    ("[x for x in make()]", ["ITERATE make()"]),
    ("-make() < 3", ["COMPUTE make()"]),
    ("x[make()]", ["COMPUTE make()"]),
    ("f'{make()}'", ["COMPUTE make()"]),
    ("if make(): pass", ["COMPUTE make()"]),
    ("1 if make() else 2", ["COMPUTE make()"]),
    ("make().rate = 3", ["SET rate make()"]),
    ("make()[0] += 3", ["SET make()"]),
    ("total += make().size", ["READ size make()"]),
    ("self.x = make()", ["STORE make()"]),
    ("d[key] = make()", ["STORE make()"]),
    ("[make()]", ["STORE make()"]),
    ("{1: make()}", ["STORE make()"]),
    ("[make() for _ in y]", ["STORE make()"]),
    ("kept.append(make())", ["STORE append make()"]),
    ("kept += [make()]", ["STORE make()"]),
    ("keras.Sequential().add(make())", ["PASS add make()"]),
    ("def f():\n    return make()", ["RETURN make()"]),
    ("def f():\n    yield make()", ["RETURN make()"]),
    ("lambda: make()", ["RETURN make()"]),
    ("with make(): pass", ["ENTER make()"]),
    ("raise make()", ["OTHER make()"]),
    ("class A(make()): pass", ["OTHER make()"]),
]
NAMES = [
    ("v = make()\nw = v\nw.fit()", ["METHOD fit w"]),
    ("v = w = make()\nw.fit()\nv.x", ["READ x v", "METHOD fit w"]),
    ("v: Model = make()\nv.x", ["READ x v"]),
    ("if (v := make()).x: v.y", ["READ y v", "READ x v := make()"]),
    ("v = make() if c else None\nv.x", ["READ x v"]),
    ("v = w or make()\nv.x", ["READ x v"]),
    ("v = make()\ndel v", ["DELETE v"]),
    ("v = make()\nv.x\nv = 3\nv.y", ["READ x v"]),
    ("with make() as v:\n    v.run()", ["ENTER make()", "METHOD run v"]),
    ("a, b = 1, make()\na.x\nb.y", ["READ y b"]),
    ("v = make()\nw = v\nv = w\nv.x", ["READ x v"]),
    ("v = make()\ndef f():\n    v.x", ["READ x v captured"]),
    ("v = make()\ndef f(v):\n    v.x", []),
    ("def f():\n    global v\n    v = make()\n    v.x", ["STORE make()"]),
    ("class A:\n    v = make()", ["STORE make()"]),
    ("x = y = 0\nfor _ in z:\n    y.b\n    y = x\n    x = make()", ["READ b y"]),
]


@pytest.mark.parametrize(("program", "expected"), [*WITHOUT_NAMES, *NAMES])
def test_uses_are_what_is_done_with_the_value(program: str, expected: list[str]) -> None:
    assert shown(program) == expected


PARTS = [
    ("make()[0].x", ["READ x make()[0] part"]),
    ("a, b = make()\nb.x", ["READ x b part unpacked"]),
    ("a, (b, c) = make()\nc.x", ["READ x c part unpacked"]),
    ("for a in make(): a.x", ["READ x a part unpacked"]),
    ("for i, a in enumerate(make()): a.x, i.y", ["READ x a part unpacked"]),
    ("for a, b in zip(y, make()): a.x, b.y", ["READ y b part unpacked"]),
    ("for i, (a, b) in enumerate(zip(y, make())): a.x, b.y", ["READ y b part unpacked"]),
    ("for a in list(reversed(make())): a.x", ["READ x a part unpacked"]),
    ("for a in make().as_numpy_iterator(): a.x", ["METHOD as_numpy_iterator make()", "READ x a part unpacked"]),
    ("[a.x for a in make()]", ["READ x a part unpacked"]),
    ("for k, a in make().items(): k.x, a.y", ["METHOD items make()", "READ y a part unpacked"]),
    ("f(*make())", ["PASS f make()"]),
]


@pytest.mark.parametrize(("program", "expected"), PARTS)
def test_parts_are_followed_on_demand(program: str, expected: list[str]) -> None:
    assert shown(program, parts=True) == expected


CONTAINERS = [
    ("v = [make()]\nf(v)", ["PASS f v held"]),
    ("v = [make()]\nv[0].x", ["READ x v[0]"]),
    ("v = {1: make()}\nv.get(1).x", ["METHOD get v held", "READ x v.get(1)"]),
    ("v = {1: make()}\nfor k, w in v.items(): k.x, w.y", ["METHOD items v held", "READ y w"]),
    ("for v in [make(), 1]: v.x", ["READ x v"]),
    ("v = [0, make()]\nfor i, w in enumerate(v): i.x, w.y", ["READ y w"]),
    ("v = [make() for _ in y]", ["STORE make()"]),
    ("x, y = pair = (make(), 1)\ny.a\npair[1].b\npair[0].c", ["READ c pair[0]"]),
    ("v = (0, (make(), 1))\na, (b, c) = v\na.x, b.y, c.z", ["READ y b unpacked"]),
    ("def f():\n    return make(), 1", ["RETURN make(), 1 held"]),
    ("import types\nv = types.SimpleNamespace(m=make())\nself.v = v", ["STORE v held"]),
]


@pytest.mark.parametrize(("program", "expected"), CONTAINERS)
def test_containers_are_followed_on_demand(program: str, expected: list[str]) -> None:
    assert shown(program, containers=True) == expected


ATTRIBUTES = [
    ("class A:\n    def __init__(self):\n        self.m = make()\n        self.m.x\n"
     "    def f(self):\n        self.m.fit()\n        self.other.m",
     ["STORE make()", "READ x self.m", "METHOD fit self.m"]),
    ("class A:\n    def f(self):\n        self.m = make()\nclass B:\n    def f(self):\n        self.m.x",
     ["STORE make()"]),
    ("class A:\n    def f(self):\n        self.m.y\n        self.m = make()\n        self.m = 3\n        self.m.x",
     ["STORE make()", "READ y self.m"]),
    ("args.m = make()\nargs.m.x", ["STORE make()", "READ x args.m"]),
    ("d['m'] = make()\nd['m'].x\nd['n'].y", ["STORE make()", "READ x d['m']"]),
    ("def f():\n    global v\n    v = make()\n    v.x\ndef g():\n    v.y",
     ["STORE make()", "READ x v", "READ y v captured"]),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), ATTRIBUTES)
def test_attributes_are_followed_on_demand(program: str, expected: list[str]) -> None:
    assert shown(program, attributes=True) == expected


THROUGH = [
    ("def f(a, b):\n    a.x\n    b.y\nf(1, make())", ["READ y b"]),
    ("def f(a, *, b=1):\n    b.y\nf(1, b=make())", ["READ y b"]),
    ("def f(a):\n    pass\nf(make())", []),
    ("def f(a):\n    return a\nf(make()).x\nf(3).y", ["READ x f(make())"]),
    ("def f(a):\n    return [a]\nf(make())", ["STORE a"]),
    ("def f(a):\n    g(a)\ndef g(b):\n    h(b)\ndef h(c):\n    c.x\nf(make())", ["PASS h b"]),
    ("def f(a):\n    f(a)\n    a.x\nf(make())", ["READ x a"]),
    ("def f(*a):\n    a.x\nf(1, make())", ["PASS f make()"]),
    ("f = unknown if c else lambda a: a.x\nf(make())", ["PASS f make()"]),
    ("class A:\n    def __init__(self, m):\n        self.m = m\nA(make())", ["STORE m"]),
]


@pytest.mark.parametrize(("program", "expected"), THROUGH)
def test_functions_of_the_module_are_gone_into_on_demand(program: str, expected: list[str]) -> None:
    assert shown(program, through=2) == expected


RETURNED = [
    ("def f():\n    return make()\nf().x\nv = f()\nv.y", ["READ x f()", "READ y v"]),
    ("def f():\n    return make()\ng(f)", ["RETURN make()"]),
    ("def f():\n    yield make()\nf().x", ["RETURN make()"]),
]


@pytest.mark.parametrize(("program", "expected"), RETURNED)
def test_results_are_followed_to_all_callers_on_demand(program: str, expected: list[str]) -> None:
    assert shown(program, returned=True) == expected


def test_one_place_of_a_tuple_is_followed_on_demand() -> None:
    program = "a, b = p = make()\na.x\nb.y\np[1].z\np[0].w\nf(p)"
    assert shown(program, path=(1,)) == ["READ y b unpacked", "READ z p[1]", "PASS f p held"]


def test_parameters_and_targets_have_uses_too() -> None:
    file = model_of("def f(a):\n    a.x\nfor b in y:\n    b.z\nmap(f, y)")
    function, loop = file.module.body[-3:-1]
    assert [use.word for use in uses(file, function)] == ["map"]
    assert [use.word for use in uses(file, function.params.params[0])] == ["x"]  # type: ignore[union-attr]
    assert [use.word for use in uses(file, loop.target)] == ["z"]  # type: ignore[union-attr]


def test_functions_and_classes_have_uses_too() -> None:
    file = model_of("def f(): pass\nclass A: pass\nf()\nuse(A)")
    function, owner = file.module.body[-4:-2]
    assert [use.does for use in uses(file, function)] == [Does.CALL]
    assert [use.does for use in uses(file, owner)] == [Does.PASS]


def test_a_value_with_too_many_uses_ends_in_unknown_ones() -> None:
    file = model_of("v = make()\n" + "v.x\n" * (FOLLOWED_USES + 5))
    found = list(uses(file, file.calls_by_word["make"][0]))
    assert [use.does for use in found[:2]] == [Does.READ, Does.READ]
    assert [use.does for use in found[-2:]] == [Does.OTHER, Does.OTHER]
