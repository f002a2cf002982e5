"""Linear mixture MDPs: the model, optimistic planning, and one file per agent."""

from voful.mdp.model import LinearMixtureModel

__all__ = ["LinearMixtureModel"]
