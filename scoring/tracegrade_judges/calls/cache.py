"""The cache of answers in a lake, which answers equal requests without a model.

Each run has its own: what one has from another would be gone with the other's trace.
"""

import datetime
import hashlib
from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_judges.schema import JUDGE_CALLS
from tracegrade_judges.untrusted_text import NONCE_IN_KEYS
from tracegrade_lake import Lake

_COLUMNS: Final = ["trajectory_id", "key", "response", "input_tokens", "output_tokens", "cost_usd"]


class CachedCall(NamedTuple):
    """An answer that is known."""

    trajectory_id: str
    key: str
    response: str
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: float | None


def request_key(body: bytes, nonce: str, settings: str = "") -> str:
    """Return the key that equal requests share, regardless of their nonce.

    Args:
        body: As it is sent.
        nonce: The nonce of its conversation.
        settings: What decides on the answer and is not in the body.
    """
    plain = body.replace(nonce.encode(), NONCE_IN_KEYS.encode())
    return hashlib.sha256(settings.encode() + plain).hexdigest()


class CallCache:
    """Known answers about some runs, and those that are new."""

    def __init__(self, lake: Lake) -> None:
        """Take the lake that keeps them."""
        self._lake = lake
        self._known: dict[tuple[str, str], CachedCall] = {}
        self._new: list[dict[str, Any]] = []

    def take(self, trajectory_ids: Collection[str]) -> None:
        """Know what the lake keeps of these runs, and no longer of others."""
        dataset = self._lake.dataset(JUDGE_CALLS.name)
        runs = pa.array(trajectory_ids, pa.string())
        self._known = {}
        if dataset is not None:
            mine = pc.field("trajectory_id").isin(runs)
            for row in dataset.to_table(columns=_COLUMNS, filter=mine).to_pylist():
                call = CachedCall(**row)
                self._known.setdefault((call.trajectory_id, call.key), call)

    def find(self, trajectory_id: str, key: str) -> CachedCall | None:
        """Return the answer to a request about a run; None if it is not known."""
        return self._known.get((trajectory_id, key))

    def add(self, call: CachedCall, **columns: Any) -> None:
        """Know one more answer, to be kept by `keep`."""
        self._known[call.trajectory_id, call.key] = call
        now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
        self._new.append({**call._asdict(), **columns, "asked_at": now, "date": now.date()})

    def keep(self) -> None:
        """Let the lake keep what is new."""
        if self._new:
            self._lake.append(JUDGE_CALLS, _table(self._new))
            self._new = []


def _table(rows: Iterable[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), JUDGE_CALLS.arrow())
