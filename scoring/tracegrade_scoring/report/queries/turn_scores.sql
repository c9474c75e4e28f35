-- Scores of the runs of conversations by turn: the first turn, the second, and so on.
--
-- Only conversations of several runs count. A run of several turns counts in the first of them.
-- Runs count by sample_weight. Source: docs/metrics.md, sections 0.6 and 8.2.
--
-- Reads:
--   run_turns
--   trajectory_scores
-- Columns:
--   release           VARCHAR  One row for each release, agent_name, run_mode and turn.
--   agent_name        VARCHAR  NULL if the trace names none.
--   run_mode          VARCHAR  As the trace says: production | live | mocked; else NULL.
--   turn              BIGINT   From 1, in which these runs begin.
--   conversations     BIGINT   Conversations with a run that begins there; at least 1.
--   known             BIGINT   Runs among them of known success.
--   correct           BIGINT   Successful runs among these; not weighted.
--   success           DOUBLE   Share of the known ones that are successful; NULL without any.
--   tsa               DOUBLE   Correct first picks / decision points; NULL without any.
--   tool_correctness  DOUBLE   Mean of the runs that have one; NULL without any.
-- Order:
--   agent_name, run_mode, release, turn
WITH turns AS (
  SELECT
    run_turns.*,
    trajectory_scores.success,
    trajectory_scores.tsa,
    trajectory_scores.tool_correctness,
    trajectory_scores.sample_weight
  FROM run_turns
  INNER JOIN trajectory_scores USING (trajectory_id)
)

SELECT
  release,
  agent_name,
  run_mode,
  turn,
  count(*) AS conversations,
  count(success.value) AS known,
  count(*) FILTER (WHERE success.value = 1) AS correct,
  sum(sample_weight * success.value ORDER BY trajectory_id)
  / sum(sample_weight ORDER BY trajectory_id) FILTER (WHERE success.value IS NOT NULL) AS success,
  sum(sample_weight * tsa.numerator ORDER BY trajectory_id)
  / sum(sample_weight * tsa.denominator ORDER BY trajectory_id) AS tsa,
  sum(sample_weight * tool_correctness.value ORDER BY trajectory_id)
  / sum(sample_weight ORDER BY trajectory_id) FILTER (WHERE tool_correctness.value IS NOT NULL)
    AS tool_correctness
FROM turns
GROUP BY release, agent_name, run_mode, turn
ORDER BY agent_name, run_mode, release, turn;
