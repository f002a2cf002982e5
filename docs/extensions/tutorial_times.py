"""How much CPU time each tutorial takes, for the test that none takes too long."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

_started: dict[str, float] = {}


def clock(gallery_conf: dict[str, Any], script: str, when: str) -> None:
    """Called by sphinx-gallery before and after each script; writes NAME.seconds beside its page.

    CPU time, child processes included: a busy machine makes no tutorial slower.
    """
    now = sum(os.times()[:4])
    if when == "before":
        _started[script] = now
    elif script in _started:
        page = Path(gallery_conf["src_dir"], gallery_conf["gallery_dirs"][0], Path(script).name)
        page.with_suffix(".seconds").write_text(f"{now - _started.pop(script):.2f}\n")
