"""Checks that a lake exists, has a known version, and holds more than tenants' lakes."""

from shlex import quote
from typing import Final

from tracegrade_lake.errors import LakeMissing, LakeOfTenants
from tracegrade_lake.lake_root import TENANTS_FOLDER
from tracegrade_lake.storage import Storage

MOST_NAMED: Final = 5
"""Tenants that are named; more are only counted."""


def check_is_lake(storage: Storage) -> None:
    """Check that a lake exists, in a known version, and holds more than tenants' lakes.

    Raises:
        LakeDamaged: Its version cannot be read.
        LakeMissing: The location is empty.
        LakeNewer: It has a later version than this code knows.
        LakeOfTenants: It holds only tenants, each with a lake of its own.
        LakeUnreachable: The object store does not answer.
    """
    location = storage.location
    if not storage.check_version() and not storage.exists():
        msg = f"there is no lake at {location}; `tracegrade collect --lake {location}` creates one"
        raise LakeMissing(msg)
    tenants = storage.only_tenants()
    if tenants:
        more = len(tenants) - MOST_NAMED
        names = ", ".join(tenants[:MOST_NAMED]) + f" and {more} more" * (more > 0)
        msg = (
            f"the lake {location} has nothing but lakes of tenants: {names}; name one, such as "
            f"--lake {quote(f'{location}/{TENANTS_FOLDER}/{tenants[0]}')}"
        )
        raise LakeOfTenants(msg)
