"""Defaults of a suite: values for all of its cases and agents, and for the command's options."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from tracegrade_harness.suite.limits import TrialLimits
from tracegrade_harness.suite.strict import Name, Strict

Network: TypeAlias = Literal["none", "open"]


class Defaults(Strict):
    """What holds where a case, an agent or an option of the command says nothing else."""

    sandbox: Literal["auto", "bwrap", "none"] = "auto"
    """What holds agents; `auto`: the safest that works. `--sandbox` says another."""
    jobs: Annotated[int, Field(ge=1, le=64)] = 1
    """Trials at a time; `--jobs` says another number."""
    network: Network = "none"
    """Of agents that do not say theirs."""
    read: list[Name] = Field(default_factory=list)
    """What all agents and MCP servers may read beside what each of them says."""
    trials: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Of cases that do not say theirs."""
    limits: TrialLimits = TrialLimits()
    """Of trials; each limit that a case gives takes the place of this one alone."""
