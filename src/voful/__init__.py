"""voful: variance-aware linear bandits and reinforcement learning in linear mixture MDPs."""

from voful.algorithms import homes
from voful.lazy import on_demand

__version__ = "0.2.0"

# Importing the package alone loads neither NumPy nor Numba. Type checkers read __init__.pyi.
__all__, __getattr__, __dir__ = on_demand(
    __name__,
    {
        **homes(__name__),
        "Choice": "bandits.propensities",
        "Evaluation": "logs.evaluation",
        "Evaluator": "logs.evaluator",
        "FileFormatError": "persistence",
        "Guarded": "bandits.guard",
        "LinearMixtureModel": "mdp.model",
        "Log": "logs.log",
        "PerAction": "bandits.per_action",
        "Ticket": "tickets",
        "Tickets": "tickets",
        "compare": "logs.evaluate",
        "create": "registry",
        "evaluate": "logs.evaluate",
        "learn": "logs.learn",
        "load": "registry",
        "merge": "logs.merge",
        "replay": "logs.replay",
        "results": "experiments.store.store",
        "warm": "warming",
    },
    others=("__version__", "bandits", "checks", "confidence", "envs", "mdp", "monitor"),
)
