"""Makes a context current, and restores the previous one after any interruption.

OpenTelemetry's runtime context is usually that of contextvars. Another vendor's may lose content
that it cannot express: ddtrace's keeps only the span, and never releases a span that is not its
own. In that case tracegrade keeps its contexts in a variable of its own and leaves the host's
unchanged.
"""

import sys
from contextvars import Context as Variables
from contextvars import ContextVar, Token
from typing import Any, Final, Protocol

from opentelemetry import context as otel_context
from opentelemetry.context import Context
from opentelemetry.context.contextvars_context import ContextVarsRuntimeContext
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import get_current_span, set_span_in_context

from tracegrade.guard import came_by_signal

_LANGCHAIN: Final = "openinference.instrumentation.langchain"


class Runtime(Protocol):
    """A runtime context, which knows the current context."""

    def attach(self, context: Context, /) -> Any:
        """Make a context current, and return a token to detach it by."""

    def get_current(self) -> Context:
        """Return the current context."""

    def detach(self, token: Any, /) -> None:
        """Restore the context that was current before `attach`."""


class _Foreign(Context):
    """The context of the host's runtime, while none of tracegrade's is current."""


class _Beside:
    """Keeps tracegrade's contexts if the host's runtime would lose them."""

    def __init__(self, host: Runtime) -> None:
        self._host = host
        self._ours: ContextVar[Context | None] = ContextVar("tracegrade-context", default=None)

    def attach(self, context: Context) -> tuple[Token[Context | None], Any]:
        """Make a context current for tracegrade; for the host, too, if its vendor made it."""
        token = self._ours.set(None if isinstance(context, _Foreign) else context)
        span = get_current_span(context)
        is_theirs = span.is_recording() and not isinstance(span, ReadableSpan)
        if not is_theirs or isinstance(context, _Foreign):
            return token, None
        return token, (self._host.attach(context),)

    def get_current(self) -> Context:
        """Return tracegrade's current context, else the host's."""
        ours = self._ours.get()
        if ours is not None:
            return ours
        try:
            return _Foreign(self._host.get_current())
        except Exception:  # noqa: BLE001 - another vendor's may raise anything
            return _Foreign()

    def detach(self, token: tuple[Token[Context | None], Any]) -> None:
        """Restore the context that was current before."""
        ours, theirs = token
        if theirs is not None:
            self._host.detach(theirs[0])
        self._ours.reset(ours)


_host: Runtime | None = None
_runtime: Runtime


def runtime() -> Runtime:
    """Return OpenTelemetry's runtime context, or tracegrade's own if that one loses contexts."""
    found = otel_context._RUNTIME_CONTEXT
    return _runtime if found is _host else _choose(found)


def current() -> Context:
    """Return the current context."""
    return runtime().get_current()


def attach_in_thread(context: Context) -> None:
    """Make a context current in a thread of tracegrade, permanently.

    An unknown runtime may share one context between threads. It is left alone, so that
    tracegrade's context does not become the host's.
    """
    here = runtime()
    if isinstance(here, (ContextVarsRuntimeContext, _Beside)):
        here.attach(context)


def _choose(found: Runtime) -> Runtime:
    global _host, _runtime  # noqa: PLW0603 - one for a process, as OpenTelemetry's
    # In variables of no one's, so that nothing of the host is current there.
    _runtime = found if Variables().run(_keeps, found) else _Beside(found)
    _host = found
    return _runtime


def _keeps(found: Runtime) -> bool:
    """Return whether a runtime gives back the contexts that it is given."""
    if type(found) is ContextVarsRuntimeContext:
        return True
    key = otel_context.create_key("tracegrade-trial")
    try:
        token = found.attach(otel_context.set_value(key, key, found.get_current()))
        is_kept = found.get_current().get(key) == key
        found.detach(token)
        return is_kept and key not in found.get_current()
    except Exception:  # noqa: BLE001 - another vendor's may raise anything
        return False


def below_framework(context: Context) -> Context:
    """Return a context with the span of the framework's call, if none is current.

    OpenInference's instrumentor of LangChain does not make its spans current, so a tool below one
    would begin a trace of its own. The instrumentor can be asked for the span.
    """
    instrumentor = sys.modules.get(_LANGCHAIN)
    if instrumentor is None or get_current_span(context).get_span_context().is_valid:
        return context
    try:
        span = instrumentor.get_current_span()
    except Exception as error:  # other versions may not have it; the call continues
        if came_by_signal(error):
            raise
        return context
    return context if span is None else set_span_in_context(span, context)


_NONE: Final = Context()


class Attachment:
    """A context of tracegrade that is current from `attach` to `detach`, around the host's code.

    `detach` may be called again, so that a caller that a signal interrupts can make sure.
    """

    __slots__ = ("_is_attached", "_outside", "_runtime", "_token", "inside")

    def __init__(self) -> None:
        self.inside: Context = _NONE
        """tracegrade's own context; attached only if there is one."""
        self._outside: Context = _NONE
        self._is_attached = False
        self._token: Any = None
        self._runtime: Runtime = _runtime

    def attach(self, outside: Context) -> None:
        """Make tracegrade's context current in place of `outside`."""
        if self.inside is _NONE:
            return
        self._runtime = runtime()
        self._outside = outside
        self._is_attached = True  # before it is: an interrupt may come between
        self._token = self._runtime.attach(self.inside)

    def detach(self) -> None:
        """Restore the context that was current before."""
        if not self._is_attached:
            return
        current = self._runtime.get_current()
        if current is self.inside or current == self.inside:
            self._give_back()
        else:
            self._withdraw(current)
        self._is_attached = False

    def _give_back(self) -> None:
        token, self._token = self._token, None
        if token is not None:
            try:
                self._runtime.detach(token)
            except Exception as error:  # of another task or thread; a vendor's raises anything
                if came_by_signal(error):
                    raise
                token = None
        if token is None:  # or an interrupt took it
            self._runtime.attach(self._outside)
            self._empty()

    def _withdraw(self, current: Context) -> None:
        """Take tracegrade's values out when another context than its own is current.

        A stream that was abandoned is closed by another task, and of two streams that take turns
        the first may end first. Code that still has tracegrade's context, or returns to it, finds
        the earlier values in it. A context that the host derived from it stays, without these
        values.
        """
        ours = self._ours()
        if any(current.get(key) is value for key, value in ours.items()):
            remaining = {
                key: value for key, value in current.items() if ours.get(key) is not value
            }
            before = {key: self._outside[key] for key in ours if key in self._outside}
            self._runtime.attach(Context({**before, **remaining}))
        self._empty()

    def _ours(self) -> dict[str, object]:
        outside = self._outside
        return {key: value for key, value in self.inside.items() if outside.get(key) is not value}

    def _empty(self) -> None:
        """Restore the earlier values in tracegrade's context, for code that still has it."""
        for key in self._ours():
            dict.pop(self.inside, key, None)
        dict.update(self.inside, self._outside)


runtime()
