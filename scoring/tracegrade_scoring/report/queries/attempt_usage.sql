-- Tokens, cost and tool calls of each attempt, with its sub-agents and parts that it continues.
--
-- Source: docs/metrics.md, sections 0.1 and 8.2.
--
-- Reads:
--   continued_runs
--   superseded_runs
--   trajectories
-- As:
--   view
-- Columns:
--   trajectory_id  VARCHAR  The run that ends the attempt; one row each.
--   tokens         BIGINT   In and out; NULL if none were recorded.
--   cost_usd       DOUBLE   NULL if a part with model calls has no known cost.
--   calls          BIGINT   Tool calls; NULL if none were counted.
-- Order:
--   none
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
)

SELECT
  members.root_id AS trajectory_id,
  (
    sum(coalesce(trajectories.input_tokens, 0) + coalesce(trajectories.output_tokens, 0)) FILTER (
      WHERE trajectories.input_tokens IS NOT NULL OR trajectories.output_tokens IS NOT NULL
    )
  )::BIGINT AS tokens,
  CASE
    WHEN
      count(*) FILTER (
        WHERE trajectories.cost_usd IS NULL AND trajectories.llm_call_count > 0
      ) = 0
      THEN sum(trajectories.cost_usd ORDER BY trajectories.trajectory_id)
  END AS cost_usd,
  -- The calls of an earlier part are among those of the run that continues it.
  (
    sum(trajectories.tool_call_count) FILTER (WHERE earlier.trajectory_id IS NULL)
  )::BIGINT AS calls
FROM members
INNER JOIN trajectories ON members.trajectory_id = trajectories.trajectory_id
LEFT JOIN superseded_runs AS earlier
  ON members.trajectory_id = earlier.trajectory_id AND earlier.continued_by IS NOT NULL
GROUP BY members.root_id;
