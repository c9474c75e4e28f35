"""Commands as verifiers: a kind without parts."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from tracegrade_harness.parts.command.model import CommandVerifier
from tracegrade_harness.parts.command.verify import verify_command
from tracegrade_harness.parts.kind import PartKind
from tracegrade_harness.parts.verifying.result import Context, Finding
from tracegrade_harness.suite import paths
from tracegrade_harness.suite.command import OF_VERIFIERS, filled, substitutions
from tracegrade_harness.suite.commands import check_command, check_program
from tracegrade_harness.suite.readable import ReadableEnvironment
from tracegrade_harness.suite.suite_position import At
from tracegrade_queries.files.shape import dotted
from tracegrade_queries.files.yaml_source import Problem


class CommandKind(PartKind):
    """Commands whose exit code says whether a state is as expected."""

    name = "command"
    rank = 70
    verifier = CommandVerifier

    def check_verifier(
        self, at: At, verifier: CommandVerifier, around: ReadableEnvironment | None
    ) -> Iterator[Problem]:
        """Yield problems of a command."""
        path = at.below("command")
        yield from check_program(at.source, (*path, 0), verifier.command[0])
        yield from check_command(at.source, path, verifier.command, OF_VERIFIERS)
        yield from _beside(at, verifier.command)

    def verify(self, verifier: CommandVerifier, context: Context) -> Finding:
        """Return whether the command passes."""
        return verify_command(verifier, context)

    def verifier_answers(self, verifier: CommandVerifier, folder: Path) -> Iterator[str]:
        """Yield the suite's files that the command names."""
        own = [word for word in verifier.command if substitutions(word) == ["suite"]]
        found = map(Path, filled(own, {"suite": str(folder)}))
        yield from (str(path) for path in found if path.resolve() != folder)


def _beside(at: At, command: Sequence[str]) -> Iterator[Problem]:
    """Yield a note for each argument that only looks like a file of the suite."""
    for i, name in enumerate(command):
        outside = paths.source_fault(name) or name.startswith("/")
        if not outside and paths.source(at.folder, name).is_file():
            path = at.below("command", i)
            fact = f"{dotted(path)} '{name}' is looked for in the environment"
            way_out = f"write {{suite}}/{name} for the file next to the suite"
            yield at.source.problem(path, fact, way_out)._replace(is_note=True)
