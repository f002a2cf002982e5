"""Linear bandit algorithms, one file each."""

from voful.algorithms import homes
from voful.lazy import on_demand

__all__, __getattr__, __dir__ = on_demand(__name__, homes(__name__))
