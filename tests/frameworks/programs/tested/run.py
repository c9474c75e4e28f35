"""Runs one of these programs as a test of an agent does, and prints what the run scored.

    python tested/run.py FRAMEWORK INSTRUMENTATION VARIANT...

The program sets its own TracerProvider inside the block. PACKAGES is where tracegrade and what it
needs are installed; packages of the framework's environment come before them.
"""

import json
import os
import runpy
import site
import sys
from pathlib import Path

PROGRAMS = Path(__file__).parents[1]
sys.path.insert(0, str(PROGRAMS))
site.addsitedir(os.environ["PACKAGES"])

from tracegrade_testing import capture, score  # noqa: E402 - both are found now

framework, *sys.argv[1:] = sys.argv[1:]
with capture() as captured:
    runpy.run_path(str(PROGRAMS / f"on_{framework}.py"))
result = score(captured)
found = {
    "runs": len(result.runs),
    "calls": list(result.calls),
    "arguments": result.calls.made[0].arguments,
    "kinds": [step.kind for step in result.read().steps if step.kind != "thought"],
}
print(json.dumps(found), flush=True)
