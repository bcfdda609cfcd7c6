from __future__ import annotations

from collections.abc import Iterator

from tfmemlint_rules._eager_debugging_left_on import asks_once, asks_one_batch, works_eagerly

from tfmemlint.api import (
    Call,
    File,
    Finding,
    Fix,
    Rule,
    Safety,
    Shows,
    constant,
    facts,
    fixes,
    keras,
    knowledge,
    on,
    on_call,
    ordering,
)

SWITCHES = knowledge.group("runs_functions_eagerly")
TRAINS = "run_eagerly=True trains without a graph: slower, and every intermediate result is kept"
DEBUG = "tf.data.experimental.enable_debug_mode"


class EagerDebuggingLeftOn(Rule):
    """
    ## What it does
    Reports `tf.config.run_functions_eagerly(True)` that is never set back, `compile(run_eagerly=True)`,
    `model.run_eagerly = True` and `tf.data.experimental.enable_debug_mode()`.

    ## Why it costs memory
    Without a graph every intermediate result of a step exists until Python lets go of it, and nothing is fused or
    reused. Steps are several times slower, and input pipelines run in Python, one element at a time.

    ## Fix safety
    Unsafe: Python side effects in functions run only while they are traced then.

    ## When not to use it
    While debugging; switches behind a flag and in unit tests are not reported, nor a model that a script asks once and
    never trains (of a switch for all functions, about a batch of up to 32 rows), nor a program that trains by a tape or
    variables of its own and traces nothing.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/config/run_functions_eagerly
    """

    code = "TFM506"
    summary = "eager debugging left on runs every step without a graph"
    fix_safety = (Safety.UNSAFE,)
    in_tests = False

    @on_call(*SWITCHES, DEBUG)
    def switch(self, call: Call, file: File) -> Iterator[Finding]:
        switched = [constant(other.value_of("run_eagerly")) is True for other in file.calls(*SWITCHES)]
        if ordering.runs_by_choice(file, call.node) or (call.name != DEBUG and not all(switched)):
            return
        if call.name != DEBUG and (works_eagerly(file) or asks_one_batch(file)):
            return
        what = "functions run eagerly" if call.name != DEBUG else "input pipelines run in Python"
        yield self.finding(
            call,
            file,
            f"{what} from here on, without graphs: slower, and every intermediate result is kept",
            fix=Fix.unsafe("remove the switch", fixes.remove_statement(file, call.node)),
            shows=Shows(metric="step_seconds") if call.name != DEBUG else None,
        )

    @on_call("tf.keras.Model.compile")
    def compiled(self, call: Call, file: File) -> Iterator[Finding]:
        if constant(call.value_of("run_eagerly")) is not True:
            return
        flag = call.arg("run_eagerly")  # None: in a dictionary of options
        written = flag is not None and file.text(flag.expression) == "True"
        edit = fixes.remove_argument(file, call.node, flag) if flag is not None and written else None
        yield self.finding(call, file, TRAINS, fix=Fix.unsafe("leave it out", edit), shows=Shows(metric="step_seconds"))

    @on(facts.calls_of_unknown("compile"), "run_eagerly")
    def compiled_unknown(self, call: Call, file: File) -> Iterator[Finding]:
        if call.arg("run_eagerly") is not None:  # the keyword is Keras' own: it says what the receiver is
            yield from self.compiled(call, file)

    @on(facts.attributes_set("run_eagerly"))
    def attribute(self, switch: facts.AttributeSet, file: File) -> Iterator[Finding]:
        switched = (constant(file.value(each.value)) is True for each in facts.attributes_set("run_eagerly").of(file))
        if keras.is_model(file, file.value(switch.target.value)) and all(switched):
            if not ordering.runs_by_choice(file, switch.statement) and not asks_once(file, switch):
                fix = Fix.unsafe("remove the switch", fixes.remove_statement(file, switch.statement))
                yield self.finding(switch.target.attr, file, TRAINS, fix=fix, shows=Shows(metric="step_seconds"))
