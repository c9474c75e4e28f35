"""The files that a branch changed since it left its upstream, or else since its last commit."""

import subprocess

from tests.citations import ROOT


def git(*arguments: str) -> str:
    """Return what git prints."""
    command = ["git", "-C", str(ROOT), *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def base() -> str:
    """Return the commit that changes are counted from."""
    branch = git("rev-parse", "--symbolic-full-name", "HEAD").strip()
    if git("for-each-ref", "--format=%(upstream)", branch).strip():
        return git("merge-base", "HEAD", "@{upstream}").strip()
    return git("rev-parse", "HEAD").strip()


def changed_files(commit: str) -> list[str]:
    """Return the files that differ from a commit and still exist, and those git does not know."""
    changed = git("diff", "--name-only", "--diff-filter=d", commit)
    untracked = git("ls-files", "--others", "--exclude-standard")
    return sorted({*changed.splitlines(), *untracked.splitlines()})
