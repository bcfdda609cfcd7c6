"""Which batch sizes are one replica's, and which are those of all replicas, by the program's arithmetic."""

import pytest
from programs import model_of

from tfmemlint.query.runtime.replicas import is_for_all, multiplied_twice, share_of

STRATEGY = "s = tf.distribute.MirroredStrategy()\n"

SIZES = [
    ("n = 8\nw = n * s.num_replicas_in_sync\nwork(n)", (True, False, False)),
    ("n = 8\nc = s.num_replicas_in_sync\nprint(c * n)\nwork(n)", (True, False, False)),
    ("print(args.n * s.num_replicas_in_sync)\nwork(args.n)", (True, False, False)),
    ("n = 8\nprint(n * s.num_replicas_in_sync)\ndef f(m):\n    work(m)\nf(n)", (True, False, False)),
    ("n = 8\nm = 8\nprint(m * s.num_replicas_in_sync)\nwork(n)", (False, False, False)),
    ("per_replica_batch_size = 8\nwork(per_replica_batch_size)", (False, False, False)),
    ("global_batch_size = 8\nwork(global_batch_size)", (False, False, False)),
    ("n = 8\nwork(n * s.num_replicas_in_sync)", (False, True, False)),
    ("w = 8 * s.num_replicas_in_sync\nwork(w)", (False, True, False)),
    ("w = 8 * s.num_replicas_in_sync\nwork(w * s.num_replicas_in_sync)", (False, True, True)),
    ("w = 8\nn = w // s.num_replicas_in_sync\nwork(w)", (False, True, False)),
    ("w = 8\nn = w // s.num_replicas_in_sync\nwork(w * s.num_replicas_in_sync)", (False, True, True)),
    ("w = 8\nn = c.get_per_replica_batch_size(w)\nwork(w)", (False, True, False)),
    ("w = 8\nn = w // 2\nwork(w)", (False, False, False)),
]


@pytest.mark.parametrize(("program", "expected"), SIZES)
def test_what_a_batch_size_is_for(program: str, expected: tuple[bool, bool, bool]) -> None:
    file = model_of(STRATEGY + program)
    size = file.calls_by_word["work"][0].args[0].value
    found = (share_of(file, size) is not None, is_for_all(file, size), multiplied_twice(file, size))
    assert found == expected
