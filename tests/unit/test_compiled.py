from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CALLS = """
from inner import scale
from voful.compiled import kernel
import voful.compiled

@kernel
def twice(x):
    return 2.0 * scale(x)

print(twice(1.0))
"""
INNER = """
from voful.compiled import kernel

@kernel
def scale(x):
    return {factor} * x
"""


def test_a_kernel_knows_that_what_it_calls_has_changed(tmp_path: Path) -> None:
    """With a copy of the package, of which one file changes and the kernel's own does not."""
    package = tmp_path / "voful"
    package.mkdir()
    for name in ("compiled.py", "kernel_cache.py", "notice.py"):
        shutil.copy(Path(__file__).parents[2] / "src" / "voful" / name, package)
    (package / "__init__.py").write_text("")
    (tmp_path / "main.py").write_text(CALLS.replace("from inner", "from voful.inner"))
    seen = []
    for factor in ("3.0", "5.00"):
        (package / "inner.py").write_text(INNER.format(factor=factor))
        environment = os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": f"{tmp_path}/c"}
        done = subprocess.run(
            [sys.executable, "-P", "-c", "import main"],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        seen.append(done.stdout.strip())
    assert seen == ["6.0", "10.0"]
