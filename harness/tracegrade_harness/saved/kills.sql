-- Kills on purpose: where each was, what it scores, and how much it left.
--
-- Reads:
--   harness_trials
-- Columns:
--   run             VARCHAR  Of the harness. One row for each kill of each trial.
--   task_id         VARCHAR
--   agent_name      VARCHAR
--   release         VARCHAR  NULL if the suite names none.
--   trial           BIGINT
--   kill_point       VARCHAR  early | mid | late.
--   status          VARCHAR  done | error | invalid | not_applicable | not_run.
--   boundary        BIGINT   Tool calls that had returned; NULL if there was no kill.
--   immediate       DOUBLE   Before recovery, 0 to 10; NULL if not judged.
--   after_recovery  DOUBLE   After the recovery command, 0 to 10; NULL if not judged.
--   leftovers       BIGINT   Objects that still differ after recovery; NULL if not judged.
--   reason          VARCHAR  Why it is not done; NULL if it is.
--   trajectory_id   VARCHAR  Of the undisturbed run, as `harness review` takes it; NULL if none.
-- Order:
--   run, task_id, agent_name, release, trial, kill_point: early, mid, late
SELECT
  run,
  task_id,
  agent_name,
  release,
  trial,
  kill_point,
  status,
  boundary,
  immediate,
  after_recovery,
  json_array_length(leftovers)::BIGINT AS leftovers,
  reason,
  baseline_trajectory_id AS trajectory_id
FROM harness_trials
WHERE kill_point IS NOT NULL
ORDER BY
  run, task_id, agent_name, release, trial, list_position(['early', 'mid', 'late'], kill_point);
