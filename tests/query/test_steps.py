"""Which steps a pipeline took before a call, what makes its batches, and what all of it weighs."""

from __future__ import annotations

import pytest
from programs import model_of, value_in

from tfmemlint.model.calls import Call
from tfmemlint.model.file import File
from tfmemlint.query.pipelines import pipelines
from tfmemlint.query.pipelines.sequences import makes_sequences

START = """
a = tf.data.Dataset.from_tensor_slices(np.zeros((100, 8), np.float32))
r = tf.data.TFRecordDataset("r")
"""


def last_step(program: str) -> tuple[File, Call]:
    """The outermost call of the program's last statement."""
    file = model_of(START + program)
    calls = [file.call(node) for word in ("shuffle", "cache", "prefetch") for node in file.calls_by_word.get(word, ())]
    return file, max(calls, key=lambda call: file.tree.order(call.name_node))


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a.batch(2).shuffle(3)", "a.batch(2)"),
        ("a.batch(2).map(f).padded_batch(3).shuffle(3)", "a.batch(2).map(f).padded_batch(3)"),
        ("a.map(f).shuffle(3)", None),
        ("d = a.batch(2) if c else a\nd.shuffle(3)", None),
        ("d = a.batch(2) if c else a.repeat().batch(4)\nd.shuffle(3)", "a.repeat().batch(4)"),
        ("unknown.batch(2).shuffle(3)", None),
    ],
)
def test_the_last_step_that_every_pipeline_took(program: str, expected: str | None) -> None:
    file, call = last_step(program)
    step = pipelines.last_before(call, "batch", "padded_batch")
    assert (file.text(step.call.node) if step and step.call else None) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a.batch(2).shuffle(3)", ""),
        ("a.batch(2).map(f).cache().shuffle(3)", "map cache"),
        ("a.map(f).batch(2).repeat().batch(4).map(g).shuffle(3)", "map"),
    ],
)
def test_the_steps_between(program: str, expected: str) -> None:
    _, call = last_step(program)
    between = pipelines.steps_between(call, pipelines.last_before(call, "batch"))
    assert " ".join(step.name for step in between) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a.batch(2).shuffle(3)", "a.batch(2)"),
        ("a.batch(2).map(f).shuffle(3)", "a.batch(2)"),
        ("a.batch(2).unbatch().shuffle(3)", None),
        ("a.shuffle(3)", None),
        (
            "keras.utils.image_dataset_from_directory('d').map(f).shuffle(3)",
            "keras.utils.image_dataset_from_directory('d')",
        ),
        ("keras.utils.image_dataset_from_directory('d', batch_size=None).shuffle(3)", None),
    ],
)
def test_what_makes_the_batches(program: str, expected: str | None) -> None:
    file, call = last_step(program)
    batch = pipelines.batched_before(call)
    assert (file.text(batch.node) if batch is not None else None) == expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("if c:\n    a = a.repeat()\na = a.cache()", True),
        ("a = a.repeat()\nif c:\n    a = a.cache()", False),
        ("if c:\n    a = a.repeat()\n    a = a.cache()", True),
        ("def f(d):\n    return d.cache()\nf(a.repeat())", False),
    ],
)
def test_what_decides_about_the_call_decides_about_the_step(program: str, expected: bool) -> None:
    file, call = last_step(program)
    steps = [step for ds in call.datasets() for step in ds.steps if step.name == "repeat"]
    assert pipelines.surely_together(file, steps[0], call) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a.cache()", True),
        ("a.cache('')", True),
        ("a.cache('file')", False),
        ("a.cache(name)", False),
        ("a.cache(*options)", False),
    ],
)
def test_caches_in_memory(program: str, expected: bool) -> None:
    assert pipelines.caches_in_memory(last_step(program)[1]) is expected


@pytest.mark.parametrize(
    ("program", "element", "together"),
    [
        ("a.cache()", 32, 3200),
        ("a.batch(50).cache()", 1600, 3200),
        ("a.repeat().cache()", 32, None),
        ("r.cache()", None, None),
        ("d = a.take(5) if c else a.take(7)\nd.cache()", 32, None),
        ("d = a.batch(5) if c else a\nd.cache()", None, 3200),
    ],
)
def test_bytes_that_all_pipelines_share(program: str, element: int | None, together: int | None) -> None:
    datasets = last_step(program)[1].datasets()
    assert (pipelines.element_bytes(datasets), pipelines.all_bytes(datasets)) == (element, together)


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("keras.utils.image_dataset_from_directory('d').cache()", True),
        ("r.map(tf.io.decode_jpeg).cache()", True),
        ("r.cache()", False),
        ("a.map(tf.io.decode_jpeg).cache()", False),
        ("a.map(lambda p: tf.io.decode_jpeg(tf.io.read_file(p))).cache()", True),
    ],
)
def test_decoded_from_files(program: str, expected: bool) -> None:
    (ds,) = last_step(program)[1].datasets()
    assert pipelines.decoded_from_files(ds) is expected


@pytest.mark.parametrize(
    ("program", "count"), [("a", 1), ("a if c else r", 2), ("a if c else None", 0), ("unknown", 0), ("(a, r)", 0)]
)
def test_a_value_is_a_pipeline_in_all_its_alternatives(program: str, count: int) -> None:
    assert len(pipelines.pipelines_of(value_in(model_of(START + program)))) == count


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("tf.data.Dataset.range(9).batch(3, drop_remainder=True).shuffle(2)", True),
        ("tf.data.Dataset.range(9).batch(3).shuffle(2)", False),
        ("a.batch(3, drop_remainder=True).shuffle(2)", True),
        ("a.batch(3).map(f).shuffle(2)", False),
        ("tf.data.Dataset.zip((a, a)).batch(3, drop_remainder=True).map(f).shuffle(2)", False),
        ("r.batch(3).map(f).shuffle(2)", True),
        ("sequence_len = 3\ntf.data.Dataset.zip((a, a)).batch(sequence_len).map(f).shuffle(2)", True),
        ("sequence_len = 3\ntf.data.Dataset.zip((a, a)).batch(sequence_len).shuffle(2)", False),
        ("size = 3\ntf.data.Dataset.zip((a, a)).batch(size).map(f).shuffle(2)", False),
    ],
)
def test_batches_that_may_be_sequences(program: str, expected: bool) -> None:
    _, call = last_step(program)
    step = pipelines.last_before(call, "batch")
    assert step is not None and step.call is not None
    assert makes_sequences(step.call, pipelines.steps_between(call, step)) is expected


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        ("a.repeat(2).repeat(3).cache()", "a.repeat(2).repeat(3)"),
        ("if c:\n    a = a.repeat()\na = a.cache()", "a.repeat()"),
        ("a = a.repeat()\nif c:\n    a = a.cache()", "a.repeat()"),
        ("if c:\n    a = a.repeat()\nif d:\n    a = a.cache()", None),
        ("a.cache()", None),
    ],
)
def test_steps_that_some_run_surely_takes(program: str, expected: str | None) -> None:
    file, call = last_step(program)
    found = pipelines.surely_before(file, call, "repeat")
    assert (file.text(found.call.node) if found is not None and found.call is not None else None) == expected


@pytest.mark.parametrize(
    ("size", "expected"),
    [("2", True), ("tf.data.AUTOTUNE", True), ("1000", False), ("unknown", False)],
)
def test_prefetches_of_few_elements(size: str, expected: bool) -> None:
    _, call = last_step(f"a.prefetch({size})")
    assert pipelines.buffers_few(call) is expected
