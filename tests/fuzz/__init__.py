"""Fuzzers that are kept: `python -m tests.fuzz`, or `make fuzz`, looks for inputs at which the tool does not hold.

A kind (`kinds/`) makes inputs from seeds and says what must hold of them. `worker` lets one input be checked in a
process of its own with limits, `campaign` runs kinds for a time and remembers what was done, `reduce` makes failures
small, and `corpus/` keeps those that were mended, which the tests check again.
"""
