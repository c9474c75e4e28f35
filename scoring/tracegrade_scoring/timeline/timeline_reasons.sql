-- The first reasons why one run failed, or the other faults in it.
--
-- Reads:
--   run_reasons
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace; only files of that date are read.
-- Columns:
--   rank_in_run         INTEGER  From 1; at most 100 rows.
--   kind                VARCHAR  Kind of the reason (docs/metrics.md, section 9.6).
--   object              VARCHAR  Object of the reason; NULL if it has none.
--   sentence            VARCHAR  Description of the failure.
--   step_trajectory_id  VARCHAR  The run of the step, its own or a sub-agent's; NULL without one.
--   step_index          INTEGER  In that run; NULL without a step.
--   source              VARCHAR  Source of the reason.
--   key                 VARCHAR  The same for the reason in every run of the agent.
-- Order:
--   rank_in_run
SELECT
  rank_in_run,
  kind,
  object,
  sentence,
  step_trajectory_id,
  step_index,
  source,
  key
FROM run_reasons
WHERE date = $date AND trajectory_id = $trajectory_id AND rank_in_run <= 100
ORDER BY rank_in_run;
