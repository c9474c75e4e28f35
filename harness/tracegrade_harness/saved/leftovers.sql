-- The objects that killed runs left behind after recovery, and the records that undo them.
--
-- Reads:
--   harness_trials
-- Columns:
--   run         VARCHAR  Run of the harness; one row for each object of each kill.
--   task_id     VARCHAR
--   agent_name  VARCHAR
--   release     VARCHAR  NULL if the suite names none.
--   trial       BIGINT
--   kill_point   VARCHAR  early | mid | late.
--   object      VARCHAR  Such as `files:data/clean/orders.csv`.
--   change      VARCHAR  added | changed | removed | held.
--   named_by    VARCHAR  The record that names it with a way to undo it; NULL if none does.
--   disproved   VARCHAR  Why an undo failed on a copy; NULL if none failed.
-- Order:
--   run, task_id, agent_name, release, trial, kill_point, object
WITH objects AS (
  SELECT
    *,
    unnest(leftovers::JSON[]) AS leftover
  FROM harness_trials
  WHERE leftovers IS NOT NULL
)

SELECT
  run,
  task_id,
  agent_name,
  release,
  trial,
  kill_point,
  leftover ->> '$.object' AS object,
  leftover ->> '$.change' AS change,
  leftover ->> '$.named_by' AS named_by,
  leftover ->> '$.disproved' AS disproved
FROM objects
ORDER BY run, task_id, agent_name, release, trial, kill_point, object;
