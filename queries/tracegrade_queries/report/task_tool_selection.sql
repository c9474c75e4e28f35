-- Tool-selection accuracy of each task: correct first picks / counted decision points.
--
-- Reads:
--   scores
-- Columns:
--   release     VARCHAR  One row for each release, agent_name and task_id.
--   agent_name  VARCHAR  NULL if the trace names none.
--   task_id     VARCHAR  NULL for runs whose task is not known.
--   runs        BIGINT   Runs scored; at least 1.
--   correct     DOUBLE   Correct first picks.
--   counted     DOUBLE   Counted decision points; > 0.
--   tsa         DOUBLE   correct / counted, in [0, 1].
-- Order:
--   agent_name, release, task_id
SELECT
  release,
  agent_name,
  task_id,
  count(*) AS runs,
  sum(numerator) AS correct,
  sum(denominator) AS counted,
  sum(numerator) / nullif(sum(denominator), 0) AS tsa
FROM scores
WHERE
  metric = 'tsa'
  AND status = 'scored'
GROUP BY release, agent_name, task_id
ORDER BY agent_name, release, task_id;
