"""Rule packs and selectors: what is found, what is refused, and which rules a selection means."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from packs import Install, forget, rule_module, write_pack

from tfmemlint.config.selectors import Known, Layer, selected
from tfmemlint.config.settings import Config, ConfigError
from tfmemlint.lint import registry
from tfmemlint.lint.linter import Linter
from tfmemlint.lint.registry import RegistryError
from tfmemlint.rule import Rule


def loaded() -> list[str]:
    return [rule.code for rule in registry.load_rules()]


# -- packs ------------------------------------------------------------------------------------------------------------


def test_the_built_in_rules_come_through_the_same_door() -> None:
    (point,) = [point for point in registry.packs() if point.value == "tfmemlint_rules"]
    assert point.name == "tfmemlint"
    rules = registry.load_rules()
    assert {"TFM101", "TFM305", "TFM601"} <= {rule.code for rule in rules}
    assert [rule.code for rule in rules] == sorted(rule.code for rule in rules)


def test_public_modules_hold_rules_and_private_ones_do_not(install: Install) -> None:
    install(
        b=rule_module("ABC002", "SecondThing", "second"),
        a=rule_module("ABC001", "FirstThing", "first") + "\nfrom made_rules._shared import Hidden\n",
        _shared=rule_module("ABC009", "Hidden", "hidden"),
    )
    assert loaded() == ["ABC001", "ABC002"]
    assert registry.known_codes() == {"ABC001": "first-thing", "ABC002": "second-thing"}


def test_bases_marked_abstract_are_no_rules(install: Install) -> None:
    install(
        a="from tfmemlint.api import Rule\nclass Base(Rule):\n    abstract = True\n" + rule_module("ABC001", "A", "a")
    )
    assert loaded() == ["ABC001"]


@pytest.mark.parametrize(
    ("second", "taken"),
    [
        (rule_module("ABC001", "OtherThing", "x"), "ABC001"),
        (rule_module("ABC002", "FirstThing", "x"), "first-thing"),
        (rule_module("TFM002", "Whatever", "x"), "TFM002"),
    ],
)
def test_codes_and_names_are_not_given_twice(install: Install, second: str, taken: str) -> None:
    install(a=rule_module("ABC001", "FirstThing", "first"), b=second)
    with pytest.raises(RegistryError) as caught:
        registry.load_rules()
    message = str(caught.value)
    assert message.startswith(f"{taken} is taken twice: by ")
    assert "and by made_rules.b." in message


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import no_such_module\n", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise RuntimeError('two\\nlines')\n", "RuntimeError: two lines"),
        ("def f(:\n", "SyntaxError: "),
        (
            "from tfmemlint.api import Rule\nclass X(Rule):\n    code = 'x'\n",
            "TypeError: rule made_rules.a.X: code must",
        ),
    ],
)
def test_a_pack_that_cannot_be_loaded_is_one_line_that_names_it(install: Install, text: str, reason: str) -> None:
    install(a=text)
    with pytest.raises(RegistryError) as caught:
        registry.load_rules()
    message = str(caught.value)
    assert message.startswith(f"rule pack 'made_rules' cannot be loaded: made_rules.a: {reason}")
    assert "\n" not in message


def test_no_rules_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "packs", lambda: ())
    forget()
    with pytest.raises(RegistryError, match="no rules found"):
        registry.load_rules()


def test_a_pack_needs_nothing_but_its_entry_point(tmp_path: Path) -> None:
    """A distribution on the path is enough; its rules run beside the built-in ones."""
    write_pack(tmp_path / "site", "third_party", {"a": rule_module("ABC001", "LoudWord", "shout")})
    program = tmp_path / "train.py"
    program.write_text("import tensorflow\nshout\n")
    done = subprocess.run(
        [sys.executable, "-m", "tfmemlint", "check", "--isolated", "--no-cache", "--output-format=concise", "train.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "train.py:2:1: ABC001 found shout [safe fix]\n"
    assert done.returncode == 1


def test_the_fingerprint_follows_the_code_of_the_rules(install: Install) -> None:
    install(a=rule_module("ABC001", "FirstThing", "first"))
    before = registry.fingerprint()
    forget()
    assert registry.fingerprint() == before
    module = Path(sys.path[0], "made_rules", "a.py")
    module.write_text(module.read_text() + "# changed\n")
    forget()
    assert registry.fingerprint() != before
    assert "made_rules.a" not in sys.modules


# -- selection --------------------------------------------------------------------------------------------------------

RULES = (
    Known("TFM301", "unbatched-dataset", True),
    Known("TFM305", "cache-after-repeat", True),
    Known("TFM309", "num-parallel-fixed", False),
    Known("TFM401", "persistent-tape", True),
)


@pytest.mark.parametrize(
    ("layer", "expected"),
    [
        ({}, "301 305 401"),
        ({"select": ("TFM305",)}, "305"),
        ({"select": ("TFM3",)}, "301 305 309"),
        ({"select": ("tfm3",)}, "301 305 309"),
        ({"select": ("TFM30",), "ignore": ("TFM305",)}, "301 309"),
        ({"select": ("TFM305",), "ignore": ("TFM3",)}, "305"),
        ({"select": ("ALL",)}, "301 305 309 401"),
        ({"select": ("ALL",), "ignore": ("TFM3",)}, "401"),
        ({"select": ("ADVICE",)}, "309"),
        ({"extend_select": ("ADVICE",)}, "301 305 309 401"),
        ({"select": ("ALL",), "ignore": ("ADVICE",)}, "301 305 401"),
        ({"extend_select": ("num-parallel-fixed",)}, "301 305 309 401"),
        ({"ignore": ("cache-after-repeat",)}, "301 401"),
        ({"select": ("TFM305", "TFM401"), "ignore": ("TFM305",)}, "401"),
        ({"ignore": ("ALL",)}, ""),
        ({"ignore": ("ALL",), "extend_select": ("TFM4",)}, "401"),
        ({"select": ()}, ""),
    ],
)
def test_the_more_specific_selector_wins(layer: dict[str, tuple[str, ...]], expected: str) -> None:
    assert selected(RULES, [Layer(**layer)]) == {f"TFM{number}" for number in expected.split()}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ({"ignore": ("TFM305",)}, {"select": ("TFM305",)}, "305"),
        ({"select": ("TFM305",)}, {"ignore": ("TFM3",)}, ""),
        ({"select": ("TFM305",)}, {"extend_select": ("TFM4",)}, "305 401"),
        ({"ignore": ("TFM305",)}, {}, "301 401"),
        ({"ignore": ("TFM305",)}, {"ignore": ("TFM301",)}, "401"),
    ],
)
def test_the_command_line_is_applied_after_the_file(
    first: dict[str, tuple[str, ...]], second: dict[str, tuple[str, ...]], expected: str
) -> None:
    layers = [Layer(**first), Layer(**second)]  # type: ignore[arg-type]
    assert selected(RULES, layers) == {f"TFM{number}" for number in expected.split()}


def test_preview_puts_the_advice_into_the_default_selection() -> None:
    assert "TFM309" in selected(RULES, [Layer()], preview=True)
    assert "TFM309" not in selected(RULES, [Layer(select=("TFM305",))], preview=True)


@pytest.mark.parametrize(
    ("layers", "left"),
    [
        ([Layer(select=())], "0 1 2"),
        ([Layer(select=("TFM305",))], "0 1 2"),
        ([Layer(ignore=("ALL",))], "0"),
        ([Layer(ignore=("TFM00",))], "0"),
        ([Layer(ignore=("TFM000", "TFM002"))], "0 1 3"),
        ([Layer(ignore=("syntax-error",)), Layer(select=("TFM3",))], "0 1"),
        ([Layer(ignore=("TFM002",)), Layer(extend_select=("TFM002",))], "0 1 2 3"),
    ],
)
def test_what_kept_a_file_from_being_checked_is_told_unless_it_is_ignored(layers: list[Layer], left: str) -> None:
    assert selected(registry.all_known(()), layers) == {f"TFM00{number}" for number in left.split()}


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        (Config(select=("TFM999",)), "select: unknown rule selector 'TFM999'; "),
        (Config(ignore=("cache-after-repeet",)), "ignore: unknown rule selector 'cache-after-repeet'; "
                                                 "did you mean cache-after-repeat?"),
        (Config(extend_safe_fixes=("E501",)), "extend-safe-fixes: unknown rule selector 'E501'; "),
        (Config(severity={"ADVISE": "error"}), "severity: unknown rule selector 'ADVISE'; did you mean ADVICE?"),
        (Config(per_file_ignores={"a.py": ("X1",)}), "per-file-ignores.'a.py': unknown rule selector 'X1'; "),
        (Config(command_line=Layer(select=("nope",))), "--select: unknown rule selector 'nope'; "),
        (Config(command_line=Layer(ignore=(" ",))), "--ignore: an empty rule selector; "),
    ],
)  # fmt: skip
def test_unknown_selectors_are_named_with_their_key(config: Config, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.select(registry.load_rules(), config)
    assert str(caught.value).startswith(expected)


# -- what the configuration makes of findings -------------------------------------------------------------------------

WORDS = b"import tensorflow\nshout\nwhisper\n"


@pytest.fixture
def words(install: Install) -> tuple[Rule, ...]:
    """Two rules: ABC001 (safe fix, costs 2 MiB) and ABC002 (unsafe fix, cost unknown)."""
    install(
        a=rule_module("ABC001", "LoudWord", "shout", bytes=2 << 20),
        b=rule_module("ABC002", "SoftWord", "whisper", severity="INFO", safety="UNSAFE"),
    )
    return registry.load_rules()


def found(config: Config, path: str = "train.py") -> dict[str, tuple[str, str | None]]:
    findings = Linter(config).lint(WORDS, path).findings
    return {each.code: (each.severity.value, each.fix and each.fix.safety.value) for each in findings}


def test_findings_are_as_the_rules_made_them_by_default(words: tuple[Rule, ...]) -> None:
    assert found(Config()) == {"ABC001": ("warning", "safe"), "ABC002": ("info", "unsafe")}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"severity": {"ABC": "error"}}, {"ABC001": ("error", "safe"), "ABC002": ("error", "unsafe")}),
        (
            {"severity": {"ALL": "error", "soft-word": "warning"}},
            {"ABC001": ("error", "safe"), "ABC002": ("warning", "unsafe")},
        ),
        ({"unfixable": ["ABC001"]}, {"ABC001": ("warning", None), "ABC002": ("info", "unsafe")}),
        ({"fixable": ["ABC002"]}, {"ABC001": ("warning", None), "ABC002": ("info", "unsafe")}),
        (
            {"fixable": [], "extend-fixable": ["ABC001"]},
            {"ABC001": ("warning", "safe"), "ABC002": ("info", None)},
        ),
        ({"extend-safe-fixes": ["ABC002"]}, {"ABC001": ("warning", "safe"), "ABC002": ("info", "safe")}),
        ({"extend-unsafe-fixes": ["ALL"]}, {"ABC001": ("warning", "unsafe"), "ABC002": ("info", "unsafe")}),
        (
            {"extend-unsafe-fixes": ["ALL"], "extend-safe-fixes": ["ABC"]},
            {"ABC001": ("warning", "safe"), "ABC002": ("info", "safe")},
        ),
        ({"least-cost": (2 << 20) + 1}, {"ABC002": ("info", "unsafe")}),
        ({"least-cost": 2 << 20}, {"ABC001": ("warning", "safe"), "ABC002": ("info", "unsafe")}),
        ({"min-bytes": "1GiB"}, {"ABC001": ("warning", "safe"), "ABC002": ("info", "unsafe")}),
        ({"per-file-ignores": {"*.py": ["ABC001"]}}, {"ABC002": ("info", "unsafe")}),
        ({"per-file-ignores": {"*.py": ["ABC001"]}, "extend-per-file-ignores": {"train.*": ["ABC002"]}}, {}),
        ({"per-file-ignores": {"!tests/*": ["ABC"]}}, {}),
        ({"per-file-ignores": {"!train.py": ["ABC"]}}, {"ABC001": ("warning", "safe"), "ABC002": ("info", "unsafe")}),
    ],
)
def test_the_configuration_changes_findings(
    words: tuple[Rule, ...], keys: dict[str, object], expected: dict[str, tuple[str, str | None]]
) -> None:
    from tfmemlint.config.settings import from_table

    assert found(Config(**from_table(keys))) == expected


def test_per_file_ignores_are_relative_to_the_configuration(words: tuple[Rule, ...], tmp_path: Path) -> None:
    config = Config(per_file_ignores={"tests/**": ("ABC001",)}, root=str(tmp_path))
    assert "ABC001" not in found(config, str(tmp_path / "tests" / "unit" / "a.py"))
    assert "ABC001" in found(config, str(tmp_path / "src" / "tests.py"))


@pytest.mark.parametrize(
    "keys", [{"ignore": ("TFM003",)}, {"select": ("ABC",)}, {"per_file_ignores": {"*": ("TFM003",)}}]
)
def test_unused_suppressions_are_selected_like_rules(words: tuple[Rule, ...], keys: dict[str, object]) -> None:
    text = b"import tensorflow\nx = 1  # tfmemlint: ignore[ABC001]\n"
    assert [each.code for each in Linter(Config()).lint(text, "a.py").findings] == ["TFM003"]
    assert not Linter(Config(**keys)).lint(text, "a.py").findings  # type: ignore[arg-type]
