"""A host that logs all messages as JSON, with loggers disabled, and a handler that calls a tool.

spans: 13
"""

import json
import logging
import logging.config
import sys

from tg import t

logging.getLogger("early").info("made before")
t.init()


class Json(logging.Formatter):
    def format(self, record):
        return json.dumps(
            {"name": record.name, "level": record.levelname, "text": record.getMessage()}
        )


class Tool(logging.Handler):
    def emit(self, record):
        archive(record.getMessage())


@t.tool
def archive(text):
    archived.append(text)


@t.tool
def work(x):
    logging.getLogger("host").info("working on %s", x)
    return x


archived = []
logging.config.dictConfig(
    {
        "version": 1,
        "disable_existing_loggers": True,
        "formatters": {"json": {"()": Json}},
        "handlers": {
            "out": {
                "class": "logging.StreamHandler",
                "formatter": "json",
                "stream": "ext://sys.stdout",
            },
        },
        "root": {"level": "DEBUG", "handlers": ["out"]},
    }
)
logging.getLogger().addHandler(Tool())
logging.captureWarnings(True)
with t.agent_run("a") as run:
    for number in range(3):
        work(number)
t.flush()
print(archived)
print(logging.lastResort is not None, logging.getLogger().level, logging.root.manager.disable)
print(logging.getLoggerClass().__name__, logging.getLogRecordFactory().__name__, sys.stderr.closed)
