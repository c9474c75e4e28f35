-- Why one run failed, or what else went wrong in it: its first reasons.
--
-- Reads:
--   run_reasons
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
-- Columns:
--   rank_in_run         INTEGER  From 1; at most 100 rows.
--   kind                VARCHAR  Of the reason (docs/metrics.md, section 9.6).
--   object              VARCHAR  What it is about; NULL if nothing in particular.
--   sentence            VARCHAR  What went wrong.
--   step_trajectory_id  VARCHAR  The run of the step, its own or a sub-agent's; NULL without one.
--   step_index          INTEGER  In that run; NULL without a step.
--   source              VARCHAR  Who says so.
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
