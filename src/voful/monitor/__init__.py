"""Is the model still right? Checks with a stated level, beside anybody's model."""

from voful.lazy import on_demand

__all__, __getattr__, __dir__ = on_demand(
    __name__, {"ModelAlarm": "watch", "ModelCheck": "check", "Alarm": "watch"}
)
