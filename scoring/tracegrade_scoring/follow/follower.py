"""Scores what comes into a lake until it is asked to end.

A tick is one scoring run, `job/run_scoring.py`. It begins only where a table that scores depend on
has changed, or where a run has waited long enough for its root. The lock of scoring is held for
the tick alone, so that scheduled runs, erasure and other jobs get their turn.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Final, NamedTuple, Protocol

from tracegrade.errors import TracegradeError
from tracegrade_lake import Lake
from tracegrade_lake.errors import LeaseLost, RunOvertaken
from tracegrade_lake.storage import Lock
from tracegrade_scoring.errors import FollowerBusy, ScoringBusy
from tracegrade_scoring.follow import small_files
from tracegrade_scoring.follow.commands import (
    LIMIT_SECS,
    FollowingCommand,
    run_commands,
)
from tracegrade_scoring.follow.stopping import StopSignal, stopping
from tracegrade_scoring.follow.tick_schedule import TickSchedule
from tracegrade_scoring.follow.versions import newest_versions
from tracegrade_scoring.job.discovery import QUIET_SECS
from tracegrade_scoring.job.run_scoring import Progress, ScoreSummary

LOCK_NAME: Final = "follow"
POLL_SECS: Final = 2.0
"""Between two looks at the tables on this machine."""
STORE_POLL_SECS: Final = 15.0
"""Between two looks at the tables on an object store, each of some requests."""
TRIES: Final = 3
TRY_SECS: Final = 0.2
"""Between two tries to become the follower."""
LANDING_SECS: Final = 30.0
"""Longest time that what was received takes to land, as a rule. So long after a trace's last
record its next one may be on this machine and not in the lake."""
STORE_LANDING_SECS: Final = 60.0
"""The same for a lake on an object store, where landings are rarer."""


class FollowOptions(NamedTuple):
    """How a lake is followed."""

    every_secs: float = 30.0
    """From the beginning of one tick to the next, at least."""
    quiet_secs: float = QUIET_SECS
    """Without a record of its trace, after which a run is scored without its root."""
    commands: Sequence[FollowingCommand] = ()
    """To run after a tick that changed scores."""
    command_secs: float = LIMIT_SECS
    """Time for each of them, after which it is cut off."""
    stop_after_secs: float = float("inf")
    """After which the follower ends by itself."""


class Tick(Protocol):
    """One scoring run."""

    def __call__(self, now_ns: int, quiet_secs: float, progress: Progress) -> ScoreSummary:
        """Score what is new; the arguments are those of `score`."""


Say = Callable[[str], object]


def follow(lake: Lake, tick: Tick, done: Callable[[ScoreSummary, float], object],
           options: FollowOptions, say: Say) -> None:  # fmt: skip
    """Score what comes into a lake until SIGTERM, Ctrl-C or the end of the given time.

    Args:
        lake: The lake.
        tick: Scores once.
        done: Is called with what a tick did and the seconds it took, if it changed scores.
        options: How to follow.
        say: Gets a line on each thing that goes wrong.

    Raises:
        FollowerBusy: Another process follows this lake.
        LeaseLost: On an object store, another process may follow the lake now.
    """
    with _only_follower(lake) as lock, stopping() as stop:
        ends_at = time.monotonic() + options.stop_after_secs
        say(f"following the lake at {lake.location}; SIGTERM or Ctrl-C ends it")
        follower = Follower(lake, tick, done, options, say, stop)
        while not stop.is_set and time.monotonic() < ends_at:
            lock.check()
            follower.turn()
            stop.wait(min(follower.pause(), ends_at - time.monotonic()))


@contextmanager
def _only_follower(lake: Lake) -> Iterator[Lock]:
    """Hold the lock of followers."""
    lock = lake.lock(LOCK_NAME)
    try:
        if not _taken(lock):
            holder = lock.holder() or "another process"
            msg = (
                f"{holder} already follows the lake at {lake.location}; one follower scores all "
                "that comes, so end that one first"
            )
            raise FollowerBusy(msg)
        lock.sign()
        yield lock
    finally:
        lock.close()


def _taken(lock: Lock) -> bool:
    """Take a lock; `lake status` holds it for a moment to see whether a follower does."""
    for _ in range(TRIES):
        if lock.try_acquire():
            return True
        time.sleep(TRY_SECS)
    return False


class TickCutOff(Exception):
    """The process was asked to end between two buckets."""


class Follower:
    """The state of one follower between its ticks."""

    def __init__(
        self,
        lake: Lake,
        tick: Tick,
        done: Callable[[ScoreSummary, float], object],
        options: FollowOptions,
        say: Say,
        stop: StopSignal,
    ) -> None:
        """Score nothing yet; the arguments are those of `follow`, and what ends it."""
        self._lake = lake
        self._tick = tick
        self._done = done
        self._options = options
        self._say = say
        self._stop = stop
        self._schedule = TickSchedule(options.every_secs)
        self._seen: tuple[object, ...] | None = None
        self._due_ns: int | None = None
        self._unmerged_ticks = 0
        self._fault = ""

    def pause(self) -> float:
        """Return the seconds until the next look at the tables."""
        poll = POLL_SECS if self._lake.is_local else STORE_POLL_SECS
        return max(self._schedule.secs_left(time.monotonic()), min(poll, self._options.every_secs))

    def turn(self) -> None:
        """Score if there may be something to score, and it is time."""
        if self._schedule.secs_left(time.monotonic()):
            return
        try:
            versions = newest_versions(self._lake)
            if versions != self._seen or self._is_due():
                self._score(versions)
        except TickCutOff:
            return
        except (ScoringBusy, RunOvertaken, LeaseLost) as error:
            self._schedule.succeeded(time.monotonic(), 0.0)
            self._note_fault(f"this turn is left out: {error}")
        except Exception as error:  # noqa: BLE001 - a service continues; the line names what failed
            self._note_failure(error)

    def _score(self, versions: tuple[object, ...]) -> None:
        """Score once.

        Args:
            versions: Of the tables, from before.
        """
        begun, processor_secs = time.monotonic(), time.process_time()
        summary = self._tick(self._now_ns(), self._options.quiet_secs, self._progress)
        self._seen, self._due_ns, self._fault = versions, summary.due_ns, ""
        self._schedule.succeeded(begun, time.process_time() - processor_secs)
        if summary.traces:
            self._after_scores(summary, time.monotonic() - begun)

    def _is_due(self) -> bool:
        """Return whether a run has waited long enough, or the last tick failed."""
        return bool(self._fault) or (self._due_ns is not None and self._now_ns() >= self._due_ns)

    def _now_ns(self) -> int:
        """Return the time up to which all that was received has landed, as a rule."""
        landing_secs = LANDING_SECS if self._lake.is_local else STORE_LANDING_SECS
        return time.time_ns() - int(landing_secs * 1e9)

    def _progress(self, buckets: int, of: int) -> None:
        if self._stop.is_set and buckets < of:
            raise TickCutOff

    def _after_scores(self, summary: ScoreSummary, secs: float) -> None:
        """Do all that follows a tick that changed scores."""
        try:
            self._done(summary, secs)
        except TracegradeError as error:  # as where the file of the summary cannot be written
            self._say(_words(error))
        self._unmerged_ticks += 1
        try:
            self._keep_tables_small()
        except Exception as error:  # noqa: BLE001 - as in `turn`; the next ticks repeat it
            self._say(f"small files are not merged: {_words(error)}")
        for command in self._options.commands:
            with suppress(KeyboardInterrupt), self._stop.interrupting():
                if not self._stop.is_set:
                    limit = self._options.command_secs
                    run_commands([command], self._say_unless_ending, limit)

    def _say_unless_ending(self, line: str) -> None:
        if not self._stop.is_set:
            self._say(line)

    def _keep_tables_small(self) -> None:
        """Merge the files of many ticks, after the next one if another process is at it."""
        if self._unmerged_ticks >= small_files.TICKS and small_files.merge_small_files(
            self._lake, self._say
        ):
            self._unmerged_ticks = 0

    def _note_failure(self, error: Exception) -> None:
        if self._stop.is_set:  # the work was cut off
            return
        pause = self._schedule.failed(time.monotonic())
        self._note_fault(f"{_words(error)}; scoring tries again, next in {pause:.0f} s")

    def _note_fault(self, line: str) -> None:
        """Say what is wrong, unless that was the last line said."""
        if line != self._fault:
            self._say(line)
        self._fault = line


def _words(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, TracegradeError) else f"{type(error).__name__}: {text}"
