-- The plans of the chosen traces, each as it stood then.
--
-- Reads:
--   built_steps
-- Columns:
--   plan  VARCHAR  JSON, or a text. One row for each plan step that has one.
-- Order:
--   start_time (newest first), trajectory_id, step_index (last first)
SELECT plan
FROM built_steps
WHERE kind = 'plan' AND plan IS NOT NULL
ORDER BY start_time DESC, trajectory_id ASC, step_index DESC;
