"""Assigns each trace to the first trial that sends it or names it at its gate.

An agent could write into a trace of another trial, or into one that the lake already has, and so
change the scores of others. Its items of such a trace are moved into a trace of its own, whose id
no other trial can predict.
"""

import hashlib
import secrets
import threading
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

MAX_TRACES: Final = 1000
"""Most traces of one trial. A trial is one run: most have one trace, some one for each request."""


class TraceOwners:
    """The traces of a run's trials, for any thread; ids are 32 lower-case hex digits."""

    def __init__(self, known: Callable[[Collection[str]], Collection[str]] = lambda _: ()) -> None:
        """Begin with no trial.

        Args:
            known: Returns the given traces that already belong to another run.
        """
        self._known = known
        self._secret = secrets.token_bytes(16)
        self._lock = threading.Lock()
        self._owners: dict[str, str] = {}
        self._taken_for: defaultdict[str, dict[str, str]] = defaultdict(dict)

    def own(self, trial: str, traces: Iterable[str]) -> Mapping[str, str]:
        """Return the trace to use for each trace: itself, or one of the trial's own.

        Traces beyond `MAX_TRACES` of the trial are left out.

        Raises:
            EnvironmentFailed: The owners cannot be determined.
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
        """Return the traces of a trial, in order of arrival."""
        with self._lock:
            return [*dict.fromkeys(self._taken_for[trial].values())]

    def _other(self, trial: str, trace: str) -> str:
        return hashlib.blake2b(
            f"{trial}\n{trace}".encode(), digest_size=16, key=self._secret
        ).hexdigest()
