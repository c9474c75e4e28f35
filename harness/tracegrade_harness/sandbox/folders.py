"""Finds keys and sockets to hide in folders that a suite makes visible to an agent."""

import os
import re
import stat
from collections import deque
from collections.abc import Iterable, Iterator
from fnmatch import translate
from pathlib import Path
from typing import Final

MOST_ENTRIES: Final = 20_000
"""Most entries that are read in all folders of a program, the upper ones first."""
PASSED_OVER: Final = frozenset({"node_modules", "site-packages", "__pycache__"})
"""Folders of packages, which hold no keys."""
KEYS: Final = (
    *(".env", ".env.*", ".envrc", ".netrc", ".git-credentials", ".npmrc", ".pypirc", ".pgpass"),
    *(".my.cnf", ".s3cfg", ".boto", ".vault-token", ".databrickscfg", ".htpasswd", "*.tfstate"),
    *(".git", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".terraform.d", ".codex"),
    *(".claude", ".claude.json", ".gemini", ".cargo", ".config", ".bash_history", ".local"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "*.kdbx", "*.keystore", "*.p12", "*.pfx"),
)
"""Usual names of files with keys; `.git` holds everything that was ever in a folder."""
_KEY: Final = re.compile("|".join(map(translate, KEYS)))
_LISTENING: Final = "/proc/net/unix"


def to_be_hidden(folders: Iterable[Path]) -> Iterator[str]:
    """Yield the paths of keys and sockets in folders."""
    waiting = deque(map(os.path.realpath, folders))
    left = MOST_ENTRIES
    while waiting and left > 0:
        for entry in _entries(waiting.popleft()):
            left -= 1
            if _KEY.match(entry.name) or _is_socket(entry):
                yield entry.path
            elif entry.name not in PASSED_OVER and entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)


def listening_sockets() -> Iterator[str]:
    """Yield the paths of all sockets that the kernel lists, in any folder."""
    try:
        with open(_LISTENING, errors="surrogateescape") as lines:
            for line in lines:
                _, _, path = line.rstrip("\n").partition(" /")
                if path:
                    yield f"/{path}"
    except OSError:
        return


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [*found]
    except OSError:
        return []


def _is_socket(entry: os.DirEntry[str]) -> bool:
    if entry.is_file(follow_symlinks=False) or entry.is_dir(follow_symlinks=False):
        return False
    try:
        return stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode)
    except OSError:
        return False
