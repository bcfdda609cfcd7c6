"""How fast tfmemlint is and how much memory it takes; run in the root of a checkout.

`python -m benchmarks COMMAND ...` asks one question; `python -m benchmarks --help` lists them. `processes` runs commands
in turns and says what each took, `launch` is the small process that asks the kernel; `corpora` fetches pinned packages.
"""
