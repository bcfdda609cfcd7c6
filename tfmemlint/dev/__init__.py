"""Tools for people who work on rules: `python -m tfmemlint.dev COMMAND`.

May import `cli`, `config`, `finding`, `knowledge`, `lint`, `model`, `report`, `rule`, `syntax`, `testing`, `text`,
`units`, `verify`.
"""
