-- Every metric of two releases side by side, those that fell most first.
--
-- Over all tasks and runs of each, those that a later run of their trial replaced included.
-- `tracegrade compare` leaves these out, pairs the tasks and tells what may be chance.
--
-- Reads:
--   release_scores
-- Parameters:
--   $base       VARCHAR  A release.
--   $candidate  VARCHAR  Another one.
-- Columns:
--   agent_name        VARCHAR  NULL if none is named.
--   run_mode          VARCHAR  NULL if not said. One row for each agent_name, run_mode, metric.
--   metric            VARCHAR  Scored in both.
--   base              DOUBLE   Pooled value.
--   candidate         DOUBLE   Pooled value.
--   difference        DOUBLE   candidate - base.
--   apart             BOOLEAN  The intervals do not overlap; NULL if there are none.
--   base_scored       BIGINT   Trajectories scored.
--   candidate_scored  BIGINT   Trajectories scored.
-- Order:
--   difference, agent_name, run_mode, metric
SELECT
  candidates.agent_name,
  candidates.run_mode,
  candidates.metric,
  bases.value AS base,
  candidates.value AS candidate,
  candidates.value - bases.value AS difference,
  candidates.low > bases.high OR candidates.high < bases.low AS apart,
  bases.scored AS base_scored,
  candidates.scored AS candidate_scored
FROM release_scores AS candidates
INNER JOIN release_scores AS bases
  ON
    candidates.metric = bases.metric
    AND candidates.agent_name IS NOT DISTINCT FROM bases.agent_name
    AND candidates.run_mode IS NOT DISTINCT FROM bases.run_mode
    AND bases.task_category = ''
    AND bases.release = $base
WHERE
  candidates.task_category = ''
  AND candidates.release = $candidate
  AND candidates.value IS NOT NULL
  AND bases.value IS NOT NULL
ORDER BY difference, candidates.agent_name, candidates.run_mode, candidates.metric;
