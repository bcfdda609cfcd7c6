"""Programs that build random Keras models, for comparing what is read from them with what Keras makes of them."""

from __future__ import annotations

import random

IMAGE, VOLUME, STEPS, FLAT = "image", "volume", "steps", "flat"


class Stack:
    """Random layers on an input; `expressions` are the layers as they are written, `last` is what comes out of them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.kind = self.random.choice((IMAGE, IMAGE, IMAGE, STEPS, STEPS, VOLUME, FLAT))
        size = self.random.choice((28, 32, 40, 57))
        self.shape = {
            IMAGE: (size, self.random.choice((size, 36)), self.random.choice((1, 3, 4))),
            VOLUME: (12, self.random.choice((10, 13)), 11, self.random.choice((1, 2))),
            STEPS: (self.random.choice((20, 33)), self.random.choice((4, 7))),
            FLAT: (self.random.randint(3, 90),),
        }[self.kind]
        self.expressions: list[str] = []
        self.halvings = 0
        for _ in range(self.random.randint(2, 7)):
            self._grow()
        self._close()

    def _pick(self, *options: object) -> object:
        return self.random.choice(options)

    def _grow(self) -> None:
        makers = {IMAGE: self._image, VOLUME: self._volume, STEPS: self._steps, FLAT: self._flat}[self.kind]
        self.expressions.append(makers())

    def _image(self) -> str:
        pick = self._pick
        small = self.halvings >= 2
        kernel = pick(1, 2, 3, "(3, 2)")
        choice = self.random.randrange(11)
        padding = "same" if small else pick("same", "valid")
        if choice < 4:
            name = pick("Conv2D", "Conv2D", "SeparableConv2D", "Conv2DTranspose")
            strides = 1 if small or name == "Conv2DTranspose" else pick(1, 1, 2)
            self.halvings += strides == 2
            bias = pick("", ", use_bias=False", ', activation="relu"')
            return f'layers.{name}({pick(4, 5, 8)}, {kernel}, strides={strides}, padding="{padding}"{bias})'
        if choice == 4:
            return f'layers.DepthwiseConv2D({kernel}, depth_multiplier={pick(1, 2)}, padding="{padding}")'
        if choice == 5 and not small:
            self.halvings += 1
            name, size = pick("MaxPooling2D", "AveragePooling2D", "MaxPool2D"), pick(2, "(2, 3)", "3, strides=2")
            return f'layers.{name}({size}, padding="{padding}")'
        if choice == 6:
            return str(
                pick(
                    "layers.BatchNormalization()",
                    "layers.BatchNormalization(scale=False)",
                    "layers.LayerNormalization()",
                    "layers.GroupNormalization(groups=1)",
                    'layers.Conv2D(6, 3, padding="same", dilation_rate=2)',
                )
            )
        if choice == 7:
            return str(
                pick("layers.ZeroPadding2D()", "layers.ZeroPadding2D((1, 2))", "layers.Cropping2D(((0, 1), (1, 0)))")
            )
        if choice == 8 and self.halvings:
            self.halvings -= 1
            return f"layers.UpSampling2D({pick('', 2, '(2, 1)')})"
        if choice == 9:
            return str(
                pick(
                    "layers.PReLU()",
                    "layers.PReLU(shared_axes=[1, 2])",
                    "layers.Dropout(0.2)",
                    'layers.Activation("relu")',
                )
            )
        return f"layers.Dense({pick(3, 6)})"

    def _volume(self) -> str:
        pick = self._pick
        padding = "same" if self.halvings else pick("same", "valid")
        choice = self.random.randrange(6)
        if choice < 2:
            kernel, bias = pick(1, 2, "(2, 3, 1)"), pick("", ", use_bias=False")
            return f'layers.{pick("Conv3D", "Conv3DTranspose")}({pick(2, 3)}, {kernel}, padding="{padding}"{bias})'
        if choice == 2 and not self.halvings:
            self.halvings += 1
            return f"layers.{pick('MaxPooling3D', 'AveragePooling3D')}({pick('', 2, '(1, 2, 2)')})"
        if choice == 3:
            return str(pick("layers.ZeroPadding3D(1)", "layers.Cropping3D(((0, 1), (0, 0), (1, 0)))"))
        if choice == 4:
            return str(pick("layers.BatchNormalization()", "layers.SpatialDropout3D(0.1)", "layers.UpSampling3D(1)"))
        return f"layers.Dense({pick(2, 3)})"

    def _steps(self) -> str:
        pick = self._pick
        choice = self.random.randrange(10)
        if choice < 2:
            padding = pick("same", "causal", "valid")
            return f'layers.Conv1D({pick(4, 6)}, {pick(1, 2, 3)}, padding="{padding}", dilation_rate={pick(1, 2)})'
        if choice == 2:
            return f"layers.{pick('LSTM', 'GRU', 'SimpleRNN')}({pick(3, 8)}, return_sequences=True)"
        if choice == 3:
            inner = f"layers.{pick('LSTM', 'GRU')}({pick(3, 4)}, return_sequences=True)"
            return f"layers.Bidirectional({inner}, merge_mode='{pick('concat', 'sum')}')"
        if choice == 4:
            return f"layers.TimeDistributed(layers.Dense({pick(3, 5)}))"
        if choice == 5:
            return str(
                pick("layers.LayerNormalization()", "layers.BatchNormalization()", "layers.SpatialDropout1D(0.1)")
            )
        if choice == 6:
            name = pick("Conv1DTranspose", "SeparableConv1D")
            return f'layers.{name}({pick(3, 5)}, {pick(1, 2, 3)}, padding="{pick("same", "valid")}")'
        if choice == 7:
            return str(
                pick("layers.DepthwiseConv1D(2)", 'layers.DepthwiseConv1D(3, padding="same", depth_multiplier=2)')
            )
        if choice == 8:
            self.halvings += 1
            pooled = f"layers.{pick('MaxPooling1D', 'AveragePooling1D')}({pick(2, 3)}, padding='same')"
            return pooled if self.halvings < 3 else "layers.UpSampling1D(2)"
        return str(
            pick("layers.ZeroPadding1D(2)", "layers.Cropping1D((1, 0))", "layers.Permute((2, 1))", "layers.Dense(5)")
        )

    def _flat(self) -> str:
        pick = self._pick
        choice = self.random.randrange(5)
        if choice < 3:
            return f"layers.Dense({pick(1, 16, 31)}{pick('', ', use_bias=False', ', name=None')})"
        return str(
            pick(
                "layers.BatchNormalization(center=False)", "layers.Dropout(0.5)", "layers.LeakyReLU()", "layers.PReLU()"
            )
        )

    def _close(self) -> None:
        pick = self._pick
        if self.kind == IMAGE:
            self.expressions.append(
                str(pick("layers.Flatten()", "layers.GlobalAveragePooling2D()", "layers.GlobalMaxPooling2D()"))
            )
        elif self.kind == VOLUME:
            self.expressions.append(
                str(pick("layers.Flatten()", "layers.GlobalAveragePooling3D()", "layers.GlobalMaxPooling3D()"))
            )
        elif self.kind == STEPS:
            self.expressions.append(
                str(
                    pick(
                        "layers.Flatten()",
                        "layers.GRU(6)",
                        "layers.Bidirectional(layers.LSTM(4))",
                        "layers.GlobalAveragePooling1D()",
                        "layers.GlobalMaxPooling1D()",
                    )
                )
            )
        if pick(True, False):
            self.expressions += [
                f"layers.Dense({pick(12, 24)})",
                f"layers.Reshape({pick('(-1, 2)', '(3, -1)', '(2, -1, 2)')})",
            ]
        self.expressions.append(f"layers.Dense({pick(1, 10)})")


def sequential(seed: int) -> str:
    """A program whose `model` is a Sequential: listed, added step by step, or both."""
    stack = Stack(seed)
    entry, expressions = f"keras.Input({stack.shape})", stack.expressions
    listed = (0, len(expressions), len(expressions) // 2)[seed % 3]
    items = ",\n    ".join([entry, *expressions[:listed]])
    lines = [f"model = keras.Sequential([\n    {items},\n])"]
    lines += [f"model.add({expression})" for expression in expressions[listed:]]
    return "\n".join(lines)


def functional(seed: int) -> str:
    """A program whose `model` is functional, with branches that meet and layers that are made by functions."""
    stack = Stack(seed)
    pick = stack.random.choice
    lines = [
        "def head(tensor, units):",
        "    tensor = layers.Dense(units)(tensor)",
        "    return layers.Dense(units + 1)(tensor)",
        "",
    ]
    lines.append(f"inputs = x = keras.Input(shape={stack.shape})")
    for index, expression in enumerate(stack.expressions):
        if index % 3 == 2:
            lines.append(f"side = {pick(('layers.Dense(4)', 'layers.Dense(4, use_bias=False)'))}(x)")
            joined = pick(
                (
                    "layers.Concatenate()([x, side])",
                    "layers.concatenate([x, side, x])",
                    "layers.Add()([side, layers.Dense(4)(x)])",
                )
            )
            lines.append(f"x = {joined}")
        lines.append(f"x = {expression}(x)")
    lines += [f"x = head(head(x, {pick((3, 9))}), 5)", "shared = layers.Dense(6)", "x = shared(shared(x))"]
    lines += ["model = keras.Model(inputs, x)"]
    return "\n".join(lines)


def embedded(seed: int) -> str:
    """A program whose `model` reads token ids."""
    chance = random.Random(seed)
    rows, width, length = chance.randint(50, 500), chance.choice((4, 8)), chance.choice((6, 12))
    heads, key = chance.choice((1, 3)), chance.choice((2, 5))
    core = chance.choice((
        "layers.LSTM(5)(x)", "layers.GlobalAveragePooling1D()(x)", "layers.GRU(4, reset_after=False)(x)",
        f"layers.Flatten()(layers.MultiHeadAttention({heads}, {key})(x, x))",
        f"layers.Flatten()(layers.MultiHeadAttention(num_heads={heads}, key_dim={key}, value_dim=3)(x, x, x))",
        f"layers.Flatten()(layers.MultiHeadAttention({heads}, {key}, use_bias=False)(x, value=x))",
    ))  # fmt: skip
    return "\n".join((
        f"ids = keras.Input(({length},))", f"x = layers.Embedding({rows}, {width})(ids)", f"x = {core}",
        f"body = keras.Sequential([layers.Dense({width}), layers.Dense(3)])",
        "x = layers.LayerNormalization()(body(x))",
        "model = keras.Model(inputs=ids, outputs=x)",
    ))  # fmt: skip


def looped(seed: int) -> str:
    """A program that makes layers in loops, for a Sequential or for a chain whose layers come from the one before."""
    chance = random.Random(seed)
    widths, kernels = chance.sample((2, 3, 4, 5), 3), [chance.choice((1, 3, "(1, 2)")) for _ in range(3)]
    over, target = chance.choice((
        (f"{widths}", "n"), (f"enumerate({widths})", "i, n"), (f"zip({widths}, {widths[::-1]})", "n, m"),
        ("range(2, 5)", "n"),
    ))  # fmt: skip
    if seed % 2:
        return "\n".join((
            "model = keras.Sequential([keras.Input((32, 30, 2))])",
            f"for {target} in {over}:",
            f'    model.add(layers.Conv2D(n, {kernels[0]}, padding="same"))',
            "    model.add(layers.MaxPooling2D())",
            "model.add(layers.Flatten())", "model.add(layers.Dense(5))",
        ))  # fmt: skip
    return "\n".join((
        "x = inputs = keras.Input((32, 30, 2))", "more = 1",
        f"for {target} in {over}:",
        f'    x = layers.Conv2D(n, {kernels[0]}, padding="same")(x)',
        f'    y = layers.Conv2D(n + more, {kernels[1]}, padding="same")(x)',
        "    x = layers.Concatenate()([x, y])",
        "    for _ in range(2):", "        x = layers.Conv2D(more, 1)(x)",
        "    x = layers.MaxPooling2D()(x)", "    more += 1",
        "x = layers.Dense(5)(layers.Concatenate()([layers.Flatten()(x), layers.Flatten()(y)]))",
        "model = keras.Model(inputs, layers.Reshape((5, 1))(x))",
    ))  # fmt: skip


HEADER = "import keras\nfrom keras import layers\n\n"


def programs() -> list[str]:
    """A hundred programs, the same each time."""
    makers = [sequential] * 42 + [functional] * 42 + [embedded] * 16 + [looped] * 12
    return [HEADER + make(seed) + "\n" for seed, make in enumerate(makers)]
