from __future__ import annotations

from collections.abc import Iterator

from tfmemlint.api import Call, File, Finding, Rule, Shows, on_call, pipelines


class OpsInGenerator(Rule):
    """
    ## What it does
    Reports TensorFlow ops and datasets inside the Python generator that `from_generator` is given.

    ## Why it costs memory
    The generator runs eagerly in Python for every element: each op makes a tensor, a handle and a copy back to NumPy,
    and each dataset or iterator made in it leaves objects behind that grow with every epoch.

    ## When not to use it
    When the generator makes a handful of elements. Pipelines that a program is seen to print, show or write, and gives
    no model, are not reported. What stands in front of the loops that yield runs once, and is not
    reported.

    ## References
    - https://www.tensorflow.org/api_docs/python/tf/data/Dataset#from_generator
    """

    code = "TFM319"
    summary = "ops inside a generator run eagerly for each element and leave objects behind"
    no_fix = "what can move into a map depends on what the generator does besides"
    in_tests = False

    @on_call("tf.data.Dataset.from_generator")
    def check(self, source: Call, file: File) -> Iterator[Finding]:
        found = next(
            (op for function in pipelines.generator_functions(file, source) for op in pipelines.ops_in(file, function)),
            None,
        )
        if found is None or pipelines.only_looked_at(file, source):
            return
        what = f"{found.method}()" if isinstance(found, Call) else "this dataset"
        yield self.finding(
            found,
            file,
            f"{what} runs eagerly for every element of the generator; yield plain NumPy and leave TensorFlow to map()",
            related=[(source, "the generator is used here")],
            shows=Shows(metric="eager_runs"),
        )
