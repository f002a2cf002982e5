"""Tables in Markdown, made from the registry."""

from __future__ import annotations

from voful import registry


def registry_markdown() -> str:
    """The tables of algorithms, as README and docs show them: bandits, then episodic agents."""
    bandits = (
        "| id | class | paper | regret, up to logs | variance | horizon | cost a round |\n"
        "|---|---|---|---|---|---|---|\n"
    ) + "".join(
        f"| `{entry.id}` | `{entry.cls.__name__}` | {entry.paper} | {entry.guarantee} "
        f"| {'known' if entry.needs_variance else 'not needed'} "
        f"| {'anytime' if entry.anytime else 'known'} | {entry.cost} |\n"
        for entry in registry.entries("bandit")
    )
    agents = (
        "| id | class | paper | regret, up to logs | cost a plan |\n|---|---|---|---|---|\n"
    ) + "".join(
        f"| `{entry.id}` | `{entry.cls.__name__}` | {entry.paper} | {entry.guarantee} "
        f"| {entry.cost} |\n"
        for entry in registry.entries("episodic")
    )
    return f"{bandits}\nLinear mixture MDPs:\n\n{agents}"
