-- How the runs of conversations score by their place: the first turn, the second, and so on.
--
-- Of conversations of several runs, each a turn; source: docs/metrics.md, section 8.2.
--
-- Reads:
--   trajectories
--   trajectory_scores
-- Columns:
--   release           VARCHAR  One row for each release, agent_name, run_mode and turn.
--   agent_name        VARCHAR  NULL if the trace names none.
--   run_mode          VARCHAR  As the trace says: production | live | mocked; else NULL.
--   turn              BIGINT   From 1, by the start of the run.
--   conversations     BIGINT   Conversations that have this turn; at least 1.
--   known             BIGINT   Of these turns, those of known success.
--   correct           BIGINT   Of these, successful.
--   tsa               DOUBLE   Correct first picks / decision points; NULL without any.
--   tool_correctness  DOUBLE   Mean of the turns that have one; NULL without any.
-- Order:
--   agent_name, run_mode, release, turn
WITH turns AS (
  SELECT
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectory_scores.success,
    trajectory_scores.tsa,
    trajectory_scores.tool_correctness,
    row_number() OVER (
      conversation ORDER BY trajectories.start_time, trajectories.trajectory_id
    ) AS turn,
    count(*) OVER conversation AS turns
  FROM trajectory_scores
  INNER JOIN trajectories USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND trajectories.conversation_id IS NOT NULL
  WINDOW
    conversation AS (
      PARTITION BY
        trajectory_scores.release,
        trajectory_scores.agent_name,
        trajectory_scores.run_mode,
        trajectories.conversation_id
    )
)

SELECT
  release,
  agent_name,
  run_mode,
  turn,
  count(*) AS conversations,
  count(success.value) AS known,
  count(*) FILTER (WHERE success.value = 1) AS correct,
  sum(tsa.numerator ORDER BY turns, tsa.numerator)
  / sum(tsa.denominator ORDER BY turns, tsa.denominator) AS tsa,
  avg(tool_correctness.value) AS tool_correctness
FROM turns
WHERE turns > 1
GROUP BY release, agent_name, run_mode, turn
ORDER BY agent_name, run_mode, release, turn;
