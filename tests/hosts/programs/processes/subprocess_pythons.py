"""tracegrade run: Pythons that the host starts send spans of their own, and print nothing more.

spans: 8
mode: run
speed: slow
says: tracegrade: .*
"""

import asyncio
import os
import subprocess
import sys

from tg import t


@t.tool
def work(x):
    return x


if sys.argv[1:]:
    with t.agent_run("child"):
        print("child", work(sys.argv[1]), sys.argv, flush=True)
    sys.exit(int(sys.argv[1]))
print("parent", work("p"), flush=True)
ended = subprocess.run(
    [sys.executable, __file__, "3"], capture_output=True, text=True, check=False
)
print(ended.returncode, ended.stdout, ended.stderr, flush=True)
print(
    subprocess.run(f"{sys.executable} {__file__} 4", shell=True, check=False).returncode,
    flush=True,
)


async def main():
    child = await asyncio.create_subprocess_exec(sys.executable, "-c", "import sys; sys.exit(5)")
    print(await child.wait(), flush=True)


asyncio.run(main())
if hasattr(os, "posix_spawn"):
    pid = os.posix_spawn(sys.executable, [sys.executable, "-c", "print('spawned')"], os.environ)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
