"""Studies with failpoints: lines [how, study, out, n] in JSON, answers [exit code, what it said].

kill: dies at event n of the store, runs being played in this process. interrupt: `voful run`, with
Ctrl-C at event n of runner and store. calm: neither. It says how many events there were. Each line
is played by a fork of this process, which has loaded everything and stored nothing.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import traceback
from functools import cache
from importlib import import_module
from pathlib import Path

from faults.failpoints import at_call, die, interrupt
from inline import inline

from voful.cli import main as command
from voful.experiments.play.execute import rehearse
from voful.experiments.runner import runner
from voful.experiments.store import store
from voful.experiments.store.manifest import Manifest
from voful.experiments.study.study import read_study

# What `voful run` imports to print its table.
AT_THE_END = (
    "scipy.special",
    "voful.report.statistics.summaries",
    "voful.report.terminal.console",
    "voful.report.terminal.progress",
)
PLACES = ("voful/experiments/store", "voful/experiments/runner", "voful/atomic")


def play(how: str, study: str, out: str, n: int) -> None:
    """See above."""
    if how == "interrupt":
        sys.argv = ["voful", "run", study, "--out", out, "--workers", "1"]
        with at_call(n, PLACES, interrupt) as seen:
            try:
                command()
            finally:
                print(f"events: {seen[0]}", flush=True)
        return
    declared = read_study(study)
    with inline(), at_call(0 if how == "calm" else n, PLACES, die) as seen:
        runner.run_study(declared, out)
    print(f"events: {seen[0]}")


def exit_code(how: str, study: str, out: str, n: int) -> int:
    """That of a process that plays."""
    try:
        play(how, study, out, n)
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0
    except BaseException:
        traceback.print_exc()
        return 99
    return 0


@cache
def load_kernels(study: str) -> None:
    """Once for all forks: a failpoint makes every call slow."""
    for module in AT_THE_END:
        import_module(module)
    rehearse(read_study(study).runs())
    Manifest.of(read_study(study))  # reads the library's sources


def main() -> None:
    """A fork for each line."""
    store.PACK_AT = 5  # so that packing happens too
    setattr(runner, "PACK_AT", 5)  # noqa: B010
    for line in sys.stdin:
        load_kernels(json.loads(line)[1])
        with tempfile.NamedTemporaryFile() as said:
            child = os.fork()
            if child == 0:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                code = exit_code(*json.loads(line))
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
            _, status = os.waitpid(child, 0)
            answer = os.waitstatus_to_exitcode(status), Path(said.name).read_text()
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
