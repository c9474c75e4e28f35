-- Dimensions other than the compared ones whose values are not as frequent on both sides.
--
-- One value of each: that whose share differs most. Runs without a value count in the shares of
-- the others.
--
-- Reads:
--   compared_runs
--   trajectory_scores
-- Parameters:
--   $compared  VARCHAR[]  Dimensions that define the sides.
--   $least     DOUBLE     Difference of shares that counts, between 0 and 1.
-- Columns:
--   agent_name       VARCHAR  NULL if the trace names none.
--   run_mode         VARCHAR  NULL if the trace does not say.
--   dimension        VARCHAR  One row for each of the three.
--   name             VARCHAR  The value.
--   base_share       DOUBLE   Its share of the compared runs of the base, without sub-agents'.
--   candidate_share  DOUBLE   The same for the candidate.
-- Order:
--   agent_name, run_mode, dimension
WITH runs AS (
  SELECT
    compared_runs.agent_name,
    compared_runs.run_mode,
    compared_runs.side,
    trajectory_scores.dimensions
  FROM compared_runs
  INNER JOIN trajectory_scores USING (trajectory_id)
  WHERE compared_runs.counted AND compared_runs.is_root
),

totals AS (
  SELECT
    agent_name,
    run_mode,
    count_if(side = 'base') AS base_runs,
    count_if(side = 'candidate') AS candidate_runs
  FROM runs
  GROUP BY agent_name, run_mode
),

entries AS (
  SELECT
    agent_name,
    run_mode,
    side,
    unnest(map_entries(dimensions)) AS entry
  FROM runs
),

shares AS (
  SELECT
    entries.agent_name,
    entries.run_mode,
    entries.entry.key AS dimension,
    entries.entry.value AS name,
    count_if(entries.side = 'base') / any_value(totals.base_runs) AS base_share,
    count_if(entries.side = 'candidate') / any_value(totals.candidate_runs) AS candidate_share
  FROM entries
  INNER JOIN totals
    ON
      entries.agent_name IS NOT DISTINCT FROM totals.agent_name
      AND entries.run_mode IS NOT DISTINCT FROM totals.run_mode
  WHERE
    entries.entry.key NOT IN (SELECT unnest($compared::VARCHAR[]))
    AND totals.base_runs > 0
    AND totals.candidate_runs > 0
  GROUP BY entries.agent_name, entries.run_mode, entries.entry.key, entries.entry.value
)

SELECT
  agent_name,
  run_mode,
  dimension,
  name,
  base_share,
  candidate_share
FROM shares
QUALIFY
  row_number() OVER (
    PARTITION BY agent_name, run_mode, dimension
    ORDER BY abs(candidate_share - base_share) DESC, name
  ) = 1
  AND abs(candidate_share - base_share) >= $least
ORDER BY agent_name, run_mode, dimension;
