"""Check wording: `python -m tests.wording [--changed | --messages | --write]`.

Exits with 1 if more is found than the budget allows, or with `--changed` if a changed file holds
more than before. `--messages` prints the product's messages, for a spelling checker; `--write`
writes the budget and the messages as they are now.
"""

import sys
from collections import Counter

from tests.changes import base, changed_files, git
from tests.wording.findings import (
    BUDGET,
    MESSAGES,
    Finding,
    area,
    budget,
    counts,
    findings,
    messages,
    named_by_git,
    read,
    with_prose,
)


def main(arguments: list[str]) -> int:
    """Do what the arguments ask for and return the exit code."""
    if arguments == ["--messages"]:
        print(messages(), end="")
        return 0
    if arguments == ["--write"]:
        write()
        return 0
    wrong = new_findings() if arguments == ["--changed"] else over_budget()
    print("".join(f"{finding}\n" for finding in wrong), end="")
    return 1 if wrong else 0


def over_budget() -> list[Finding]:
    """Return all findings of each rule and area in which there are more than the budget has."""
    found = list(read(named_by_git("ls-files")))
    allowed, counted = budget(), counts(found)
    return [
        finding
        for finding in found
        if counted[finding.rule][area(finding.file)]
        > allowed.get(finding.rule, {}).get(area(finding.file), 0)
    ]


def new_findings() -> list[Finding]:
    """Return findings of rules that a changed file breaks more often than it did.

    Changed is what differs from where the branch left its upstream, or else from the last commit.
    """
    commit = base()
    before = set(git("ls-tree", "-r", "--name-only", commit).splitlines())
    found = []
    for file in with_prose(changed_files(commit)):
        held = findings(file, git("show", f"{commit}:{file}")) if file in before else []
        rules = Counter(finding.rule for finding in held)
        now = list(read([file]))
        rose = Counter(finding.rule for finding in now) - rules
        found += [finding for finding in now if finding.rule in rose]
    return sorted(found)


def write() -> None:
    """Write the budget and the messages as they are now."""
    MESSAGES.write_text(messages(), "utf-8")
    lines = ["# How often each rule is broken in each area: only less from here on."]
    for rule, areas in counts(read(named_by_git("ls-files"))).items():
        lines += ["", f'["{rule}"]', *(f"{name} = {number}" for name, number in areas.items())]
    BUDGET.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
