-- The model call after each call of its run, whose input holds the results of its requests.
--
-- A call that plans has no next call, and is not one: it receives no tool results.
--
-- Reads:
--   model_calls
-- Columns:
--   model_call  BIGINT  One row each.
--   run         BIGINT
--   next_call   BIGINT  Model call; NULL of a run's last.
--   next_ns     BIGINT  Its start; NULL of a run's last.
-- Order:
--   none
SELECT
  model_call,
  run,
  lead(model_call) OVER in_order AS next_call,
  lead(start_ns) OVER in_order AS next_ns
FROM model_calls
WHERE NOT below_plan
WINDOW in_order AS (PARTITION BY run ORDER BY start_ns, model_call);
