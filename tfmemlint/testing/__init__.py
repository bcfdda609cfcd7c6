"""The properties that every rule's sample programs must have, and the pytest option `--bless`.

A pack tests all of its cases with a conftest.py that says `pytest_plugins = ["tfmemlint.testing"]`; `checks` says how.
May import `config`, `finding`, `fix`, `lint`, `model`, `text`, and for annotations `rule`.
"""

from tfmemlint.testing.cases import Case, CaseError, cases, load_case
from tfmemlint.testing.checks import CHECKS, bless, pytest_addoption, run

__all__ = ["CHECKS", "Case", "CaseError", "bless", "cases", "load_case", "pytest_addoption", "run"]
