"""How many bytes one step of training takes, before it runs: facts of the step, its ops, what of them lives together.

`step` holds the facts as plain data, which `facts/` finds in a program. `layers/`, `optimizers`, `losses` and `live`
make bytes of them and see numbers alone, no syntax; `budget` and `advise` say what fits a card and what would save.
May import `finding`, `knowledge`, `model`, `query`, `syntax`, `units`.
"""
