-- Tool-selection accuracy of each task: correct first picks / counted decision points.
--
-- Reads:
--   trajectory_scores
-- Columns:
--   release     VARCHAR  One row for each release, agent_name, run_mode and task_id.
--   agent_name  VARCHAR  NULL if the trace names none.
--   run_mode    VARCHAR  As the trace says: production | live | mocked; else NULL.
--   task_id     VARCHAR  NULL for runs whose task is not known.
--   runs        BIGINT   Runs scored; at least 1.
--   correct     DOUBLE   Correct first picks.
--   counted     DOUBLE   Counted decision points; > 0.
--   tsa         DOUBLE   correct / counted, in [0, 1].
-- Order:
--   agent_name, run_mode, release, task_id
SELECT
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.task_id,
  count(*) AS runs,
  sum(trajectory_scores.tsa.numerator) AS correct,
  sum(trajectory_scores.tsa.denominator) AS counted,
  sum(trajectory_scores.tsa.numerator) / sum(trajectory_scores.tsa.denominator) AS tsa
FROM trajectory_scores
WHERE trajectory_scores.tsa.status = 'scored'
GROUP BY
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.task_id
ORDER BY
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.release,
  trajectory_scores.task_id;
