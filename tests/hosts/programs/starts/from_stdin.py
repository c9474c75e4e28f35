"""Programs from -c, from stdin, by runpy, by exec: their functions have no source file.

spans: 15
speed: slow
"""

import runpy
import subprocess
import sys
from pathlib import Path

from tg import t

TEXT = """
from tg import t
t.init()
@t.tool
def work(x): return x
with t.agent_run("a"): print(__name__, work(1))
"""
t.init()
for command, text in (
    (["-c", TEXT], ""),
    (["-"], TEXT),
    (["-i", "-q"], TEXT.replace("\n@", "\n\n@").replace("\nwith", "\n\nwith") + "\n"),
):
    ended = subprocess.run(
        [sys.executable, *command], input=text, capture_output=True, text=True, check=False
    )
    print(ended.returncode, ended.stdout, ended.stderr)
Path("other.py").write_text(TEXT)
runpy.run_path("other.py", run_name="other")
exec(compile(TEXT, "<made>", "exec"), {"__name__": "executed"})
