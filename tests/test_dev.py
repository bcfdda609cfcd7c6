"""`python -m tfmemlint.dev` as a rule's author uses it, in a pack that nothing but an entry point names."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tfmemlint.dev import __main__ as dev
from tfmemlint.dev.docs import Material, page
from tfmemlint.dev.families import family_of, next_code
from tfmemlint.dev.sample_call import api_name, sample_call
from tfmemlint.lint.registry import load_rules

TESTS = """
import pytest
from tfmemlint.testing import CHECKS, cases, run

@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize("case", cases("fixtures"), ids=str)
def test_case(case, check, pytestconfig):
    run(check, case, bless=pytestconfig.getoption("bless"))
"""


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """An installed rule pack without rules, and the working directory of its author."""
    for folder in ("acme_rules", "fixtures", "acme-1.0.dist-info"):
        (tmp_path / folder).mkdir()
    (tmp_path / "acme_rules/__init__.py").touch()
    (tmp_path / "acme-1.0.dist-info/METADATA").write_text("Metadata-Version: 2.1\nName: acme\nVersion: 1.0\n")
    (tmp_path / "acme-1.0.dist-info/entry_points.txt").write_text("[tfmemlint.rules]\nacme = acme_rules\n")
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["tfmemlint.testing"]\n')
    (tmp_path / "test_acme.py").write_text(TESTS)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`python -m ...` in this folder, with the packs that lie in it installed."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    command = [sys.executable, "-m", *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)


def new_rule(pack: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return run(pack, "tfmemlint.dev", "new-rule", "cached-range", "--rules", "acme_rules", *more)


def test_new_rule_works_as_written_and_needs_no_registration(pack: Path) -> None:
    done = new_rule(pack, "--code", "ACM101")
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [
        "acme_rules/cached_range.py",
        "fixtures/ACM101-cached-range/basic/bad.py",
        "fixtures/ACM101-cached-range/basic/good.py",
    ]
    options = ("--isolated", "--select", "ACM101", "--output-format", "concise")
    checked = run(pack, "tfmemlint", "check", *options, "fixtures")
    assert checked.returncode == 1, checked.stderr
    assert "fixtures/ACM101-cached-range/basic/bad.py:4:35: ACM101" in checked.stdout
    assert "good.py" not in checked.stdout


def test_bless_writes_what_the_tests_then_hold(pack: Path) -> None:
    new_rule(pack, "--code", "ACM101")
    before = run(pack, "pytest", "-q", "-p", "no:cacheprovider")
    assert before.returncode == 1
    assert "findings.txt: the file is missing" in before.stdout
    blessed = run(pack, "pytest", "-q", "-p", "no:cacheprovider", "--bless")
    assert blessed.returncode == 0, blessed.stdout
    golden = (pack / "fixtures/ACM101-cached-range/basic/findings.txt").read_text()
    assert golden.startswith("4:35-4:40 ACM101 cached-range warning\n")
    after = run(pack, "tfmemlint.dev", "bless")
    assert (after.returncode, after.stdout) == (0, "")


def test_the_commands_for_a_rule_pack_run_in_their_order(pack: Path) -> None:
    page = (Path(__file__).parents[1] / "docs/rule-packs.md").read_text("utf-8")
    (block,) = re.findall(r"```sh\n([^`]* new-rule .*?)```", page, re.DOTALL)
    (pack / "train.py").write_text("import keras\nkeras.Model().save('weights')\n")
    for line in block.splitlines():
        words = shlex.split(re.split(r"\s+#\s", line)[0])
        done = run(pack, *words[2:] if words[0] == "python" else words)
        assert done.returncode == (1 if "check" in words else 0), done.stdout + done.stderr
    assert "train.py:2:" in done.stdout
    assert (pack / "docs/rules/ACM101.md").is_file()


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("bad.py", "  #! ACM101", "", "no line is marked with `#! ACM101`"),
        ("bad.py", "import tensorflow as tf", "import tensorflow as tf  #! ACM101", "line 1: ACM101 is marked 1 times"),
        ("good.py", "...", "tf.data.Dataset.range(8).cache()", "line 4: ACM101"),
        ("findings.txt", "warning", "error", "-4:35-4:40 ACM101 cached-range error"),
    ],
)
def test_a_case_that_does_not_hold_is_named(pack: Path, file: str, old: str, new: str, words: str) -> None:
    new_rule(pack, "--code", "ACM101")
    run(pack, "tfmemlint.dev", "bless")
    path = pack / "fixtures/ACM101-cached-range/basic" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    done = run(pack, "pytest", "-q", "-p", "no:cacheprovider")
    assert done.returncode == 1
    assert f"ACM101-cached-range/basic/{file}: " in done.stdout
    assert words in done.stdout


def test_a_marker_may_speak_of_a_line_that_can_hold_no_comment(pack: Path) -> None:
    new_rule(pack, "--code", "ACM101")
    text = "import tensorflow as tf\n# [example]\n"
    text += "ds = tf.data.Dataset.range(8) \\\n    .cache() \\\n    .batch(2)  #!-1 ACM101\n"
    (pack / "fixtures/ACM101-cached-range/basic/bad.py").write_text(text)
    done = run(pack, "pytest", "-q", "-p", "no:cacheprovider", "--bless")
    assert done.returncode == 0, done.stdout


def test_a_rule_that_looks_at_the_spelling_is_found_out(pack: Path) -> None:
    new_rule(pack, "--code", "ACM101")
    module = pack / "acme_rules/cached_range.py"
    spelled = 'if call.open or "tf.data.Dataset" not in file.source.text:'
    module.write_text(module.read_text().replace("if call.open:", spelled))
    done = run(pack, "pytest", "-q", "-p", "no:cacheprovider", "--bless")
    assert done.returncode == 1
    assert "bad.py: other findings with `import tensorflow as T`" in done.stdout
    assert "1 failed, 6 passed" in done.stdout


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        ("Edit(0, 0, '# again\\n')", "leaves the finding or makes another ACM101"),
        ("Edit(0, 6, 'imp ort')", "leaves code that does not parse"),
    ],
)
def test_a_fix_that_goes_wrong_is_found_out(pack: Path, edit: str, words: str) -> None:
    new_rule(pack, "--code", "ACM101")
    module = pack / "acme_rules/cached_range.py"
    text = module.read_text().replace("import Call,", "import Edit, Fix, Safety, Call,")
    text = text.replace('clause")', f'clause", fix=Fix("mend", ({edit},), Safety.SAFE))')
    text = text.replace("    ## When", "    ## Fix safety\n    Safe.\n\n    ## When")
    module.write_text(text.replace('no_fix = "..."', "fix_safety = (Safety.SAFE,)"))
    done = run(pack, "tfmemlint.dev", "bless")
    assert done.returncode == 2
    assert "ACM101-cached-range/basic/bad.py: a fix was taken back" in done.stderr
    assert words in done.stderr


@pytest.mark.parametrize(
    ("arguments", "family"),
    [(["--family", "TFM4"], "TFM4"), (["--call", "tf.image.resize"], "TFM7"), (["--family", "ACM2"], "ACM2")],
)
def test_new_rule_takes_the_next_code_of_its_family(pack: Path, arguments: list[str], family: str) -> None:
    done = new_rule(pack, *arguments)
    highest = max((int(rule.code[4:]) for rule in load_rules() if rule.code.startswith(family)), default=0)
    assert f"fixtures/{family}{highest + 1:02}-cached-range/basic/bad.py" in done.stdout.split()


@pytest.mark.parametrize(
    ("api", "family"),
    [
        ("tf.config.set_visible_devices", "TFM1"),
        ("tf.keras.mixed_precision.set_global_policy", "TFM2"),
        ("tf.data.Dataset.cache", "TFM3"),
        ("tf.GradientTape.gradient", "TFM4"),
        ("tf.function", "TFM5"),
        ("tf.keras.layers.Dense", "TFM6"),
        ("tf.functions", "TFM7"),
        ("tf.compat.v1.Session", "TFM9"),
        ("builtins.list", None),
    ],
)
def test_an_api_belongs_to_the_family_that_names_the_most_of_it(api: str, family: str | None) -> None:
    assert family_of(api) == family


def test_codes_of_rules_that_are_gone_are_not_used_again() -> None:
    assert next_code("TFM3", {"TFM301", "TFM305", "TFM401"}) == "TFM306"
    assert next_code("TFM3", {"TFM399"}) is None


@pytest.mark.parametrize(
    ("api", "line"),
    [
        ("tf.image.resize", "result = tf.image.resize(images, size)"),
        ("tensorflow.keras.layers.Dense", "result = tf.keras.layers.Dense(units)"),
        ("tf.data.TFRecordDataset.cache", "result = tf.data.Dataset.range(8).cache()"),
        ("tf.keras.Model.predict", "result = tf.keras.Sequential().predict(x)"),
        ("tf.GradientTape.gradient", "result = tf.GradientTape().gradient(target, sources)"),
        ("numpy.zeros", "result = np.zeros(shape)"),
    ],
)
def test_a_sample_calls_the_api(api: str, line: str) -> None:
    name = api_name(api)
    assert name is not None
    program = sample_call(name)
    assert program is not None
    assert program.splitlines()[-1] == line


def test_a_new_rule_about_an_api_reports_its_call_at_once(pack: Path) -> None:
    done = new_rule(pack, "--call", "tensorflow.image.resize", "--family", "ACM1")
    assert done.returncode == 0, done.stderr
    assert '@on_call("tf.image.resize")' in (pack / "acme_rules/cached_range.py").read_text()
    tested = run(pack, "pytest", "-q", "-p", "no:cacheprovider", "--bless")
    assert tested.returncode == 0, tested.stdout
    assert "ACM101 cached-range" in (pack / "fixtures/ACM101-cached-range/basic/findings.txt").read_text()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["cached-range", "--code", "TFM305"], "TFM305 is the code of cache-after-repeat"),
        (["cached-range", "--code", "tfm1"], "'tfm1' is not a code"),
        (["cached-range", "--family", "TFM30"], "'TFM30' is no family of codes"),
        (["cached-range"], "or with --family where it belongs: TFM1 Devices and the GPU allocator, TFM2 Dtypes"),
        (["cached-range", "--call", "tf.image.resise"], "did you mean tf.image.resize?"),
        (["Cached Range!", "--code", "ACM101"], "'Cached Range!' is not a rule's name"),
        (["cached-range", "--code", "ACM101", "--fixtures", "nowhere"], "there is no folder 'nowhere'"),
    ],
)
def test_new_rule_refuses(pack: Path, arguments: list[str], words: str) -> None:
    done = run(pack, "tfmemlint.dev", "new-rule", "--rules", "acme_rules", *arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert list((pack / "fixtures").iterdir()) == []


def test_new_rule_overwrites_nothing(pack: Path) -> None:
    new_rule(pack, "--code", "ACM101")
    done = new_rule(pack, "--code", "ACM102")
    assert done.returncode == 2
    assert "acme_rules/cached_range.py exists already" in done.stderr


def test_dump_model_tells_values_and_why_one_is_unknown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.py"
    path.write_text(
        "import tensorflow as tf\n"
        "def pipeline(x):\n"
        "    return x\n"
        "ds = tf.data.Dataset.range(10).batch(2)\n"
        "for _ in range(3):\n"
        "    y = tf.zeros([4, 2]) + mystery()\n"
    )
    assert dev.main(["dump-model", str(path)]) == 0
    out = capsys.readouterr().out
    assert "4:22 call tf.data.Dataset.range: tf.data.Dataset.range" in out
    assert "4:1 ds = Dataset(source='tf.data.Dataset.range'" in out
    assert "steps=(batch)" in out
    assert "shape=(4, 2), " in out and "bytes=32" in out
    assert "in the loop of line 5" in out
    assert "6:5 y = " in out
    assert "unknown (" in out
    assert "initialises the runtime" in out
    assert "after the runtime is certainly initialised, in line 4" in out
    assert re.search(r"^\d+ nodes; \d+ evaluations of at most \d+$", out, re.MULTILINE)


def test_dump_model_ends_quietly_when_nobody_reads_on(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("import tensorflow as tf\n" + "x = tf.zeros(3)\n" * 500)
    command = [sys.executable, "-m", "tfmemlint.dev", "dump-model", str(tmp_path / "a.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stderr is not None
        assert running.stdout.readline().startswith("2:")
        running.stdout.close()
        assert running.stderr.read() == ""
    assert running.returncode == 0


def test_dump_model_names_the_line_that_does_not_parse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "program.py"
    path.write_text("import tensorflow as tf\nx = (\n")
    assert dev.main(["dump-model", str(path)]) == 2
    assert f"{path}:2:" in capsys.readouterr().err


def test_docs_check_changes_nothing_and_names_stale_pages(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "rules"
    assert dev.main(["docs", "--out", str(out)]) == 0
    assert dev.main(["docs", "--out", str(out), "--check"]) == 0
    (out / "TFM305.md").write_text("old")
    (out / "TFM999.md").write_text("a rule that is gone")
    capsys.readouterr()
    assert dev.main(["docs", "--out", str(out), "--check"]) == 1
    assert [line.split(":")[0] for line in capsys.readouterr().out.splitlines()] == [
        str(out / "TFM305.md"),
        str(out / "TFM999.md"),
    ]
    assert (out / "TFM305.md").read_text() == "old"
    dev.main(["docs", "--out", str(out)])
    assert not (out / "TFM999.md").exists()


def test_page_shows_what_was_measured() -> None:
    rule = next(rule for rule in load_rules() if rule.code == "TFM305")
    figures = {"metric": "peak_bytes", "unit": "bytes", "before": 333447168, "after": 26214400, "ratio": 12.72}
    evidence = {"versions": {"TensorFlow": "2.21.0"}, "device": "CPU", "rules": {"TFM305": figures}}
    figures["verdict"] = "confirmed"
    material = Material(evidence=evidence, programs={"TFM305": "A cache of ten epochs."})
    text = page(rule, material)
    assert "without it. The one with it: a cache of ten epochs.\n\n| measured" in text
    assert "| 318 MiB | 25 MiB | 12.7x | confirmed |" in text
    assert "TensorFlow 2.21.0, CPU" in text
    raised = {"metric": "error", "unit": "", "before": 1, "after": 0, "ratio": None, "verdict": "confirmed"}
    evidence["rules"] = {"TFM305": {**raised, "reason": "it raises ValueError"}}
    text = page(rule, material)
    assert "| error | yes | no | - | confirmed |" in text
    assert "\nit raises ValueError.\n" in text
    assert "--device gpu" not in text
    card = {**figures, "before": 333447168 * 2, "ratio": 25.4, "reason": "in the machine's own memory"}
    evidence["gpu"] = {"versions": {"TensorFlow": "2.22.0"}, "device": "A card", "rules": {"TFM305": card}}
    text = page(rule, material)
    assert "| a CPU | error | yes | no | - | confirmed |\n| a GPU | peak of tensors | 636 MiB |" in text
    assert "\nit raises ValueError.\n\nOn a GPU: in the machine's own memory.\n" in text
    assert "TensorFlow 2.22.0, A card; `tfmemlint verify --rules TFM305 --device gpu`" in text
    del evidence["rules"]
    assert "| a GPU | peak" in page(rule, material) and "| a CPU |" not in page(rule, material)
    assert "## Measured" not in page(rule, Material())
