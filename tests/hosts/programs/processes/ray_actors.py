"""Ray: tools in remote functions and in an actor; references are not fetched.

spans: 3 or more
speed: slow
env: RAY_DEDUP_LOGS=0 RAY_USAGE_STATS_ENABLED=0 RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO=0
"""

import ray
from tg import t

t.init()


@t.tool
def double(x):
    return 2 * x


@t.tool
def same(x):
    return x


@ray.remote
def remote(x):
    return double(x)


@ray.remote
class Actor:
    def work(self, x):
        return double(x)


if __name__ == "__main__":
    ray.init(
        num_cpus=1,
        include_dashboard=False,
        logging_level="ERROR",
        log_to_driver=False,
        configure_logging=False,
    )
    with t.agent_run("a"):
        print(ray.get(remote.remote(2)))
        reference = ray.put([1])
        print(same(reference) == reference, ray.get(reference))
        actor = Actor.remote()
        print(ray.get(actor.work.remote(3)), ray.get(ray.remote(double).remote(4)))
    ray.shutdown()
