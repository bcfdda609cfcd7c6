"""Whether a model can be given a smaller batch: not where it counts the rows by a number of its own."""

import pytest
from programs import model_of

from tfmemlint.query.keras.rows import takes_certain_rows

LOOPS = [
    ("for i in range(len(self.sizes)): parts.append(inputs[i][:self.sizes[i]])", True),
    ("for i in range(self.count): parts.append(inputs[i, 0])", True),
    ("for i in range(self.count): parts.append(inputs[:, i])", False),
    ("for i in range(self.count): parts.append(self.heads[i](inputs))", False),
    ("for i in range(len(inputs)): parts.append(inputs[i])", False),
    ("for i in range(3): parts.append(inputs[i])", False),
    ("for i in self.chosen: parts.append(inputs[i])", False),
]


@pytest.mark.parametrize(("loop", "expected"), LOOPS)
def test_models_that_go_over_their_rows_by_a_number_of_their_own(loop: str, expected: bool) -> None:
    file = model_of(f"class M(keras.Model):\n    def call(self, inputs):\n        {loop}\nM().fit(x)")
    assert takes_certain_rows(file, file.call(file.calls_by_word["fit"][0]).receiver) is expected


def test_of_models_that_are_not_seen_nothing_is_told() -> None:
    file = model_of("model.fit(x)")
    assert not takes_certain_rows(file, file.call(file.calls_by_word["fit"][0]).receiver)
