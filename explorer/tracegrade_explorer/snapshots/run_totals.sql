-- Tokens and cost of each run with sub-agents, those of its sub-agents included.
--
-- Reads:
--   run_members
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  One row for each root run that has sub-agents.
--   input_tokens   HUGEINT  NULL if none were recorded.
--   output_tokens  HUGEINT  NULL if none were recorded.
--   cost_usd       DOUBLE   NULL if the cost of a model call is not known, or without calls.
--   unpriced       BOOLEAN  A model call's cost is not known.
-- Order:
--   trajectory_id
SELECT
  run_members.root_id AS trajectory_id,
  sum(trajectories.input_tokens) AS input_tokens,
  sum(trajectories.output_tokens) AS output_tokens,
  CASE
    WHEN NOT bool_or(trajectories.cost_usd IS NULL AND trajectories.llm_call_count > 0)
      THEN sum(trajectories.cost_usd ORDER BY trajectories.trajectory_id)
  END AS cost_usd,
  bool_or(trajectories.cost_usd IS NULL AND trajectories.llm_call_count > 0) AS unpriced
FROM run_members
INNER JOIN trajectories ON run_members.trajectory_id = trajectories.trajectory_id
GROUP BY run_members.root_id
HAVING count(*) > 1
ORDER BY run_members.root_id;
