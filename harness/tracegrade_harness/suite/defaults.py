"""Defaults of a suite for all of its cases and agents, and for the command's options."""

from typing import Annotated, Literal, TypeAlias

from pydantic import Field

from tracegrade_harness.suite.limits import TrialLimits
from tracegrade_harness.suite.strict import Name, Strict

Network: TypeAlias = Literal["none", "open"]


class Defaults(Strict):
    """Values for cases, agents and options that give none of their own."""

    sandbox: Literal["auto", "bwrap", "none"] = "auto"
    """Sandbox of the agents; `auto`: the safest that works. `--sandbox` overrides it."""
    jobs: Annotated[int, Field(ge=1, le=64)] = 1
    """Trials at a time; `--jobs` overrides it."""
    network: Network = "none"
    """Network of agents that give none."""
    read: list[Name] = Field(default_factory=list)
    """Paths that all agents and MCP servers may read, in addition to their own `read`."""
    trials: Annotated[int, Field(ge=1, le=10_000)] = 1
    """Trials of cases that give no number."""
    limits: TrialLimits = TrialLimits()
    """Limits of trials; a limit that a case gives replaces only the same limit here."""
