from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._whole_dataset_forward import holds_little, outputs_of_all, predicted

from tfmemlint.api import (
    Array,
    Call,
    Const,
    File,
    Finding,
    Rule,
    Safety,
    Shows,
    elements,
    gradients,
    on,
    on_call,
    pipelines,
    show_bytes,
    tracing,
)

MANY_ROWS = 2048
FLOAT32 = 4


class WholeDatasetForward(Rule):
    """
    ## What it does
    Reports a Keras model that is called directly on an array known to be a whole data set, under a gradient tape where
    the array has `min-bytes` or more as float32; so is what a model's own `fit` or `evaluate` is given. Reports
    `predict` where the outputs of all rows are known to have 1 GiB, or those of a pipeline 1 MiB each and are reduced
    at once (`argmax`, `> 0.5`).

    ## Why it costs memory
    A call of the model is one batch: every layer's activations for all rows exist together. `predict` runs the rows in
    batches of 32. Under a tape the activations of all layers stay until the gradient is taken; the gradient of a mean
    is the sum of those of its batches, each divided by the number of all rows. `predict` in turn keeps the outputs of
    all batches and makes one array of them: masks of a segmentation have megabytes each, their classes a byte a pixel.

    ## Fix safety
    Shown only: `predict` gives a NumPy array and no gradients.

    ## When not to use it
    When the data is small (fewer than 2048 rows, or 256 KiB as float32; less than `min-bytes` under a tape, for methods
    that need all rows in each step). Networks of nothing but dense layers, none of which gives out 32 MiB, are not
    reported for up to 20 000 rows: `predict` makes a tensor of all the data, too, and that counts more there: a call of
    one `Dense(10)` takes 33 MiB for 10 000 rows of 784 numbers, `predict` 35 MiB.

    ## References
    - https://keras.io/api/models/model_training_apis/#predict-method
    """

    code = "TFM603"
    summary = "one call for a whole data set holds all activations or outputs at once"
    fix_safety = (Safety.DISPLAY,)
    in_tests = False

    @on(pipelines.batch_calls)
    def check(self, call: Call, file: File) -> Iterator[Finding]:
        given = call.node.args[0].value
        value = call.given(0) if call.arg(0) is not None else call.given("x")
        data = next((leaf for leaf in elements(value) if isinstance(leaf, Array) and self._whole(leaf)), None)
        if data is None and not pipelines.fitted_whole(file, given):
            return
        home = file.contexts.function(call.node)
        if pipelines.of_loop_item(file, given) or (home is not None and tracing.in_graph_program(file, home)):
            return  # a batch, however large; a graph takes as many rows as its placeholders say
        taped = gradients.recorded(file, call.node)
        if taped and (data is None or (data.size or 0) * FLOAT32 < file.config.min_bytes):
            return
        little = data is not None and holds_little(file, call, data)
        if taped or not (little or gradients.recorded(file, call.node, traced=True)):
            yield self._report(call, data, file, taped)

    @on_call("tf.keras.Model.predict")
    def outputs(self, call: Call, file: File) -> Iterator[Finding]:
        found = outputs_of_all(file, call)
        if found is not None:
            yield self.finding(
                call,
                file,
                f"predict() keeps the outputs {found[1]} and copies them to join its batches; go through the batches "
                "with predict_on_batch(), and keep of each what is needed or write it to a file",
                bytes=found[0],
            )

    def _whole(self, data: Array) -> bool:
        """Whether the array's rows are many, and it is data, not a batch cut out of it."""
        if data.library == "keras" or not data.shape or len(data.shape) < 2 or data.shape[0] is None:
            return False
        return data.shape[0] >= MANY_ROWS

    def _report(self, call: Call, data: Array | None, file: File, taped: bool) -> Finding:
        size = data.bytes if data is not None else None
        rows = f"all {data.shape[0]} rows" if data is not None and data.shape else "all rows that are fitted"
        costs = f"the activations of {rows} exist together"
        trains = call.name == "tf.keras.Model.train_on_batch"
        advice = "use fit(x, y, batch_size=...)" if trains else "use predict(x, batch_size=...)"
        if call.given("training") == Const(True) or not call.target.known:
            advice = "use batches of its rows"  # predict() would leave dropout out, and a layer has none
        if taped:
            costs, advice = f"the tape keeps the activations of {rows}", "add up the gradients of smaller batches"
        weigh = f" ({show_bytes(size)} of input alone)" if size is not None else ""
        return self.finding(
            call,
            file,
            f"one call is one batch: {costs}{weigh}; {advice}",
            fix=(repair := predicted(file, call) if not taped else None),
            bytes=size,
            shows=Shows(metric="peak_bytes") if repair is not None else None,
        )
