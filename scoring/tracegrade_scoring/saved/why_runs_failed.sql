-- Why the runs of each release of each agent failed: how many for each reason that stands first.
--
-- Runs that a later run of their trial replaced do not count.
--
-- Reads:
--   run_reasons
--   superseded_runs
-- Columns:
--   release     VARCHAR  NULL if not sent. One row for each release, agent, kind and object.
--   agent_name  VARCHAR  NULL if none is named.
--   kind        VARCHAR  What kind of reason it is; unexplained: nothing is known.
--   object      VARCHAR  What it is about: a tool, argument, sub-goal or check; NULL if nothing.
--   runs        BIGINT   Failed runs with it as their first reason; at least 1.
--   share       DOUBLE   runs / failed runs of the release and agent, in (0, 1].
--   sentence    VARCHAR  What went wrong in the first of these runs, by id.
--   example     VARCHAR  That run.
-- Order:
--   agent_name, release, runs DESC, kind, object
WITH counted AS (
  SELECT run_reasons.*
  FROM run_reasons
  ANTI JOIN superseded_runs ON run_reasons.trajectory_id = superseded_runs.trajectory_id
),

firsts AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY release, agent_name) AS failed
  FROM counted
  WHERE rank_in_run = 1 AND success IS FALSE
)

SELECT
  release,
  agent_name,
  kind,
  object,
  count(*) AS runs,
  count(*) / any_value(failed) AS share,
  arg_min(sentence, trajectory_id) AS sentence,
  min(trajectory_id) AS example
FROM firsts
GROUP BY release, agent_name, kind, object
ORDER BY agent_name ASC, release ASC, runs DESC, kind ASC, object ASC;
