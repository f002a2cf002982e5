"""Linear mixture MDPs: the model, optimistic planning, and one file per agent."""

from voful.algorithms import homes
from voful.lazy import on_demand

__all__, __getattr__, __dir__ = on_demand(
    __name__, {**homes(__name__), "LinearMixtureModel": "model"}
)
