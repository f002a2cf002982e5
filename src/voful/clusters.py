"""Ray, where it is installed and asked for."""

from __future__ import annotations

import os
from typing import Any


def import_ray() -> Any:
    """The package, or a ValueError that says how to get it."""
    try:
        import ray
    except ImportError:
        raise ValueError(
            "backend: got 'ray', which is not installed; expected pip install 'voful[ray]'"
        ) from None
    return ray


def connect(ray: Any, workers: int | None, address: str | None) -> bool:
    """Join the cluster at this address, or start a local one; whether it is ours to shut down."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    if ray.is_initialized():
        return False
    local = {} if address else {"num_cpus": workers, "include_dashboard": False}
    ray.init(address=address or "local", log_to_driver=False, **local)
    return True
