from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Fix, Rule, Safety, estimate, fixes, keras, on_call


class TimeDistributedDense(Rule):
    """
    ## What it does
    Reports `TimeDistributed` around `Dense` and other layers that act on the last axis alone (`Activation`, `Dropout`,
    `LayerNormalization`, ...). Without it they give the same numbers with the same weights.

    ## Why it costs memory
    Keras 3 loops in Python over a number of time steps that is fixed when the model is traced, and runs the layer once
    for each. In training, the gradient of each step's slice is a tensor as large as the whole input, and all of them
    live at once: memory grows with the square of the steps. Where each batch certainly has the same size, TensorFlow
    adds up some early from 128 MiB on, so that more is priced as at least that. `Dense` alone is one matrix product for
    all steps.

    ## Fix safety
    Unsafe: the names of the weights change, so that weight files which find them by name do not fit any more, and
    `Dropout` draws one mask for all steps together. It is offered where `TimeDistributed` is given nothing else.

    ## When not to use it
    Keras 2 reshapes in place of the loop: programs that are known to run on it, by what they import or by functions
    and methods that Keras 3 lacks, are not reported. Nor is a model of which nothing says how many steps it has,
    neither its input nor the arrays that it is trained on: over a time axis of any length, as of windows of a data set,
    Keras 3 takes `vectorized_map` and keeps no such gradients. Nor is what stands first in a model, where no gradient
    flows back into the input, nor a model that is given its weights from a file and never trained by the program.

    ## References
    - https://keras.io/api/layers/recurrent_layers/time_distributed/
    """

    code = "TFM616"
    summary = "TimeDistributed around a layer of the last axis keeps a gradient of the whole input for each step"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call("tf.keras.layers.TimeDistributed")
    def check(self, wrapper: Call, file: File) -> Iterator[Finding]:
        layer = wrapper.arg("layer")
        if layer is None or file.may_be_version_1 or keras.keras_2(file) or keras.is_first(file, wrapper):
            return
        kind = keras.acts_on_last_axis(layer.value)
        if kind is not None and keras.has_fixed_steps(file, wrapper) and not keras.only_runs(file, wrapper):
            alone = len(wrapper.node.args) == 1
            saved = estimate.saved_without_wrapper(file, wrapper)
            edit = fixes.replace_node(file, wrapper.node, file.text(layer.expression)) if alone else None
            yield self.finding(
                wrapper,
                file,
                f"TimeDistributed runs {kind} once for each step, and training keeps a gradient of the whole "
                f"input for each{{cost}}; {kind} acts on the last axis anyway: leave TimeDistributed out",
                bytes=saved.bytes if saved is not None else keras.step_gradients(file, wrapper),
                fix=Fix.unsafe("use the layer itself", edit),
            )
