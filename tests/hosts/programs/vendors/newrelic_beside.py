"""newrelic: a background task with function traces around tools; its agent sends nothing.

spans: 5
speed: slow
env: NEW_RELIC_DEVELOPER_MODE=true NEW_RELIC_LICENSE_KEY=0123456789012345678901234567890123456789 NEW_RELIC_APP_NAME=host NEW_RELIC_LOG=stderr NEW_RELIC_LOG_LEVEL=critical
"""

import newrelic.agent

newrelic.agent.initialize()

from tg import t

t.init()


@newrelic.agent.function_trace()
@t.tool
def work(x):
    return newrelic.agent.current_transaction() is not None, x


@t.tool
@newrelic.agent.function_trace()
def other(x):
    return newrelic.agent.current_trace() is not None, x


@newrelic.agent.background_task(name="task")
def task():
    with t.agent_run("a"):
        return work(1), other(2)


newrelic.agent.register_application(timeout=5)
print(task(), newrelic.agent.current_transaction())
