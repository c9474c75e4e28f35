-- Failure modes that the newest release of an agent and run mode shows and none before it did.
--
-- Reads:
--   failures
--   task_releases
--   watched_attempts
-- Columns:
--   agent_name  VARCHAR    NULL if none is named.
--   run_mode    VARCHAR    NULL if not declared.
--   release     VARCHAR    The newest release; NULL if not sent.
--   base        VARCHAR    The release before; NULL if not sent.
--   mode        VARCHAR    The failure mode; one row for each of agent_name, run_mode and mode.
--   hits        BIGINT     Runs that show it.
--   runs        BIGINT     Runs of the release.
--   run_ids     VARCHAR[]  At most three of those that show it, the newest first.
-- Order:
--   agent_name, run_mode, mode
WITH releases AS (
  SELECT
    agent_name,
    run_mode,
    release,
    position,
    sum(runs)::BIGINT AS runs,
    max(position) OVER (PARTITION BY agent_name, run_mode) AS newest
  FROM task_releases
  GROUP BY agent_name, run_mode, release, position
),

pairs AS (
  SELECT
    newer.agent_name,
    newer.run_mode,
    newer.release,
    newer.runs,
    older.release AS base
  FROM releases AS newer
  INNER JOIN releases AS older
    ON
      newer.agent_name IS NOT DISTINCT FROM older.agent_name
      AND newer.run_mode IS NOT DISTINCT FROM older.run_mode
      AND newer.position = older.position + 1
  WHERE newer.position = newer.newest
),

hits AS (
  SELECT
    watched_attempts.agent_name,
    watched_attempts.run_mode,
    failures.mode,
    watched_attempts.release,
    watched_attempts.date,
    watched_attempts.trajectory_id
  FROM failures
  INNER JOIN watched_attempts USING (trajectory_id)
  WHERE failures.mode <> 'unclassified'
)

SELECT
  pairs.agent_name,
  pairs.run_mode,
  pairs.release,
  pairs.base,
  hits.mode,
  count(*) AS hits,
  any_value(pairs.runs) AS runs,
  list(hits.trajectory_id ORDER BY hits.date DESC, hits.trajectory_id ASC)[:3] AS run_ids
FROM pairs
INNER JOIN hits
  ON
    pairs.agent_name IS NOT DISTINCT FROM hits.agent_name
    AND pairs.run_mode IS NOT DISTINCT FROM hits.run_mode
GROUP BY pairs.agent_name, pairs.run_mode, pairs.release, pairs.base, hits.mode
HAVING bool_and(hits.release IS NOT DISTINCT FROM pairs.release)
ORDER BY pairs.agent_name, pairs.run_mode, hits.mode;
