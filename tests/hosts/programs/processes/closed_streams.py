"""stdout and stderr closed, replaced and redirected, and a pipe without a reader.

spans: 8
speed: slow
"""

import contextlib
import io
import os
import subprocess
import sys

from tg import t

t.init()


@t.tool
def say(text):
    print(text)
    return text


if sys.argv[1:] == ["child"]:
    sys.stderr.close()
    os.close(2)
    with t.agent_run("child"):
        for _ in range(1):
            say("x")
    sys.exit(0)
with t.agent_run("a"):
    with contextlib.redirect_stdout(io.StringIO()) as out:
        say("kept")
    print(repr(out.getvalue()))
    child = subprocess.run([sys.executable, __file__, "child"], capture_output=True, check=False)
    print(child.returncode, child.stdout, child.stderr)
    sys.stdout.flush()
    os.close(1)
    try:
        say("lost")
        sys.stdout.flush()
    except OSError as error:
        print(error, file=sys.stderr)
    os.dup2(2, 1)
