-- Cost of a success in each release: money, tokens and calls of all attempts together.
--
-- Failed attempts cost too, so the cost of all attempts is divided by the successes. An attempt
-- includes its sub-agents and the earlier parts that it continues. Runs that a later run of their
-- trial replaced do not count.
--
-- Reads:
--   continued_runs
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
WITH RECURSIVE parts AS (
  SELECT
    trajectories.trajectory_id,
    coalesce(trajectories.parent_trajectory_id, continued_runs.continued_by) AS whole_id
  FROM trajectories
  LEFT JOIN continued_runs ON trajectories.trajectory_id = continued_runs.trajectory_id
),

members AS (
  SELECT
    trajectory_id AS root_id,
    trajectory_id
  FROM trajectories
  WHERE parent_trajectory_id IS NULL
  UNION
  SELECT
    members.root_id,
    parts.trajectory_id
  FROM members
  INNER JOIN parts ON members.trajectory_id = parts.whole_id
),

usages AS (
  SELECT
    members.root_id AS trajectory_id,
    sum(coalesce(trajectories.input_tokens, 0) + coalesce(trajectories.output_tokens, 0)) FILTER (
      WHERE trajectories.input_tokens IS NOT NULL OR trajectories.output_tokens IS NOT NULL
    ) AS tokens,
    CASE
      WHEN
        count(*) FILTER (
          WHERE trajectories.cost_usd IS NULL AND trajectories.llm_call_count > 0
        ) = 0
        THEN sum(trajectories.cost_usd ORDER BY trajectories.trajectory_id)
    END AS cost_usd,
    -- The calls of an earlier part are among those of the run that continues it.
    sum(trajectories.tool_call_count) FILTER (WHERE earlier.trajectory_id IS NULL) AS calls
  FROM members
  INNER JOIN trajectories ON members.trajectory_id = trajectories.trajectory_id
  LEFT JOIN superseded_runs AS earlier
    ON members.trajectory_id = earlier.trajectory_id AND earlier.continued_by IS NOT NULL
  GROUP BY members.root_id
),

attempts AS (
  SELECT
    usages.*,
    trajectories.release,
    trajectories.agent_name,
    trajectories.run_mode,
    trajectory_scores.success.value = 1 AS succeeded
  FROM trajectory_scores
  INNER JOIN trajectories ON trajectory_scores.trajectory_id = trajectories.trajectory_id
  INNER JOIN usages ON trajectory_scores.trajectory_id = usages.trajectory_id
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
