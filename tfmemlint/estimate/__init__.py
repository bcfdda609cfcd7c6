"""How many bytes one step of training takes, before it runs: facts of the step, its ops, what of them lives together.

`step` holds the facts as plain data. `facts/` finds them in a program; `layers/`, `optimizers`, `losses` and `live` turn
them into bytes and see numbers alone, no syntax; `budget` and `advise` say what fits a card and what would save memory.
May import `finding`, `knowledge`, `model`, `query`, `syntax`, `units`.
"""
