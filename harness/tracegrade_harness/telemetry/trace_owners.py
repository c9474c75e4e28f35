"""Assigns each trace to the first trial that sends a part of it or names it at its gate.

An agent that wrote into the trace of another trial, or into one that the lake has had for long,
would change what others are scored by. What it sends of such a trace goes into one of its own,
whose id nobody else can know before.
"""

import hashlib
import secrets
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

MAX_TRACES: Final = 1000
"""Of one trial: a trial is one run, so most have one, and some one for each request they make."""


class TraceOwners:
    """The traces of all trials of a run; from any thread. Ids are 32 lower-case hex digits."""

    def __init__(self, known: Callable[[Collection[str]], Collection[str]] = lambda _: ()) -> None:
        """Begin with no trial.

        Args:
            known: Returns which of some traces are somebody else's already.
        """
        self._known = known
        self._secret = secrets.token_bytes(16)
        self._lock = threading.Lock()
        self._owners: dict[str, str] = {}
        self._taken_for: defaultdict[str, dict[str, str]] = defaultdict(dict)

    def own(self, trial: str, traces: Iterable[str]) -> Mapping[str, str]:
        """Return what each trace is taken for: itself, or one of the trial's own in its place.

        Those that are left out are beyond `MAX_TRACES` of the trial.

        Raises:
            EnvironmentFailed: It cannot be known whose they are.
        """
        with self._lock:
            own = self._taken_for[trial]
            new = [trace for trace in dict.fromkeys(traces) if trace not in own]
            new = new[: MAX_TRACES - len(own)]
            known = self._known(new) if new else ()
            for trace in new:
                is_free = trace not in known and self._owners.get(trace, trial) == trial
                own[trace] = trace if is_free else self._other(trial, trace)
                self._owners[own[trace]] = trial
            return {trace: own[trace] for trace in traces if trace in own}

    def of(self, trial: str) -> list[str]:
        """Return the traces of a trial, in the order in which they came."""
        with self._lock:
            return [*dict.fromkeys(self._taken_for[trial].values())]

    def _other(self, trial: str, trace: str) -> str:
        return hashlib.blake2b(
            f"{trial}\n{trace}".encode(), digest_size=16, key=self._secret
        ).hexdigest()
