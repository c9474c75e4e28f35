"""Model calls that a framework's spans contain, and a client's spans would repeat.

An installed framework may be unused. So the instrumentors of model clients stay until a framework
writes its first span, which begins before its first model call.
"""

import os
import threading
from collections.abc import Callable, Collection, Mapping

from opentelemetry.context import Context
from opentelemetry.sdk.trace import Span

from tracegrade.guard import guarded
from tracegrade.libraries.instrumentor_handover import instrument
from tracegrade.libraries.instrumentors import Instrumentor
from tracegrade.processor import TracegradeProcessor


class Frameworks(TracegradeProcessor):
    """Removes the clients' instrumentors, or restores them, once a framework writes a span.

    If a process has frameworks that write their model calls and others that do not, the others
    decide: a call that is written twice is counted once, but an unwritten call is lost.
    """

    def __init__(
        self,
        watched: Mapping[str, bool],
        clients: Collection[Instrumentor],
        say: Callable[[str], None],
    ) -> None:
        """Watch for spans of these scopes.

        Args:
            watched: Scopes of frameworks, and whether their spans hold the model calls.
            clients: The instrumentors that are loaded for model clients.
            say: Says a line to the user.
        """
        self._watched = dict(watched)
        self._clients = clients
        self._say = say
        self._known: set[str] = set()
        self._are_out = False
        self._lock = threading.Lock()

    def on_start(self, span: Span, parent_context: Context | None = None) -> None:
        """See whose span it is; of each scope, the first decides."""
        scope = span.instrumentation_scope
        if self._watched and scope is not None and scope.name not in self._known:
            self._see(scope.name)

    @guarded
    def _see(self, scope: str) -> None:
        with self._lock:
            self._known.add(scope)
            for name in [each for each in self._watched if f"{scope}.".startswith(f"{each}.")]:
                if self._watched.pop(name):
                    self._take_out(scope)
                else:
                    self._watched.clear()
                    self._put_in_again()

    def _take_out(self, scope: str) -> None:
        write_no_own_spans()
        if self._are_out or not self._clients:
            return
        self._are_out = True
        names = ", ".join(one.distribution for one in self._clients)
        self._say(
            f"left out from here on, since the spans of {scope} hold its model calls: {names}; "
            "--instrumentors names what to load instead"
        )
        for one in self._clients:
            _uninstrument(one)

    def _put_in_again(self) -> None:
        if self._are_out:
            self._are_out = False
            for one in self._clients:
                instrument(one.entry.load()())


@guarded
def _uninstrument(one: Instrumentor) -> None:
    one.entry.load()().uninstrument()


def write_no_own_spans() -> None:
    """Keep Anthropic's client, where it is made from here on, from writing spans itself."""
    os.environ.setdefault("ANTHROPIC_OPEN_TELEMETRY", "false")
