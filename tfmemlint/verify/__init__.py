"""Measuring what findings cost: programs before and after a repair, run contained, judged. A library without arguments.

May import `__init__`, `config`, `estimate`, `files`, `finding`, `knowledge`, `lint`, `model`, `project`, `query`,
`report`, `syntax`, `text`, `units`.
"""
