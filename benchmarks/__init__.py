"""How fast tfmemlint is and how much memory it takes, measured as whole processes; run in the root of a checkout.

    python -m benchmarks                measure all of it beside other tools, and write docs/performance.md
    python -m benchmarks COMMAND ...    one question alone; `python -m benchmarks --help` lists them

- `processes` runs commands in turns and says what each took, `launch` is the small process that asks the kernel;
- `corpora` and `subjects` fetch pinned packages and part their files; `tools` and `environments` are what is compared;
- `parts/` holds what is measured, one module a subject, and gives `results` to keep as JSON;
- `report/` makes the page, its tables and pictures of kept results alone, so that they can be made without measuring;
- the other modules are commands of their own.
"""
