"""Errors of the lake; each class is one that a caller can act on."""

from tracegrade.errors import BadInput, TracegradeError


class LakeError(TracegradeError):
    """Something in the lake failed."""


class LakeMissing(LakeError, BadInput):
    """There is no lake at this path."""


class LakeOfTenants(LakeError, BadInput):
    """A lake has no rows of its own, only tenants with their own lakes."""


class LakeNewer(LakeError):
    """A lake was written by a later version, which may write with another meaning."""


class LakeForbidden(LakeError):
    """The user may not read the lake."""


class BadLakePath(LakeError, BadInput):
    """A lake cannot have this path."""


class LakeDamaged(LakeError):
    """A table's log or one of its files cannot be read."""


class LakeUnwritable(LakeError):
    """The lake's disk is full, read-only or failing, or its folder is missing."""


class LakeUnreachable(LakeUnwritable):
    """The lake's object store did not answer, or refused."""


class StoreUnfit(LakeError):
    """An object store lacks what keeps concurrent writers apart."""


class SchemaDiffers(LakeError):
    """Rows or a table do not have the declared columns."""


class StagedFileUnfit(LakeError):
    """A file that another process staged is not as it said."""


class CommitFailed(LakeError):
    """Other writers were first for too long; nothing of the commit is visible."""


class Fenced(LakeError):
    """Another collector commits under the same id: one's folder is a copy of the other's."""


class FilesReplaced(CommitFailed):
    """Files that a commit wanted to replace have already left the table."""


class RunOvertaken(CommitFailed):
    """Another run committed to the table first."""


class LeaseLost(LakeError):
    """A lock on an object store was lost, so that another process may hold it now."""


class MaintenanceBusy(LakeError):
    """Another process maintains the lake."""


class BadCondition(LakeError, BadInput):
    """A condition on rows cannot be understood."""


class LakeNotResting(LakeError):
    """A lake changed faster than it could be read."""
