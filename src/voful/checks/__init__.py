"""Check your own policy or agent: whether it keeps the contract that loops and users rely on."""

from voful.checks.agents import AGENT_CHECKS, AgentSubject, check_agent
from voful.checks.common import sampled_members
from voful.checks.contract import ContractError, NotApplicable
from voful.checks.policies import CHECKS, Subject, check_policy

__all__ = [
    "AGENT_CHECKS",
    "CHECKS",
    "AgentSubject",
    "ContractError",
    "NotApplicable",
    "Subject",
    "check_agent",
    "check_policy",
    "sampled_members",
]
