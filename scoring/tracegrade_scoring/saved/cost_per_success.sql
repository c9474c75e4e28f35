-- Cost of a success in each release: money, tokens and calls of all attempts together.
--
-- Failed attempts cost too, so the cost of all attempts is divided by the successes.
--
-- Reads:
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
    trajectories.*,
    trajectory_scores.success.value = 1 AS succeeded
  FROM trajectories
  INNER JOIN trajectory_scores USING (trajectory_id)
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
  sum(coalesce(input_tokens, 0) + coalesce(output_tokens, 0)) FILTER (
    WHERE input_tokens IS NOT NULL OR output_tokens IS NOT NULL
  ) / nullif(successes, 0) AS tokens_per_success,
  sum(tool_call_count) / nullif(successes, 0) AS calls_per_success
FROM attempts
GROUP BY release, agent_name, run_mode
ORDER BY release, agent_name, run_mode;
