"""Limits of a case, as a suite declares them."""

from typing import Annotated

from pydantic import Field

from tracegrade_harness.suite.strict import Seconds, Strict


class TrialLimits(Strict):
    """Limits of a trial; a trial that reaches one has failed."""

    wall_secs: Seconds = 300
    idle_secs: Seconds | None = None
    """Seconds without any sign: no span, no output, nothing at the gate or in a channel."""
    calls: Annotated[int, Field(ge=1)] | None = None
    """Most tool calls."""
    tokens: Annotated[int, Field(ge=1)] | None = None
    """Input and output tokens of all models together, live or from a tape."""
    usd: Annotated[float, Field(gt=0, le=1_000_000)] | None = None
    """US dollars that its models cost; answers of a tape cost nothing."""
    memory_mb: Annotated[int, Field(ge=16)] | None = None
    """Megabytes of each process's address space."""
    processes: Annotated[int, Field(ge=2, le=1_000_000)] = 1000
    """Most processes and threads at a time; on Linux."""
    disk_mb: Annotated[int, Field(ge=1, le=1_000_000)] = 4096
    """Megabytes that a trial may add to its environment's folder, and the size limit of one file.
    """
