"""How long a new process waits: for the import, and for a first choice with kernels from disk.

python benchmarks/start.py        # with kernels from disk
python benchmarks/start.py cold   # with an empty cache: BetOFUL's first choice, then a first study

CPU time of processes from their start, interpreter included, medians over repetitions that take
turns. Next to it the least that Numba allows: one compiled function of one line, from its cache
on disk. Cold: CPU time of the calls themselves, imports not counted.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from voful.report.terminal.speed import markdown

REPETITIONS = 9

NUMPY = "import numpy as np"
CHOICE = "; import voful; voful.{}(10).select(np.eye(10))"
CODES = {
    "Python": "pass",
    "import voful": "import voful",
    "import numpy": NUMPY,
    "Numba, a first call of one line": f"{NUMPY}; import one; one.line(np.ones(3))",
    "OFUL, a first select": NUMPY + CHOICE.format("OFUL"),
    "BetOFUL, a first select": NUMPY + CHOICE.format("BetOFUL"),
}
ONE_LINE = "import numba\n@numba.njit(cache=True)\ndef line(x):\n    return x[0] + 1.0\n"
COLD = """
import time
import numpy as np
import voful
from voful.experiments.play.execute import attempt
from voful.experiments.study.study import parse_study

study = 'name = "first"\\nrounds = 1000\\nreplicates = 1\\n'
study += '[[policy]]\\nid = "betoful"\\n[[problem]]\\nname = "a"\\ndim = 5\\n'
(run,) = parse_study(study).runs()
policy, arms = voful.BetOFUL(5), np.eye(5)
began = time.process_time()
policy.update(arms[policy.select(arms)], 0.5)
chosen = time.process_time()
assert attempt(run).columns is not None
print(chosen - began, time.process_time() - chosen)
"""
CLOCK = "\nimport time; print(time.process_time())"


def seconds(code: str, folder: str) -> float:
    """CPU time of a process that runs the code."""
    path = os.pathsep.join([folder, *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": path}
    done = subprocess.run(
        [sys.executable, "-c", code + CLOCK],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def measure_start() -> dict[str, float]:
    """Medians by name; the first process of each, which may compile, does not count."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "one.py").write_text(ONE_LINE)
        times: dict[str, list[float]] = {name: [] for name in CODES}
        for _ in range(REPETITIONS + 1):
            for name, code in CODES.items():
                times[name].append(seconds(code, folder))
    return {name: median(taken[1:]) for name, taken in times.items()}


def table(medians: dict[str, float]) -> str:
    """Markdown."""
    return markdown(
        {"": list(medians), "seconds of CPU": [f"{value:.2f}" for value in medians.values()]}
    )


def measure_cold(repetitions: int = 3) -> dict[str, float]:
    """Medians, each process with an empty cache of kernels of its own."""
    taken = []
    for _ in range(repetitions):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-c", COLD],
                env={**os.environ, "NUMBA_CACHE_DIR": folder},
                capture_output=True,
                text=True,
                check=True,
            )
        taken.append([float(number) for number in done.stdout.split()])
    first, study = zip(*taken, strict=True)
    return {
        "BetOFUL, a first select and update": median(first),
        "after it, a first run of a study": median(study),
    }


if __name__ == "__main__":
    commands = {"": measure_start, "cold": measure_cold}
    print(table(commands["".join(sys.argv[1:])]()))
