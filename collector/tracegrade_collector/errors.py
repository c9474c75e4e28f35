"""What the collector and the lake can fail with; each class is something a caller acts on."""

from tracegrade.errors import BadInput, TracegradeError


class CollectorError(TracegradeError):
    """Something in the collector or the lake failed."""


class MalformedRequest(CollectorError, BadInput):
    """The bytes are no OTLP request; the text says where in it."""


class LakeMissing(CollectorError, BadInput):
    """There is no lake at this path."""


class LakeDamaged(CollectorError):
    """A table's log or one of its files cannot be read."""


class SchemaDiffers(CollectorError):
    """Rows or a table do not have the declared columns."""


class CommitFailed(CollectorError):
    """A table refused a commit several times; nothing of it is visible."""
