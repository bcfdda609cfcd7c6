"""Which calls of other libraries take memory of the GPU."""

import pytest
from programs import model_of

from tfmemlint.query.runtime.gpu_libraries import gpu_allocations

TAKEN = [
    ("import cupy\ncupy.asarray(x)\ncupy.dot(x, y)", ["cupy asarray", "cupy dot"]),
    ("import cupy\ncupy.get_default_memory_pool()\ncupy.asnumpy(x)", []),
    ("import jax.numpy as jnp\njnp.ones(3)\njnp.finfo(t)", ["jax ones"]),
    ("import jax\njax.devices()", []),
    ("import torch\ntorch.zeros(3)", []),
    ("import torch\ntorch.zeros(3, device='cuda:0')", ["torch zeros"]),
    ("import torch\nx = torch.device('cuda' if c else 'cpu')\nnet.to(x)", ["torch to"]),
    ("import torch\nnet.cuda()\ntorch.cuda.is_available()", ["torch cuda"]),
    ("import torch\nnet.to('cpu')", []),
    ("net.cuda()", []),
    ("try:\n    import cupy\nexcept ImportError:\n    cupy = None\ncupy.asarray(x)", []),
    ("import cupy\nif c:\n    cupy.asarray(x)", []),
    ("import cupy\ndef main():\n    cupy.asarray(x)\nif __name__ == '__main__':\n    main()", ["cupy asarray"]),
]


@pytest.mark.parametrize(("program", "expected"), TAKEN)
def test_calls_that_take_memory_of_the_gpu(program: str, expected: list[str]) -> None:
    file = model_of(program)
    assert [f"{each.library} {each.call.method}" for each in gpu_allocations.of(file)] == expected


def test_a_library_is_imported_beside_tensorflow() -> None:
    program = "def f():\n    import {}\n    import cupy\n    cupy.asarray(x)"
    assert len(gpu_allocations.of(model_of(program.format("tensorflow as tf"), header=""))) == 1
    assert gpu_allocations.of(model_of(program.format("numpy"), header="")) == []
    above = "import cupy\ndef f():\n    import tensorflow as tf\n    cupy.asarray(x)"
    assert len(gpu_allocations.of(model_of(above, header=""))) == 1
