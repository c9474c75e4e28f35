"""Lone surrogates, NUL, escapes and names of every kind, as values and as names.

spans: 21
speed: slow
"""

import os
import sys

from tg import t

t.init()
TEXTS = [
    "\ud800",
    "a\x00b",
    "\x1b[31mred",
    "\u202egnp.exe",
    os.fsdecode(b"\xff\xfe"),
    "",
    "x" * 3000,
]
sys.stdout.reconfigure(errors="backslashreplace")


def plain(x):
    return x


with t.agent_run("odd", user_input=TEXTS, conversation="\udcff"):
    for text in TEXTS:
        tool = t.tool(name=text)(lambda x: x)
        print(ascii(tool(text)))
    for name in (b"bytes", 7, None):
        print(t.tool(name=name)(plain)(1))
