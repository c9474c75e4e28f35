"""Errors of the collector; each class is one that a caller can act on."""

from tracegrade.errors import BadInput, CheckFailed, TracegradeError


class CollectorError(TracegradeError):
    """Something in the collector failed."""


class BadConfig(CollectorError, BadInput):
    """An option is unknown, has the wrong type or a value that makes no sense."""


class Unavailable(CollectorError):
    """A request was not taken in; the client may send it again after `retry_after_secs`."""

    retry_after_secs = 1
    """Exporters give up after about 7 s in all, so a longer wait would lose the data."""


class MalformedRequest(CollectorError, BadInput):
    """The bytes are not an OTLP request; the message says where they go wrong."""


class TooLarge(CollectorError, BadInput):
    """A request has more bytes or items than allowed; the text has the numbers."""


class BadEndpoint(CollectorError, BadInput):
    """The address to send to is not a valid URL."""


class EndpointFailed(CollectorError):
    """An OTLP endpoint did not accept a request."""


class OutUnwritable(CollectorError):
    """The file to export to cannot be written."""


class ImportBusy(CollectorError):
    """Another import into this lake is running."""


class NotAllImported(CollectorError, BadInput):
    """Some of the files or lines could not be read; everything else is in the lake."""


class Unauthenticated(CollectorError):
    """A request shows no valid credential; `reason` is the word that it is counted under."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Forbidden(CollectorError):
    """A request's credential does not allow the request."""


class BadCredentials(CollectorError, BadInput):
    """The token file or a certificate cannot be used."""


class NotRedacted(CollectorError):
    """Redaction failed, so rows were not written."""


class BadSecret(CollectorError, BadInput):
    """The file with the secret of pseudonyms cannot be read, or holds too little."""


class NotLanding(CollectorError):
    """A running collector does not land received requests."""


class NotAllErased(CollectorError):
    """A file could not be read, so it may still hold data that should be erased."""


class VerificationFailed(CollectorError, CheckFailed):
    """Data was lost, or differs from what was written."""


class ServerUnreachable(CollectorError):
    """A server did not answer a request."""
