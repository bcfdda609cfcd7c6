"""What one element of a pipeline is and how many there are, step by step."""

import pytest
from programs import model_of, shown_in, value_in

from tfmemlint.model.transfer.table import structure_bytes
from tfmemlint.model.values import Dataset

SETUP = """
x = np.zeros((100, 8), np.float32)
y = np.zeros((100,), np.int64)
r = tf.data.Dataset.range(10)
s = tf.data.Dataset.from_tensor_slices((x, y))
D = tf.data.Dataset
"""

SOURCES = [
    ("D.range(10)", "range -> tf int64 () x 10"), ("D.range(2, 10, 3)", "range -> tf int64 () x 3"),
    ("D.from_tensor_slices(x)", "from_tensor_slices -> tf float32 (8) x 100"),
    ("s", "from_tensor_slices -> (tf float32 (8), tf int64 ()) x 100"),
    ("D.from_tensor_slices({'a': x, 'b': y})", "from_tensor_slices -> {a: tf float32 (8), b: tf int64 ()} x 100"),
    ("D.from_tensor_slices(({'a': x}, y))", "from_tensor_slices -> ({a: tf float32 (8)}, tf int64 ()) x 100"),
    ("D.from_tensor_slices([1, 2, 3])", "from_tensor_slices -> tf int32 () x 3"),
    ("D.from_tensor_slices(unknown)", "from_tensor_slices -> ?"),
    ("D.from_tensors(x)", "from_tensors -> tf float32 (100, 8) x 1"),
    ("D.list_files('*')", "list_files -> tf string ()"),
    ("tf.data.TFRecordDataset('f')", "TFRecordDataset -> tf string ()"),
    ("D.from_generator(g, output_signature=tf.TensorSpec((4,), tf.float32))", "from_generator -> tf float32 (4)"),
    ("D.from_generator(g, output_types=tf.int32)", "from_generator -> tf int32 ..."),
    ("keras.utils.image_dataset_from_directory('d', image_size=(9, 9))",
     "image_dataset_from_directory -> (tf float32 (32, 9, 9, 3), tf int32 (32))"),
    ("keras.utils.image_dataset_from_directory('d', batch_size=None, label_mode=None)",
     "image_dataset_from_directory -> tf float32 (256, 256, 3)"),
    ("keras.utils.timeseries_dataset_from_array(x, y, 5)", "timeseries_dataset_from_array -> ?"),
    ("tfds.load('own', split='train')", "load -> ?"), ("tfds.load('own', split=['a', 'b'])[1]", "load -> ?"),
    ("tfds.load('mnist', split='train')", "load -> {image: tf uint8 (28, 28, 1), label: tf int64 ()} x 60000"),
    ("tfds.load('mnist', 'train')", "load -> {image: tf uint8 (28, 28, 1), label: tf int64 ()} x 60000"),
    ("tfds.load('mnist:3.*.*', as_supervised=True)['test']", "load -> (tf uint8 (28, 28, 1), tf int64 ()) x 10000"),
    ("tfds.load(name='mnist', split=['train[:80%]', 'test'], as_supervised=True)[0]",
     "load -> (tf uint8 (28, 28, 1), tf int64 ())"),
    ("tfds.load('mnist', split=['train[:80%]', 'test'], as_supervised=True)[1]",
     "load -> (tf uint8 (28, 28, 1), tf int64 ()) x 10000"),
    ("tfds.builder('cifar10').as_dataset(split='test', as_supervised=True)",
     "load -> (tf uint8 (32, 32, 3), tf int64 ()) x 10000"),
    ("tfds.load('cats_vs_dogs', split='train', as_supervised=True).map(lambda i, l: tf.image.resize(i, (9, 9)))",
     "load map -> tf float32 (9, 9, 3) x 23262"),
    ("tfds.load('eurosat/all', split='train')", "load -> ?"), ("tfds.load(name, split='train')", "load -> ?"),
    ("tfds.load('mnist', split='train', as_supervised=flag)", "load -> ? x 60000"),
    ("tfds.load('mnist', split='train', batch_size=-1)", "load -> ?"),
    ("tf.data.experimental.make_csv_dataset('f', 8)", "make_csv_dataset -> ?"),
    ("unknown.map(f, num_parallel_calls=tf.data.AUTOTUNE)", "? map -> ?"), ("unknown.map(f)", "?"),
]  # fmt: skip

FEATURES = """
F = {"image": tf.io.FixedLenFeature([9, 9], tf.float32), "label": tf.io.FixedLenFeature((), tf.int64),
     "words": tf.io.FixedLenSequenceFeature([2], tf.int64, allow_missing=True), "tags": tf.io.VarLenFeature(tf.int64)}
T = tf.data.TFRecordDataset("f")
"""

RECORDS = [
    (f"{FEATURES}{program}", expected) for program, expected in (
        ("T.map(lambda r: tf.io.parse_single_example(r, F))",
         "TFRecordDataset map -> {image: tf float32 (9, 9), label: tf int64 (), words: tf int64 (?, 2), tags: ?}"),
        ("def f(r):\n    p = tf.io.parse_single_example(serialized=r, features=F)\n    return p['image'], p['label']\n"
         "T.map(f).batch(4)", "TFRecordDataset map batch -> (tf float32 (4, 9, 9), tf int64 (4))"),
        ("T.batch(4).map(lambda r: tf.io.parse_example(r, F)['image'])",
         "TFRecordDataset batch map -> tf float32 (4, 9, 9)"),
        ("T.batch(4).map(lambda r: tf.io.parse_example(r, F)['words'])",
         "TFRecordDataset batch map -> tf int64 (4, ?, 2)"),
        ("T.batch(n).map(lambda r: tf.io.parse_example(r, F)['image'])",
         "TFRecordDataset batch map -> tf float32 (?, 9, 9)"),
        ("T.map(lambda r: tf.io.parse_single_sequence_example(r, {'a': F['image']}, {'b': F['words']}))",
         "TFRecordDataset map -> ({a: tf float32 (9, 9)}, {b: tf int64 (?, 2)})"),
        ("T.map(lambda r: tf.io.parse_single_example(r, features))", "TFRecordDataset map -> ?"),
        ("T.map(lambda r: tf.io.decode_raw(r, tf.uint8))", "TFRecordDataset map -> tf uint8 (?)"),
        ("T.map(lambda r: tf.reshape(tf.io.decode_raw(r, tf.uint8), [9, 9]))",
         "TFRecordDataset map -> tf uint8 (9, 9)"),
        ("T.map(lambda r: tf.ensure_shape(tf.io.decode_image(r), [9, 9, 3]))",
         "TFRecordDataset map -> tf uint8 (9, 9, 3)"),
        ("T.map(lambda r: tf.ensure_shape(tf.io.decode_jpeg(r, 3), [None, 9, None]))",
         "TFRecordDataset map -> tf uint8 (?, 9, 3)"),
    )
]  # fmt: skip

STEPS = [
    ("r.batch(4)", "range batch -> tf int64 (4) x 3"),
    ("r.batch(4, drop_remainder=True)", "range batch -> tf int64 (4) x 2"),
    ("r.batch(n)", "range batch -> tf int64 (?)"),
    ("s.batch(5).unbatch()", "from_tensor_slices batch unbatch -> (tf float32 (8), tf int64 ())"),
    ("r.take(3)", "range take -> tf int64 () x 3"), ("r.skip(3)", "range skip -> tf int64 () x 7"),
    ("r.take(-1)", "range take -> tf int64 () x 10"), ("r.repeat(2)", "range repeat -> tf int64 () x 20"),
    ("r.repeat()", "range repeat -> tf int64 ()"), ("r.shuffle(4)", "range shuffle -> tf int64 () x 10"),
    ("r.cache().prefetch(1)", "range cache prefetch -> tf int64 () x 10"),
    ("r.filter(f)", "range filter -> tf int64 ()"),
    ("r.enumerate()", "range enumerate -> (tf int64 (), tf int64 ()) x 10"),
    ("r.shard(2, 0)", "range shard -> tf int64 ()"),
    ("r.padded_batch(2)", "range padded_batch -> tf int64 (2) x 5"),
    ("s.padded_batch(2)", "from_tensor_slices padded_batch -> (tf float32 (2, ?), tf int64 (2)) x 50"),
    ("r.window(3)", "range window -> ?"),
    ("r.map(lambda v: tf.cast(v, tf.float32))", "range map -> tf float32 () x 10"),
    ("r.map(lambda v: (v, v))", "range map -> (tf int64 (), tf int64 ()) x 10"),
    ("r.map(unknown)", "range map -> ? x 10"),
    *RECORDS,
    ("s.map(lambda a, b: a)", "from_tensor_slices map -> tf float32 (8) x 100"),
    ("s.map(lambda a, b: {'a': a})", "from_tensor_slices map -> {a: tf float32 (8)} x 100"),
    ("def f(a, b):\n    return tf.expand_dims(a, 0), b\ns.map(f)", "from_tensor_slices map -> (tf float32 (1, 8), tf int64 ()) x 100"),  # noqa: E501
    ("import functools\ndef f(n, a, b):\n    return tf.reshape(a, [n, -1])\ns.map(functools.partial(f, 4))", "from_tensor_slices map -> tf float32 (4, 2) x 100"),  # noqa: E501
    ("s.apply(lambda d: d.batch(4))", "from_tensor_slices batch -> (tf float32 (4, 8), tf int64 (4)) x 25"),
    ("r.apply(unknown)", "range apply -> ?"),
    ("D.zip((r, s))", "zip -> (tf int64 (), (tf float32 (8), tf int64 ())) x 10"),
    ("D.zip((r, r)).batch(2)", "zip batch -> (tf int64 (2), tf int64 (2)) x 5"),
    ("r.concatenate(r)", "concatenate -> tf int64 () x 20"),
    ("D.sample_from_datasets([r, r])", "sample_from_datasets -> tf int64 ()"),
    ("D.list_files('*').interleave(tf.data.TFRecordDataset)", "list_files interleave -> tf string ()"),
    ("r.flat_map(lambda v: D.range(5))", "range flat_map -> tf int64 ()"),
    ("for v in r.batch(2):\n    probe(v)", "tf int64 (2)"),
    ("for a, b in s:\n    probe(a)", "tf float32 (8)"),
    ("for i, (a, b) in s.enumerate():\n    probe(b)", "tf int64 ()"),
    ("for i, (a, b) in enumerate(s):\n    probe(a)", "tf float32 (8)"),
    ("next(iter(s.batch(4)))", "(tf float32 (4, 8), tf int64 (4))"),
    ("for v in r.as_numpy_iterator():\n    probe(v)", "np int64 ()"),
    ("len(r)", "len 10"),
    ("r.cardinality()", "len 10"), ("r.cardinality().numpy()", "len 10"),
    ("tf.data.experimental.cardinality(r).numpy()", "len 10"),
    ("ds = r\nds = ds.map(abs)\nds = ds.batch(2)\nds", "range map batch -> ? x 5"), ("(r if flag else s).batch(2)",
     "from_tensor_slices batch -> (tf float32 (2, 8), tf int64 (2)) x 50 | range batch -> tf int64 (2) x 5"),
]  # fmt: skip

LISTED = """
parts = []
for name in names:
    parts.append(tf.data.TextLineDataset(name).map(lambda v: tf.cast(v, tf.int32)))
"""

LISTS = [
    (f"{LISTED}{program}", expected) for program, expected in (
        ("parts[0]", "TextLineDataset map -> tf int32 ()"),
        ("parts[1:]", "comprehension of TextLineDataset map -> tf int32 ()"),
        ("for part in parts:\n    probe(part)", "TextLineDataset map -> tf int32 ()"),
        ("a = parts[0]\nfor b in parts[1:]:\n    a = a.concatenate(b)\n    probe(a)", "concatenate -> tf int32 ()"),
        ("a = None\nfor b in parts:\n    a = b if a is None else a.concatenate(b)\n    probe(a)",
         "TextLineDataset map -> tf int32 () | concatenate -> tf int32 ()"),
        ("a = r\nfor b in [r, r]:\n    a = a.concatenate(b)\n    probe(a)", "concatenate -> tf int64 ()"),
        ("a = r\nfor b in parts:\n    a = a.concatenate(unknown(a))\n    probe(a)", "? -> ?"),
        ("D.sample_from_datasets(parts)", "sample_from_datasets -> tf int32 ()"),
        ("D.choose_from_datasets([*parts], r)", "? -> ?"),
        ("D.zip(tuple(parts))", "zip -> ?"),
        ("import functools\nfunctools.reduce(lambda a, b: a.concatenate(b), parts)", "concatenate -> tf int32 ()"),
        ("import functools\nfunctools.reduce(D.concatenate, [r, r], r)", "concatenate -> tf int64 () x 30"),
        ("import functools\nfunctools.reduce(unknown, parts)", "?"),
        ("parts.append(unknown)\nparts[0]", "?"),
        ("parts.extend(unknown)\nparts[0]", "?"),
        ("def more():\n    parts.append(r)\nparts[0]", "?"),
    )
]  # fmt: skip

BYTES = [
    ("s", 40), ("s.batch(10)", 400), ("r.map(unknown)", None), ("r.batch(n)", None),
    ("keras.utils.image_dataset_from_directory('d', label_mode=None)", 32 * 256 * 256 * 3 * 4),
]  # fmt: skip


@pytest.mark.parametrize(("program", "expected"), [*SOURCES, *STEPS, *LISTS])
def test_elements_and_counts(program: str, expected: str) -> None:
    assert shown_in(SETUP + program) == expected


@pytest.mark.parametrize(("program", "expected"), BYTES)
def test_bytes_of_an_element(program: str, expected: int | None) -> None:
    value = value_in(model_of(SETUP + program))
    assert isinstance(value, Dataset)
    assert structure_bytes(value.element) == expected
