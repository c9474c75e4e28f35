"""The last step in this process: others' spans are cleaned, and a lost batch is said once.

Our own spans were cleaned when they were written. Runs in the batch processor's thread.
"""

import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from opentelemetry.sdk.trace import Event, ReadableSpan
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter, SpanExportResult
from opentelemetry.trace import Status
from opentelemetry.util.types import AttributeValue

from tracegrade import names
from tracegrade.guard import guarded, report, say
from tracegrade.redact import PLACEHOLDER, redact
from tracegrade.settings import Content, Redact, Settings
from tracegrade.state import SCOPE_NAME, state

EXIT_MILLIS: Final = 10_000  # how long a process that ends waits for its last spans to be sent
EXIT_RETRIES: Final = 1  # how often it tries again by then: a collector that is down gets a second

# Keys under which other instrumentations keep what was said; the keys of messages have indexes.
_CONTENT_KEYS: Final = (
    "gen_ai.input.messages",
    "gen_ai.output.messages",
    "gen_ai.system_instructions",
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.call.result",
    "gen_ai.prompt",
    "gen_ai.completion",
    "gen_ai.content",
    "gen_ai.retrieval.",
    "gen_ai.memory.",
    "input.value",
    "output.value",
    "llm.input_messages",
    "llm.output_messages",
    "llm.prompts",
    "llm.completions",
    "llm.prompt_template",
    "llm.function_call",
    "llm.choices",
    "retrieval.documents",
    "reranker.",
    "embedding.",
    "tool.parameters",
    "traceloop.entity.input",
    "traceloop.entity.output",
    "exception.message",
    "exception.stacktrace",
)


class CleanExporter(SpanExporter):
    """Cleans spans by the content mode and the user's `redact=`, then hands them on.

    Lost spans are counted, and said once; the exporter's own complaints are not passed on.
    """

    def __init__(self, exporter: SpanExporter) -> None:
        self._exporter = exporter
        self._closed = False
        self._complaints = _Complaints()
        for kind in type(exporter).__mro__:
            logging.getLogger(kind.__module__).addFilter(self._complaints)

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send what may leave; never raises."""
        kept = [span for span in map(_clean, spans) if span is not None]
        sent = self._send(kept) or SpanExportResult.FAILURE
        if sent is not SpanExportResult.SUCCESS:
            why = self._complaints.first or "the exporter failed"
            say("export", f"spans are being lost, the agent goes on: {why}", count=len(kept))
        return sent

    @guarded
    def _send(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        with self._complaints:
            return self._exporter.export(spans)

    def hurry(self) -> None:
        """Give up what is still being sent once it was tried again `EXIT_RETRIES` times."""
        self._complaints.give_up_after(EXIT_RETRIES, self.shutdown)

    def shutdown(self) -> None:
        """Close the exporter; a batch that is being retried is given up."""
        if not self._closed:
            self._closed = True
            self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Return whether the exporter has sent all it holds."""
        return self._exporter.force_flush(timeout_millis)


class QuickExitProcessor(BatchSpanProcessor):
    """The SDK's batch processor, which a collector that is down delays by a second at exit."""

    def shutdown(self) -> None:
        """Send what is queued, within the time there is."""
        exporter = self.span_exporter
        if isinstance(exporter, CleanExporter):
            exporter.hurry()
        self._batch_processor.shutdown(timeout_millis=EXIT_MILLIS)


class _Complaints(logging.Filter):
    """Keeps to itself what the exporter logs in a `with` block, in that block's thread."""

    def __init__(self) -> None:
        super().__init__()
        self.first = ""
        """The first complaint of all, to be said when spans were lost for it."""
        self._thread = threading.local()
        self._left: int | None = None
        self._give_up: Callable[[], None] = lambda: None

    def __enter__(self) -> None:
        self._thread.sending = True

    def __exit__(self, *_: object) -> None:
        self._thread.sending = False

    def give_up_after(self, retries: int, give_up: Callable[[], None]) -> None:
        """Call `give_up` at the complaint that follows `retries` more."""
        self._left, self._give_up = retries, give_up

    def filter(self, record: logging.LogRecord) -> bool:
        if not getattr(self._thread, "sending", False):
            return True
        self.first = self.first or record.getMessage()
        if self._left is not None:
            self._left -= 1
            if self._left < 0:
                self._give_up()
        return False


class _CleanSpan(ReadableSpan):
    """A span as it may leave; what the SDK dropped from the original stays counted."""

    def __init__(self, span: ReadableSpan, cleaner: "_Cleaner") -> None:
        super().__init__(
            name=span.name,
            context=span.get_span_context(),
            parent=span.parent,
            resource=span.resource,
            attributes=cleaner.attributes(span.attributes or {}),
            events=[cleaner.event(event) for event in span.events],
            links=span.links,
            kind=span.kind,
            status=cleaner.status(span.status),
            start_time=span.start_time,
            end_time=span.end_time,
            instrumentation_scope=span.instrumentation_scope,
        )
        self._original = span

    @property
    def dropped_attributes(self) -> int:
        return self._original.dropped_attributes

    @property
    def dropped_events(self) -> int:
        return self._original.dropped_events


@guarded
def _clean(span: ReadableSpan) -> ReadableSpan | None:
    """Return the span as it may leave; None (and not the original) where cleaning failed."""
    settings = state.settings
    scope = span.instrumentation_scope
    is_ours = scope is not None and scope.name == SCOPE_NAME
    if settings.redact is None and (is_ours or settings.content is Content.FULL):
        return span
    cleaner = _Cleaner(settings)
    cleaned = _CleanSpan(span, cleaner)
    return cleaned if cleaner.changed else span


class _Cleaner:
    """Applies the content mode, our patterns and the user's `redact=` to one span's texts."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.changed = False

    def attributes(self, attributes: Mapping[str, AttributeValue]) -> dict[str, AttributeValue]:
        """Return the attributes that may leave, `tracegrade.redacted` naming the changed ones."""
        kept: dict[str, AttributeValue] = {}
        redacted = []
        for key, value in attributes.items():
            if self._settings.content is Content.NONE and key.startswith(_CONTENT_KEYS):
                self.changed = True
                continue
            kept[key] = self._value(key, value)
            if kept[key] != value:
                redacted.append(key)
        if redacted:
            self.changed = True
            before = attributes.get(names.REDACTED)
            kept[names.REDACTED] = [*(before if isinstance(before, tuple) else ()), *redacted]
        return kept

    def event(self, event: Event) -> Event:
        """Return an event that may leave."""
        return Event(event.name, self.attributes(event.attributes or {}), event.timestamp)

    def status(self, status: Status) -> Status:
        """Return a status whose description may leave."""
        text = status.description
        if text is None:
            return status
        keep = self._settings.content is not Content.NONE
        clean = self._text("status", text) if keep else None
        self.changed |= clean != text
        return Status(status.status_code, clean)

    def _value(self, key: str, value: AttributeValue) -> AttributeValue:
        if isinstance(value, str):
            return self._text(key, value)
        if isinstance(value, Sequence) and any(isinstance(item, str) for item in value):
            return self._texts(key, value)
        return value

    def _texts(self, key: str, values: Sequence[AttributeValue]) -> AttributeValue:
        clean = [self._text(key, item) if isinstance(item, str) else item for item in values]
        return cast("AttributeValue", tuple(clean))

    def _text(self, key: str, text: str) -> str:
        clean = text if self._settings.content is Content.FULL else redact(text)
        hook = self._settings.redact
        return clean if hook is None else _by_hook(hook, key, clean)


def _by_hook(hook: Redact, key: str, text: str) -> str:
    """Return what the user's rule makes of a text; nothing of it where the rule fails."""
    try:
        clean = hook(key, text)
    except Exception as error:  # noqa: BLE001 - a user's rule may raise anything
        report("redact=", error)
        return PLACEHOLDER
    if isinstance(clean, str):
        return clean
    say("redact=", f"redact= must return a text, got {type(clean).__name__} for {key}")
    return PLACEHOLDER
