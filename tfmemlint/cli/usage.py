"""What a wrong command line raises, wherever it is found out, and how the process then exits."""

USAGE = 2


class UsageError(Exception):
    """A command line that cannot be followed; the message is one line."""
