"""Which keys of attributes say that their value is a secret, or is to become a pseudonym."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from tracegrade_collector.redaction_rules import STRONG_NAMES, SUFFIX, WEAK_NAMES, name_pattern


class NameKind(IntEnum):
    """What a key says about its value."""

    PLAIN = 0
    WEAK = 1
    """A secret if it looks like a key: `token` is also a word of language models."""

    SECRET = 2
    PSEUDONYM = 3


_STRONG: Final = rf"(?i)(?:{STRONG_NAMES}){SUFFIX}$"
_WEAK: Final = rf"(?i)(?:^|[^a-z0-9])(?:{WEAK_NAMES})$|[a-z0-9]Token$"


class SecretNames:
    """Tells kinds of keys apart."""

    def __init__(self, names: Sequence[str] | None, pseudonym_keys: Sequence[str]) -> None:
        """Know these names besides those everybody uses; with None no name is a secret's."""
        self._pseudonym_keys = pa.array(pseudonym_keys, pa.string())
        own = "|".join(name_pattern(name) for name in names or ())
        self._patterns = [(_WEAK, NameKind.WEAK), (_STRONG, NameKind.SECRET)]
        if own:
            self._patterns.append((rf"(?i)(?:^|[^a-z0-9])(?:{own})$", NameKind.SECRET))
        if names is None:
            self._patterns = []

    def kinds(self, keys: pa.Array) -> npt.NDArray[np.int8]:
        """Return the kind of each key."""
        found = np.zeros(len(keys), np.int8)
        for pattern, kind in self._patterns:
            found[_mask(pc.match_substring_regex(keys, pattern))] = kind
        found[_mask(pc.is_in(keys, value_set=self._pseudonym_keys))] = NameKind.PSEUDONYM
        return found


def _mask(array: pa.Array) -> npt.NDArray[np.bool_]:
    found: npt.NDArray[np.bool_] = array.fill_null(False).to_numpy(zero_copy_only=False)
    return found
