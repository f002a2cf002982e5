"""Tables in Markdown, made from the registry."""

from __future__ import annotations

from voful import registry


def registry_markdown() -> str:
    """The tables of algorithms, as the docs show them: bandits, then episodic agents."""
    return f"{bandit_table()}\nLinear mixture MDPs:\n\n{agent_table()}"


def bandit_table() -> str:
    """A row per bandit policy."""
    return (
        "| id | class | paper | regret, up to logs | variance | horizon | cost a round |\n"
        "|---|---|---|---|---|---|---|\n"
    ) + "".join(
        f"| `{entry.id}` | `{entry.name}` | {entry.paper} | {entry.guarantee} "
        f"| {entry.variance} | {entry.horizon} | {entry.cost} |\n"
        for entry in registry.entries("bandit")
    )


def agent_table() -> str:
    """A row per agent for linear mixture MDPs."""
    return (
        "| id | class | paper | regret, up to logs | cost a plan |\n|---|---|---|---|---|\n"
    ) + "".join(
        f"| `{entry.id}` | `{entry.name}` | {entry.paper} | {entry.guarantee} | {entry.cost} |\n"
        for entry in registry.entries("episodic")
    )
