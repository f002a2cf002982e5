"""Install a wheel into an empty environment of each Python that is here; run README's example.

python tools/check_wheel.py dist/voful-*.whl
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

README = Path(__file__).resolve().parents[1] / "README.md"
PYTHONS = ("python3.11", "python3.12", "python3.13")


def example() -> str:
    """The first block of Python in README."""
    found = re.search(r"```python\n(.*?)```", README.read_text(), re.DOTALL)
    assert found is not None
    return found[1]


def check(python: str, wheel: str) -> None:
    """As a user would: an environment, pip, the example; raises where one of them fails."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        inside = f"{folder}/bin/python"
        subprocess.run([inside, "-m", "pip", "install", "--quiet", wheel], check=True)
        started = perf_counter()
        subprocess.run([inside, "-c", example()], check=True, cwd=folder)
        print(
            f"{python}: README's example runs, {perf_counter() - started:.0f} s, compiling included"
        )


def answers(python: str) -> bool:
    """Whether there is such a Python: a version manager's shim may stand for none."""
    found = shutil.which(python)
    return found is not None and subprocess.run([found, "-V"], capture_output=True).returncode == 0


if __name__ == "__main__":
    for python in PYTHONS:
        if answers(python):
            check(python, sys.argv[1])
        else:
            print(f"{python}: not on this machine")
