-- Tasks whose undisturbed trials do not all end alike, though each began in the same environment.
--
-- Reads:
--   harness_trials
-- Columns:
--   run         VARCHAR  Of the harness. One row for each task with trials of both kinds.
--   task_id     VARCHAR
--   agent_name  VARCHAR
--   release     VARCHAR  NULL if the suite names none.
--   trials      BIGINT   Those that verifiers could judge.
--   successes   BIGINT
--   pass_rate   DOUBLE   0 to 1, neither of them.
-- Order:
--   run, pass_rate, task_id, agent_name, release
SELECT
  run,
  task_id,
  agent_name,
  release,
  count(success) AS trials,
  count_if(success)::BIGINT AS successes,
  count_if(success) / count(success) AS pass_rate
FROM harness_trials
WHERE kill_point IS NULL
GROUP BY run, task_id, agent_name, release
HAVING count_if(success) > 0 AND count_if(NOT success) > 0
ORDER BY run, pass_rate, task_id, agent_name, release;
