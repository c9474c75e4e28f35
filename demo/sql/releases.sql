-- Five scores of each release of each agent in each run mode, over all its tasks.
--
-- Reads:
--   release_scores
-- Columns:
--   agent            VARCHAR  One row for each agent, release and run mode: never pooled.
--   release          VARCHAR
--   run_mode         VARCHAR  production | live | mocked; NULL if the agent does not state it.
--   runs             BIGINT   Trajectories.
--   tsa              DOUBLE   Tool-selection accuracy over all decision points, in [0, 10].
--   step_efficiency  DOUBLE   In [0, 1], of the runs that succeeded.
--   replans_per_run  DOUBLE   Changes of the remaining plan; NULL without any plan.
--   coverage         DOUBLE   Sub-goals attempted / all, in [0, 1].
--   critical_path    DOUBLE   Critical sub-goals completed / all critical ones, in [0, 1].
-- Order:
--   agent, release, run_mode
SELECT
  agent_name AS agent,
  release,
  run_mode,
  max(trajectories)::BIGINT AS runs,
  10 * max(value) FILTER (WHERE metric = 'tsa') AS tsa,
  max(value) FILTER (WHERE metric = 'step_efficiency') AS step_efficiency,
  max(value) FILTER (WHERE metric = 'replans') AS replans_per_run,
  max(value) FILTER (WHERE metric = 'sub_goal_coverage') AS coverage,
  max(value) FILTER (WHERE metric = 'critical_path_completion') AS critical_path
FROM release_scores
WHERE task_category = ''
GROUP BY agent_name, release, run_mode
ORDER BY agent, release, run_mode;
