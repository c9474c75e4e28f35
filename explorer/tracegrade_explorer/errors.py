"""Errors that end the explorer or answer a request; each message: fact, value, way out."""

from tracegrade.errors import BadInput, TracegradeError


class ExplorerError(TracegradeError):
    """The explorer failed for a reason outside: the lake, the network."""


class BadFilter(ExplorerError, BadInput):
    """A filter, or another part of a page's address, cannot be understood."""


class UnsafeAddress(ExplorerError, BadInput):
    """Other users could reach the address on which the server should listen."""


class AddressTaken(ExplorerError):
    """The address cannot be listened on."""


class FormRefused(ExplorerError, BadInput):
    """A form did not come from a current page of the explorer, or is too large."""


class NameRefused(ExplorerError, BadInput):
    """Nobody who labels can be called so, or may label where others could reach the address."""


class LabelNotWritten(ExplorerError):
    """The process that writes labels and saved queries could not."""


class RunMissing(ExplorerError, BadInput):
    """The run that a label is about is no longer in the lake."""


class PageMissing(ExplorerError, BadInput):
    """The lake has nothing with the name or id in an address."""


class TooSlow(ExplorerError):
    """A page took longer than it may, or too many are asked for at once."""


class SqlStopped(ExplorerError):
    """A query in its own process took more time, memory or rows than it may."""
