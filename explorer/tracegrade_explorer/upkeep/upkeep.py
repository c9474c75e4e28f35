"""The processes that an explorer starts for its lake: builds, and scoring runs every so often."""

from dataclasses import dataclass
from typing import Final, NamedTuple

from tracegrade_explorer.upkeep.builder import LakeBuilder
from tracegrade_explorer.upkeep.score_timer import ScoreTimer
from tracegrade_explorer.upkeep.scoring_process import ScoringProcess


class UpkeepState(NamedTuple):
    """What pages show of it."""

    builds: bool = False
    """New spans are built into runs."""
    fault: str = ""
    """Why the last build failed; '' if it did not."""
    scores: bool = False
    """New runs are scored every so often."""
    is_scoring: bool = False
    """A scoring run that this explorer started is under way."""


NO_UPKEEP: Final = UpkeepState()


@dataclass(frozen=True)
class LakeUpkeep:
    """The processes that one explorer starts for its lake."""

    scoring: ScoringProcess
    builder: LakeBuilder | None = None
    """None: nothing is built."""
    timer: ScoreTimer | None = None
    """None: a scoring run follows labels alone."""

    @property
    def state(self) -> UpkeepState:
        """What is being done now."""
        fault = self.builder.fault if self.builder else ""
        return UpkeepState(
            self.builder is not None, fault, self.timer is not None, self.scoring.is_running
        )

    def follow(self) -> None:
        """Begin."""
        if self.builder:
            self.builder.follow()
        if self.timer:
            self.timer.follow()

    def close(self) -> None:
        """End all processes; the next build and scoring run repeat what was cut off."""
        self.scoring.close()
        if self.builder:
            self.builder.close()
        if self.timer:
            self.timer.close()
