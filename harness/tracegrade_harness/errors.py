"""Errors that end the commands; each message is one line: fact, value, way out."""

from tracegrade.errors import BadInput, CheckFailed, TracegradeError


class SuiteUnusable(BadInput):
    """A suite, or a file that it names, is missing or wrong."""


class EnvironmentFailed(TracegradeError):
    """A part of an environment could not be frozen, restored or read: not the agent's fault."""


class VerifierFailed(TracegradeError):
    """A verifier could not judge."""


class SandboxFailed(TracegradeError):
    """An agent could not be started, stopped or watched: not the agent's fault."""


class HarnessFailed(TracegradeError):
    """Some trials could not be run or judged: not their agents' fault."""


class NotPassed(CheckFailed):
    """A verifier failed, a limit ended a trial, or an environment changes by itself."""


class ImageRefused(EnvironmentFailed):
    """A container image is broken, hostile, for another machine, or another than its digest."""
