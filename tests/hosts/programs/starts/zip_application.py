"""A zip application: its modules come out of an archive.

spans: 3
speed: slow
"""

import subprocess
import sys
import zipapp
from pathlib import Path

from tg import t

Path("app").mkdir()
Path("app/helper.py").write_text("from tg import t\n\n@t.tool\ndef work(x):\n    return x\n")
Path("app/__main__.py").write_text(
    "import inspect\nfrom tg import t\nfrom helper import work\nt.init()\n"
    "with t.agent_run('zip'):\n    print(work(1), inspect.getsource(work))\n"
)
zipapp.create_archive("app", "app.pyz")
ended = subprocess.run([sys.executable, "app.pyz"], capture_output=True, text=True, check=False)
print(ended.returncode, ended.stdout, ended.stderr, t.failures())
