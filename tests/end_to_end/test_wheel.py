"""The wheel builds, holds the library and nothing else, and installs."""

from __future__ import annotations

import subprocess
import sys
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_wheel_installs_and_runs(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("voful-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert {"voful/py.typed", "voful/algorithms.csv", "voful/__init__.pyi"} <= {*names}
    assert {f"voful/report/page/{part}" for part in ("template.html", "page.css", "page.js")} <= {
        *names
    }
    assert all(name.startswith(("voful/", "voful-")) for name in names)
    assert not any("__pycache__" in name for name in names)
    # The new environment borrows the dependencies of this one, not this checkout's voful.
    venv.create(tmp_path / "env", with_pip=False, symlinks=True)
    python = tmp_path / "env" / "bin" / "python"
    install: list[str | Path] = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        python,
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
    ]
    subprocess.run(install, check=True, capture_output=True)
    here = next(path for path in sys.path if path.endswith("site-packages"))
    code = (
        f"import sys; sys.path.append({here!r}); import voful, numpy; "
        "p = voful.EpsilonGreedy(2); p.update([1, 0], 0.5); "
        "print(voful.__file__, p.select(numpy.eye(2)))"
    )
    output = subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout
    assert str(tmp_path / "env") in output
