"""What the collector and the lake can fail with; each class is something a caller acts on."""

from tracegrade.errors import BadInput, CheckFailed, TracegradeError


class CollectorError(TracegradeError):
    """Something in the collector or the lake failed."""


class Unavailable(CollectorError):
    """A request was not taken in; the client may send it again after `retry_after_secs`."""

    retry_after_secs = 1
    """Exporters give up after about 7 s in all, so a longer wait would lose the data."""


class MalformedRequest(CollectorError, BadInput):
    """The bytes are no OTLP request; the text says where in it."""


class TooLarge(CollectorError, BadInput):
    """A request has more bytes, or holds more items, than one may; the text says how many."""


class LakeMissing(CollectorError, BadInput):
    """There is no lake at this path."""


class LakeForbidden(CollectorError):
    """The lake may not be read by the user who asks."""


class BadLakePath(CollectorError, BadInput):
    """A lake cannot have this path."""


class LakeDamaged(CollectorError):
    """A table's log or one of its files cannot be read."""


class LakeUnwritable(CollectorError):
    """The lake's disk is full, read-only or failing, or its folder is gone."""


class LakeUnreachable(LakeUnwritable):
    """The lake's object store did not answer, or refused."""


class StoreUnfit(CollectorError):
    """An object store lacks what keeps concurrent writers apart."""


class SchemaDiffers(CollectorError):
    """Rows or a table do not have the declared columns."""


class CommitFailed(CollectorError):
    """Other writers were first for too long; nothing of the commit is visible."""


class Fenced(CollectorError):
    """Another collector commits under the same id: one's folder is a copy of the other's."""


class FilesReplaced(CommitFailed):
    """Files that a commit wanted to replace have left the table meanwhile."""


class MaintenanceBusy(CollectorError):
    """Another process maintains the lake."""


class BadEndpoint(CollectorError, BadInput):
    """The address to send to is none."""


class EndpointFailed(CollectorError):
    """An OTLP endpoint did not take what was sent to it."""


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
    """A request's credential does not allow what it asks for."""


class BadCredentials(CollectorError, BadInput):
    """The file of tokens, or a certificate, cannot be used."""


class NotRedacted(CollectorError):
    """Redaction failed, so rows were not written."""


class BadSecret(CollectorError, BadInput):
    """The file with the secret of pseudonyms cannot be read, or holds too little."""


class BadCondition(CollectorError, BadInput):
    """A condition on rows cannot be understood."""


class NotLanding(CollectorError):
    """A running collector does not land what it received."""


class LakeNotResting(CollectorError):
    """A lake changed faster than it could be read."""


class VerificationFailed(CollectorError, CheckFailed):
    """Something was lost, or is not as it was written."""
