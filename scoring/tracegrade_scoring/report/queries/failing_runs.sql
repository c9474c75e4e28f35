-- The number of runs that show each failure mode, and the first of these runs.
--
-- Reads:
--   failures
--   trajectories
-- Columns:
--   release             VARCHAR  One row for each release, agent_name, run_mode and mode.
--   agent_name          VARCHAR  NULL if the trace names none.
--   run_mode            VARCHAR  As the trace says: production | live | mocked; else NULL.
--   mode                VARCHAR  A failure mode; unclassified for a failed run that shows none.
--   runs                BIGINT   Runs that show it; at least 1.
--   failed_runs         BIGINT   Runs among them that are known to have failed.
--   trajectory_id       VARCHAR  The first of these runs.
--   step_trajectory_id  VARCHAR  It, or the run of its sub-agent, of that step; NULL without one.
--   step_index          INTEGER  The first step that shows it there; NULL if none does.
--   span_id             VARCHAR  Span of that step; NULL if there is no step.
--   detail              VARCHAR  Recorded detail; NULL if there is none.
-- Order:
--   agent_name, run_mode, release, mode
SELECT
  failures.release,
  trajectories.agent_name,
  trajectories.run_mode,
  failures.mode,
  count(*) AS runs,
  count(*) FILTER (WHERE NOT failures.success) AS failed_runs,
  min(failures.trajectory_id) AS trajectory_id,
  arg_min_null(failures.step_trajectory_id, failures.trajectory_id) AS step_trajectory_id,
  arg_min_null(failures.step_index, failures.trajectory_id) AS step_index,
  arg_min_null(failures.span_id, failures.trajectory_id) AS span_id,
  arg_min_null(failures.detail, failures.trajectory_id) AS detail
FROM failures
INNER JOIN trajectories USING (trajectory_id)
GROUP BY failures.release, trajectories.agent_name, trajectories.run_mode, failures.mode
ORDER BY trajectories.agent_name, trajectories.run_mode, failures.release, failures.mode;
