"""sentry: an error in a tool is reported once, with the frames of the host and its breadcrumbs.

spans: 3
speed: slow
"""

import logging

import sentry_sdk
from sentry_sdk.transport import Transport
from tg import t

events = []


class KeptTransport(Transport):
    def capture_envelope(self, envelope):
        events.extend(
            item.payload.json for item in envelope.items if item.type in ("event", "transaction")
        )


sentry_sdk.init(
    dsn="http://key@127.0.0.1:9/1",
    transport=KeptTransport,
    traces_sample_rate=1.0,
    default_integrations=True,
)
t.init()


@t.tool
def fails(x):
    logging.getLogger("host").info("about to fail")
    raise ValueError(x)


with sentry_sdk.start_transaction(name="request"), t.agent_run("a"):
    try:
        fails(1)
    except ValueError as error:
        sentry_sdk.capture_exception(error)
sentry_sdk.flush()
for event in events:
    print(event.get("transaction"), len(event.get("spans", [])))
    for each in event.get("exception", {}).get("values", []):
        frames = each["stacktrace"]["frames"]
        print(
            each["type"],
            each["value"],
            [frame["function"] for frame in frames if frame["module"] == "__main__"],
        )
    print([crumb["message"] for crumb in event.get("breadcrumbs", {}).get("values", [])])
