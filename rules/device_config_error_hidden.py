from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from tfmemlint.api import Api, Call, Const, Devices, File, Finding, Function, Node, Rule, on_file, walk

CONFIGURES = frozenset({
    "tf.config.experimental.set_memory_growth", "tf.config.set_visible_devices",
    "tf.config.set_logical_device_configuration",
})  # fmt: skip
HIDES = frozenset({"RuntimeError", "Exception", "BaseException"})


class DeviceConfigErrorHidden(Rule):
    """
    ## What it does
    Reports device configuration whose `RuntimeError` is caught and dropped: `except ...: pass` or
    `contextlib.suppress`.

    ## Why it costs memory
    The error says that the runtime was already initialised and nothing was configured. Dropped, it leaves a job that
    takes the whole card and gives no hint why.

    ## When not to use it
    When running with the whole card is as good to you as running with a part of it.

    ## References
    - https://www.tensorflow.org/guide/gpu#limiting_gpu_memory_growth
    """

    code = "TFM109"
    summary = "a dropped device configuration error leaves the job with the whole card"
    no_fix = "raise, log or configure earlier, as the program needs"

    @on_file(
        "set_memory_growth",
        "set_visible_devices",
        "set_logical_device_configuration",
        "set_virtual_device_configuration",
    )
    def check(self, file: File) -> Iterator[Finding]:
        for attempt in file.tree.of(cst.Try):
            config = self._configures(attempt.body, file)
            for handler in attempt.handlers if config is not None else ():
                if self._catches(handler.type, file) and self._drops(handler.body, file):
                    yield self._report(handler, config, file)
        for block in file.tree.of(cst.With):
            config = self._configures(block.body, file)
            if config is not None and any(self._suppresses(item.item, file) for item in block.items):
                yield self._report(block, config, file)

    def _configures(self, body: Node, file: File, depth: int = 1) -> Call | None:
        """A configuring call in a block, or in a function of the module that is called there."""
        for node in walk(body):
            call = file.call(node) if isinstance(node, cst.Call) else None
            if call is None:
                continue
            if any(name in CONFIGURES for name in call.names):
                if _of_processor(call):
                    continue  # no card is at stake
                return call
            for target in call.target.options if depth else ():
                if isinstance(target, Function) and self._configures(target.node.body, file, depth - 1) is not None:
                    return call
        return None

    def _catches(self, kind: cst.BaseExpression | None, file: File) -> bool:
        if kind is None:
            return True
        named = [e.value for e in kind.elements] if isinstance(kind, cst.Tuple) else [kind]
        values = [file.value(expression) for expression in named]
        return any(isinstance(v, Api) and v.name.rpartition(".")[2] in HIDES for v in values)

    def _drops(self, body: cst.BaseSuite, file: File) -> bool:
        """Whether a handler's body does nothing at all."""
        for statement in body.body:
            small = statement.body if isinstance(statement, cst.SimpleStatementLine) else [statement]
            for node in small:
                if isinstance(node, (cst.Pass, cst.Continue)):
                    continue
                if isinstance(node, cst.Return) and (node.value is None or file.value(node.value) == Const(None)):
                    continue
                if isinstance(node, cst.Expr) and isinstance(node.value, (cst.SimpleString, cst.Ellipsis)):
                    continue
                return False
        return True

    def _suppresses(self, node: cst.BaseExpression, file: File) -> bool:
        if not isinstance(node, cst.Call) or file.call(node).name != "contextlib.suppress":
            return False
        return any(self._catches(arg.value, file) for arg in node.args)

    def _report(self, where: Node, config: Call | None, file: File) -> Finding:
        related = [(config, "the configuration")] if config is not None else []
        return self.finding(
            where if isinstance(where, cst.With) else file.span(where),
            file,
            "if this configuration fails, nobody learns that it had no effect and the job takes the whole card",
            related=related,
        )


def _of_processor(config: Call) -> bool:
    """Whether only the CPU is configured."""
    device = config.value_of("device", "devices")
    return isinstance(device, Devices) and device.kind == "CPU"
