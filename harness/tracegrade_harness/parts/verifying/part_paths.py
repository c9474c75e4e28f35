"""Finds the path of a part that a verifier names."""

from tracegrade_harness.errors import VerifierFailed
from tracegrade_harness.parts.verifying.result import Context


def path_of_part(kind: str, name: str, context: Context) -> str:
    """Return the path of a part in the trial's folder.

    Raises:
        VerifierFailed: The environment has no such part.
    """
    at = context.parts.get(f"{kind}:{name}")
    if at is None:
        msg = f"the environment has no {kind} '{name}'; declare it there"
        raise VerifierFailed(msg)
    return at
