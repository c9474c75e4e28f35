"""Release 1.2: fewer calls, by leaving out what its author never saw happen.

It no longer looks at the disk before it writes, and stops at the first upload that it cannot read.
Its plan is short and has no branch; what was an error on the way before is now the end of a run.
"""

from demo.file_agent.plan import Plan, PlanStep
from demo.file_agent.release_1_1 import Release11


class Release12(Release11):
    """The third release, made for speed; the scores say that it must not ship."""

    def first_plan(self) -> Plan:
        """Return the plan of 1.1 without the disk check and without branches."""
        steps = [step for step in super().first_plan().steps if step.id != "room"]
        for step in steps:
            step.on_failure = []
            step.inputs = [each for each in step.inputs if each != "room"]
        return Plan(steps)

    def recover(self, step: PlanStep, error: Exception) -> bool:
        """Stop after any failure."""
        del step, error
        return False
