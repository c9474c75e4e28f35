-- Tokens and cost of each model in each run of the index, its sub-agents included.
--
-- Reads:
--   run_index
--   run_members
--   trajectories
--   usage_costs
-- Columns:
--   seq            INTEGER  One row for each model of each root run.
--   model          VARCHAR  NULL if not recorded.
--   input_tokens   HUGEINT  NULL if they were not counted.
--   output_tokens  HUGEINT  As input_tokens.
--   cost_usd       DOUBLE   NULL if the cost of one of its calls is not known.
--   reason         VARCHAR  no_price | no_tokens; NULL if the cost is known.
-- Order:
--   seq, model
WITH entries AS (
  SELECT
    trajectory_id,
    unnest(model_usage) AS usage
  FROM trajectories
),

tokens AS (
  SELECT
    trajectory_id,
    usage.model,
    sum(
      usage.fresh_input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    ) AS input_tokens,
    sum(usage.visible_output_tokens + usage.reasoning_tokens) AS output_tokens
  FROM entries
  GROUP BY trajectory_id, usage.model
),

costs AS (
  SELECT
    trajectory_id,
    model,
    CASE WHEN bool_and(pico_usd IS NOT NULL) THEN sum(pico_usd) END AS pico_usd,
    min(reason) AS reason
  FROM usage_costs
  GROUP BY trajectory_id, model
)

SELECT
  run_index.seq,
  tokens.model,
  sum(tokens.input_tokens) AS input_tokens,
  sum(tokens.output_tokens) AS output_tokens,
  CASE WHEN bool_and(costs.pico_usd IS NOT NULL) THEN sum(costs.pico_usd) / 1e12 END AS cost_usd,
  min(costs.reason) AS reason
FROM run_index
INNER JOIN run_members ON run_index.trajectory_id = run_members.root_id
INNER JOIN tokens ON run_members.trajectory_id = tokens.trajectory_id
LEFT JOIN costs
  ON
    tokens.trajectory_id = costs.trajectory_id
    AND tokens.model IS NOT DISTINCT FROM costs.model
GROUP BY run_index.seq, tokens.model
ORDER BY run_index.seq, tokens.model;
