"""The first tracegrade code in a spawned `multiprocessing` child; `processes` sends its data.

It is a module of its own because it calls `provider.init`, and `provider` imports `processes`.
"""

import pickle

from tracegrade.attachment import runtime
from tracegrade.guard import guarded
from tracegrade.host.pool_workers import send_before_sigterm
from tracegrade.host.processes import ChildStart, context_at
from tracegrade.provider import init
from tracegrade.state import state


@guarded
def begin_child(pickled: bytes) -> None:
    """Start tracegrade in a spawned child and enter the run; a forked child has both already."""
    sent: ChildStart | None = pickle.loads(pickled)  # noqa: S301 - the parent's
    if sent is None:
        return
    if state.provider is None and sent.given is not None:
        init(*sent.given.names, redact=pickle.loads(sent.redact))  # noqa: S301 - as above
    if state.provider is not None and sent.is_worker:
        send_before_sigterm()
    runtime().attach(context_at(sent.start_point))
