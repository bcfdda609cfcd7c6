"""Run one command and print what the kernel counted for it, as JSON: `launch.py ERRORS COMMAND ...`.

A process of its own, started with `-I -S`, as small as Python gets: what a process has in memory when it forks counts
as the peak of the command that it starts, so that nothing large may do this. The command's output is dropped, and its
errors go into the file ERRORS. It imports nothing of this package.
"""

import json
import os
import sys
import time


def main(errors: str, command: list[str]) -> None:
    """Run the command to its end; CPU seconds include those of the processes that it waited for."""
    start = time.perf_counter()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(os.open(os.devnull, os.O_RDWR), 0)
            os.dup2(os.open(os.devnull, os.O_RDWR), 1)
            os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
            os.execvp(command[0], command)
        finally:
            os._exit(127)
    _, status, usage = os.wait4(child, 0)
    wall = time.perf_counter() - start
    unit = 1 if sys.platform == "darwin" else 1024
    taken = {
        "code": os.waitstatus_to_exitcode(status),
        "cpu": usage.ru_utime + usage.ru_stime,
        "wall": wall,
        "peak": usage.ru_maxrss * unit,
    }
    print(json.dumps(taken))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
