"""Parameters that nobody passes: what is made up for them, what is asked for, and how their sizes are held against
others."""

from __future__ import annotations

import re
import textwrap

import libcst as cst
import pytest
from test_plan import planned

from tfmemlint.config.settings import Config
from tfmemlint.finding import Edit, Finding, Fix, Safety, Severity, Shows, Span
from tfmemlint.model.file import File
from tfmemlint.text.read import read_source
from tfmemlint.verify.plan.from_finding import plan_alone
from tfmemlint.verify.plan.solving import FULL, SMALL, TINY
from tfmemlint.verify.plan.templates import Plan


def solved(body: str, old: str, parameters: str) -> Plan:
    """The plan for `old` in a function of these parameters that nothing calls."""
    lines = "".join(f"    {line}\n" for line in body.split("\n"))
    return planned(f"import tensorflow as tf\ndef f({parameters}):\n{lines}", old, "None")


def shapes(plan: Plan) -> dict[str, tuple[str, ...]]:
    """The dtype and the sizes of what is made up, by parameter."""
    found = re.findall(r'(\w+)=tfmemlint_\w+\("(\w+)", \(([\d, ]*)\)\)', plan.pair.before.source)
    return {name: (dtype, *(size for size in sizes.split(", ") if size)) for name, dtype, sizes in found}


def sizes(plan: Plan, name: str) -> list[int]:
    return [int(size.rstrip(",")) for size in shapes(plan)[name][1:]]


def asked_for(text: str, old: str) -> str:
    return planned(text, old, "None").guessed


class TestRanks:
    @pytest.mark.parametrize(
        ("body", "ranks"),
        [
            ("return x * tf.tile(y[:, None], [1, x.shape[1]])", (2, 1)),
            ("return x * tf.tile(y[:, :, None], [1, 1, x.shape[2]])", (3, 2)),
            ("return tf.concat([x, tf.transpose(y, [0, 2, 1])], axis=-1)", (3, 3)),
            ("return tf.matmul(x, y[..., 0], transpose_b=True)", (2, 3)),
            ("b, h, w, c = x.shape\nreturn tf.reshape(x, [b, h * w, c]) + y[:, :, 0, 0]", (4, 4)),
            ("return tf.einsum('bij,bkj->bik', x, y)", (3, 3)),
            ("return tf.nn.conv2d(x, tf.ones([3, 3, 1, 8]), 1, 'SAME') + tf.reduce_sum(y, axis=[1, 2, 3])", (4, 4)),
            ("return tf.squeeze(tf.repeat(tf.expand_dims(x, 0), tf.shape(y)[0], axis=0) @ y[:, None], 1)", (1, 1)),
        ],
    )
    def test_the_use_decides_the_number_of_axes(self, body: str, ranks: tuple[int, int]) -> None:
        plan = solved(body, body.rpartition("return ")[2], "x, y")
        assert (len(sizes(plan, "x")), len(sizes(plan, "y"))) == ranks

    def test_sizes_that_must_be_equal_are_one_number_and_others_are_not(self) -> None:
        plan = solved(
            "return tf.matmul(q, k, transpose_b=True) @ v", "tf.matmul(q, k, transpose_b=True) @ v", "q, k, v"
        )
        (rows, width), (keys, same), (again, features) = (sizes(plan, name) for name in "qkv")
        assert (width, keys) == (same, again)
        assert len({rows, width, keys, features}) == 4

    def test_indices_are_integers_and_conditions_are_not_numbers(self) -> None:
        plan = solved("return tf.where(m, tf.gather(t, i), 0.0)", "tf.gather(t, i)", "t, i, m")
        assert [shapes(plan)[name][0] for name in "tim"] == ["float32", "int32", "bool"]

    def test_what_is_compared_with_whole_numbers_is_whole_numbers(self) -> None:
        plan = solved("return tf.equal(x[:, None], tf.range(x.shape[0]))", "x[:, None]", "x")
        assert shapes(plan)["x"][0] == "int32"

    def test_a_number_that_sizes_are_made_of_is_a_number(self) -> None:
        plan = solved("return tf.one_hot(y, n) + tf.zeros([n])", "tf.one_hot(y, n)", "y, n")
        (given,) = re.findall(r"n=(\d+)", plan.pair.before.source.splitlines()[-1])
        assert f"n of f is made up as {given}: it is used as a size" in plan.pair.replaced

    def test_what_a_constructor_keeps_and_nothing_reads_is_not_needed(self) -> None:
        text = """
            import tensorflow as tf
            class Gate(tf.keras.layers.Layer):
                def __init__(self, title, units):
                    super().__init__()
                    self.title = title
                    self.dense = tf.keras.layers.Dense(units)
                def call(self, x):
                    return self.dense(tf.reduce_sum(x, axis=[1, 2]))
        """
        plan = planned(text, "tf.reduce_sum(x, axis=[1, 2])", "None")
        assert "title of __init__ is None: nothing reads it here" in plan.pair.replaced
        assert "Gate(title=None, units=" in plan.pair.before.source
        assert len(sizes(plan, "x")) == 4

    def test_the_notes_name_what_is_made_up(self) -> None:
        plan = solved("return tf.reduce_sum(x[:, :, 0])", "x[:, :, 0]", "x")
        made = ",".join(map(str, sizes(plan, "x")))
        assert plan.pair.replaced == (f"x of f is made up as float32[{made}]: its rank from its use",)


class TestSizes:
    BODY = "wide = tf.tile(y[:, None], [1, x.shape[1]])\nreturn x * wide"

    def test_the_flagged_tensor_has_its_bytes_and_fewer_in_the_second_plan(self) -> None:
        plan = solved(self.BODY, "tf.tile(y[:, None], [1, x.shape[1]])", "x, y")
        assert plan.smaller is not None
        less = plan.smaller()
        assert less.smaller is not None
        least = less.smaller()
        for each, target in ((plan, FULL), (less, SMALL), (least, TINY)):
            rows, columns = sizes(each, "x")
            assert target <= rows * columns * 4 < 2 * target
            assert sizes(each, "y") == [rows]
        assert least.smaller is None

    def test_a_plan_that_makes_nothing_up_has_one_size(self) -> None:
        assert planned("import tensorflow as tf\nx = tf.ones(3)\n", "tf.ones(3)", "None").smaller is None


class TestAlone:
    TEXT = """
        import tensorflow as tf
        def train(model, mask, x):
            hidden = tf.expand_dims(mask, 2)
            wide = tf.tile(hidden, [1, 1, 64])
            model.fit(x * wide)
    """

    def alone(self, old: str, new: str) -> Plan:
        text = textwrap.dedent(self.TEXT).lstrip("\n")
        source = read_source(text.encode(), "train.py")
        start = source.text.index(old)
        fix = Fix("", (Edit(start, start + len(old), new),), Safety.SAFE)
        finding = Finding("TFM703", "name", Severity.WARNING, "", Span(start, start + len(old)), None, (), fix)
        return plan_alone(finding, File(source, cst.parse_module(source.text), Config()), None, {})

    def test_what_a_statement_reads_of_parameters_is_made_up_where_the_function_cannot_be_called(self) -> None:
        plan = self.alone("tf.tile(hidden, [1, 1, 64])", "hidden")
        made = re.search(r"hidden = tfmemlint_tensor\(.*, \((\d+), (\d+), 1\)\)", plan.pair.before.source)
        assert made is not None
        rows, columns = map(int, made.groups())
        assert rows * columns * 64 * 4 >= FULL
        assert "model" not in plan.pair.before.source
        assert plan.smaller is not None and plan.smaller().pair.before.source != plan.pair.before.source

    def test_comments_are_no_block_where_the_repair_leaves_nothing_else(self) -> None:
        self.TEXT = """
            import tensorflow as tf
            def train(model, mask):
                # What is left of this block
                tf.tile(tf.expand_dims(mask, 2), [1, 1, 64])
        """
        after = self.alone("tf.tile(tf.expand_dims(mask, 2), [1, 1, 64])", "").pair.after
        assert after is not None
        compile(after.source, "program.py", "exec")


class TestAsking:
    def test_all_missing_parameters_are_named_at_once_with_values_that_fit(self) -> None:
        text = """
            import tensorflow as tf
            def train(data_dir, epochs, images, learning_rate, is_training, config):
                print(config["rows"], data_dir, epochs, learning_rate, is_training)
                return images
        """
        assert asked_for(text, "return images") == (
            "parameters data_dir, epochs, images, learning_rate, is_training and config of train are not known; say "
            'what they are in a comment: # tfmemlint: example data_dir="folder" epochs=2 images=float32[32,224,224,3] '
            'learning_rate=0.1 is_training=True config={"rows": 10}'
        )

    def test_an_object_cannot_be_told_in_a_comment(self) -> None:
        text = """
            import tensorflow as tf
            def train(world, images):
                return world.seen(tf.cast(images, "float32"))
        """
        assert asked_for(text, "world.seen(") == (
            "parameter world of train is not known, and no comment can give world: add a call of train to the file"
        )

    def test_text_is_no_array(self) -> None:
        text = """
            import tensorflow as tf
            def load(place):
                return tf.io.decode_png(tf.io.read_file(place))
        """
        assert asked_for(text, "return tf").endswith('# tfmemlint: example place="text"')

    def test_a_default_is_used_and_not_asked_for(self) -> None:
        plan = solved("return tf.nn.dropout(x[:, 0], rate)", "x[:, 0]", "x, rate=0.5, training=None")
        assert "rate=" not in plan.pair.before.source.splitlines()[-1]


class TestStandIns:
    TEXT = """
        import tensorflow as tf
        def trained(model, test, optimizer, loss_fn, strategy, writer, args, rate):
            with strategy.scope():
                model.compile(optimizer, loss_fn)
            kept = []
            for images, labels in test:
                kept.append(loss_fn(labels, model(images)))
                writer.scalar(args.log_dir, rate)
                optimizer.apply_gradients([])
            return kept
    """

    def given(self, text: str, old: str) -> dict[str, str]:
        """What stands in for each parameter."""
        (call,) = cst.parse_module(planned(text, old, "None").pair.before.source).body[-1].body
        inner = call.value.args[0].value
        return {arg.keyword.value: cst.Module([]).code_for_node(arg.value) for arg in inner.args}

    def test_the_use_and_the_name_tell_the_role(self) -> None:
        assert self.given(self.TEXT, "kept.append(loss_fn(labels, model(images)))") == {
            "model": 'tfmemlint_model("model", (10,))',
            "test": 'tfmemlint_dataset([("float32", (32, 128, 128, 3)), ("float32", (32, 10))], 64)',
            "optimizer": 'tfmemlint_optimizer("optimizer")',
            "loss_fn": 'tfmemlint_loss("loss_fn")',
            "strategy": 'tfmemlint_strategy("strategy")',
            "writer": 'tfmemlint_thing("writer")',
            "args": 'tfmemlint_settings("args")',
            "rate": "0.1",
        }

    def test_what_a_model_gives_fits_what_it_is_compared_with(self) -> None:
        plan = solved("wide = z - model(x)\nreturn tf.tile(z, [1, 1]) * wide", "tf.tile(z, [1, 1])", "model, x, z")
        (width,) = re.findall(r'tfmemlint_model\("model", \((\d+),\)\)', plan.pair.before.source)
        assert int(width) == sizes(plan, "z")[1] != 10

    def test_attributes_of_an_object_have_the_axes_that_their_use_needs(self) -> None:
        text = """
            import tensorflow as tf
            def weighted(cloud):
                mask = cloud.grid._radii > 0
                return tf.where(mask, cloud._points[:, 0], 0.0) * tf.tile(cloud.grid._radii, [2])
        """
        plan = planned(text, "tf.tile(cloud.grid._radii, [2])", "None")
        given = re.search(
            r'thing\("cloud", grid=tfmemlint_thing\("cloud.grid", _radii=tfmemlint_tensor\("float32", \(\d+,\)\)\), '
            r'_points=tfmemlint_tensor\("float32", \(\d+, \d+\)\)\)',
            plan.pair.before.source,
        )
        assert given is not None
        assert "cloud of weighted is made up as an object" in plan.pair.replaced

    def test_data_and_its_labels_have_as_many_rows(self) -> None:
        rows = "return tf.data.Dataset.from_tensor_slices((images, labels)).batch(batch_size)"
        plan = solved(rows, ".batch(batch_size)", "images, labels, batch_size")
        assert sizes(plan, "images")[0] == sizes(plan, "labels")[0] > 1000
        assert plan.pair.before.source.rstrip().endswith("batch_size=32))")
        assert "batch_size of f is made up as 32: nothing in the project passes it" in plan.pair.replaced

    def test_what_is_compared_is_one_of_the_texts(self) -> None:
        plan = solved("if kind == 'wide':\n    return tf.ones([9])", "tf.ones([9])", "kind")
        assert "f(kind='wide')" in plan.pair.before.source

    def test_a_call_that_needs_a_number_comes_before_one_that_needs_a_model(self) -> None:
        text = """
            import tensorflow as tf
            def main(epochs):
                train(tf.keras.Sequential([tf.keras.layers.Dense(1)]), epochs)
            def train(model, epochs):
                for epoch in range(epochs):
                    model(tf.ones([9, 1]))
        """
        source = planned(text, "tf.ones([9, 1])", "None").pair.before.source
        assert source.rstrip().endswith("tfmemlint_consume(main(epochs=2))")

    def test_the_options_of_the_command_line_have_their_defaults(self) -> None:
        text = """
            import argparse
            import tensorflow as tf
            def train(args):
                return tf.ones([args.rows])
            def parsed():
                parser = argparse.ArgumentParser()
                parser.add_argument("--rows", default=7)
        """
        assert self.given(text, "tf.ones([args.rows])") == {"args": 'tfmemlint_settings("args", rows=7)'}

    def test_settings_have_texts_that_they_are_compared_with(self) -> None:
        text = """
            import tensorflow as tf
            def train(args):
                if args.name == "wide" or args["mode"] in ("all", "some"):
                    return tf.ones([9])
        """
        assert self.given(text, "tf.ones([9])") == {"args": "tfmemlint_settings(\"args\", name='wide', mode='all')"}

    def test_a_number_by_its_name_is_one_where_any_array_would_do(self) -> None:
        plan = solved("return tf.tile(x, [1, 2]) > threshold", "tf.tile(x, [1, 2])", "x, threshold")
        assert "threshold=0.1))" in plan.pair.before.source
        assert "threshold of f is made up as 0.1: nothing in the project passes it" in plan.pair.replaced

    def test_what_is_taken_by_keys_is_a_dictionary(self) -> None:
        body = "x, y = batch['x'], batch['y']\nreturn x * tf.tile(y[:, None], [1, x.shape[1]])"
        plan = solved(body, "x * tf.tile(y[:, None], [1, x.shape[1]])", "batch")
        found = re.search(r'x\'.*"float32", \((\d+), \d+\).*y\'.*"float32", \((\d+),\)', plan.pair.before.source)
        assert found is not None and found[1] == found[2]

    def test_what_a_module_does_below_is_done_before_the_call_at_the_end(self) -> None:
        text = """
            import argparse
            import tensorflow as tf
            def train(model):
                return model(tf.ones([args.rows]))
            if __name__ == "__main__":
                parser = argparse.ArgumentParser()
                parser.add_argument("--rows", default=7)
                args = parser.parse_args()
        """
        assert "add_argument" in planned(text, "tf.ones([args.rows])", "None").pair.before.source


def test_main_gets_its_flags_from_the_one_who_starts_it() -> None:
    text = """
        import tensorflow as tf
        from absl import app, flags
        FLAGS = flags.FLAGS
        flags.DEFINE_integer("rows", 100, "")
        def main(_argv):
            x = tf.zeros([FLAGS.rows, 4])
        if __name__ == "__main__":
            app.run(main)
    """
    program = planned(text, "tf.zeros([FLAGS.rows, 4])", "None").pair.before.source
    assert program.rstrip().endswith('if __name__ == "__main__":\n    app.run(main)')
    assert "tfmemlint_consume" not in program
    assert "DEFINE_integer" in program


def test_a_function_that_is_called_by_itself_is_measured_alone() -> None:
    text = "import tensorflow as tf\ndef f(x):\n    return tf.data.Dataset.from_tensor_slices(x).shuffle(9).cache()\n"
    source = read_source(text.encode(), "a.py")
    file = File(source, cst.parse_module(source.text), Config())
    start = text.index(".cache()")
    span, edit = Span(start, start + len(".cache()")), Edit(start, start + len(".cache()"), "")
    shows = Shows(metric="repeating")
    finding = Finding("TFM306", "name", Severity.WARNING, "", span, None, contrast=(edit,), shows=shows)
    plan = plan_alone(finding, file, None, {})
    assert plan.alone and plan.words.startswith("the function was called by itself")
