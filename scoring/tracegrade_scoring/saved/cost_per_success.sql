-- Cost of a success in each release: money, tokens and calls of all attempts together.
--
-- Failed attempts cost too, so the cost of all attempts is divided by the successes. An attempt
-- includes its sub-agents and the earlier parts that it continues. Runs that a later run of their
-- trial replaced do not count.
--
-- Reads:
--   attempt_usage
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Columns:
--   release             VARCHAR  NULL if not sent. One row for each of the first three.
--   agent_name          VARCHAR  NULL if none is named.
--   run_mode            VARCHAR  NULL if unknown.
--   attempts            BIGINT   Attempts of known success; at least 1.
--   successes           BIGINT
--   usd_per_success     DOUBLE   NULL without successes, or if the cost of one attempt is unknown.
--   tokens_per_success  DOUBLE   In and out; NULL without successes, or if none were recorded.
--   calls_per_success   DOUBLE   Tool calls; NULL without successes.
-- Order:
--   release, agent_name, run_mode
WITH attempts AS (
  SELECT
    attempt_usage.*,
    trajectories.release,
    trajectories.agent_name,
    trajectories.run_mode,
    trajectory_scores.success.value = 1 AS succeeded
  FROM trajectory_scores
  INNER JOIN trajectories ON trajectory_scores.trajectory_id = trajectories.trajectory_id
  INNER JOIN attempt_usage ON trajectory_scores.trajectory_id = attempt_usage.trajectory_id
  ANTI JOIN superseded_runs ON trajectory_scores.trajectory_id = superseded_runs.trajectory_id
  WHERE trajectory_scores.success.status = 'scored'
)

SELECT
  release,
  agent_name,
  run_mode,
  count(*) AS attempts,
  count(*) FILTER (WHERE succeeded) AS successes,
  CASE WHEN count(cost_usd) = count(*) THEN sum(cost_usd ORDER BY trajectory_id) END
  / nullif(successes, 0) AS usd_per_success,
  sum(tokens) / nullif(successes, 0) AS tokens_per_success,
  sum(calls) / nullif(successes, 0) AS calls_per_success
FROM attempts
GROUP BY release, agent_name, run_mode
ORDER BY release, agent_name, run_mode;
