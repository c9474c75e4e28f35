-- The releases of each agent and run mode, in their order.
--
-- Reads:
--   task_releases
-- Columns:
--   agent_name   VARCHAR    NULL if none is named. One row for each agent_name, run_mode and
--                           position.
--   run_mode     VARCHAR    NULL if not declared.
--   position     BIGINT     From 1 without gaps.
--   release      VARCHAR    NULL if not sent.
--   first_start  TIMESTAMP  Start of its earliest run, UTC; NULL if none is known.
-- Order:
--   agent_name, run_mode, position
SELECT DISTINCT
  agent_name,
  run_mode,
  position,
  release,
  first_start
FROM task_releases
ORDER BY agent_name, run_mode, position;
