-- Why runs failed: how many for each reason that stands first, and the first of these runs.
--
-- Reads:
--   run_reasons
--   trajectories
-- Columns:
--   release             VARCHAR  One row for each release, agent_name, run_mode, kind and object.
--   agent_name          VARCHAR  NULL if the trace names none.
--   run_mode            VARCHAR  As the trace says: production | live | mocked; else NULL.
--   kind                VARCHAR  Of the reason (docs/metrics.md, section 9.6).
--   object              VARCHAR  What it is about; NULL if nothing in particular.
--   key                 VARCHAR  The same for the reason in every release of the agent.
--   runs                BIGINT   Failed runs with it as their first reason; at least 1.
--   sentence            VARCHAR  Of the first of these runs.
--   trajectory_id       VARCHAR  That run.
--   step_trajectory_id  VARCHAR  It, or the run of its sub-agent, of the step; NULL without one.
--   step_index          INTEGER  The step that shows it there; NULL if none does.
--   span_id             VARCHAR  Of that step; NULL if none does.
-- Order:
--   agent_name, run_mode, release, runs DESC, kind, object
SELECT
  run_reasons.release,
  trajectories.agent_name,
  trajectories.run_mode,
  run_reasons.kind,
  run_reasons.object,
  min(run_reasons.key) AS key,
  count(*) AS runs,
  arg_min(run_reasons.sentence, run_reasons.trajectory_id) AS sentence,
  min(run_reasons.trajectory_id) AS trajectory_id,
  arg_min_null(run_reasons.step_trajectory_id, run_reasons.trajectory_id) AS step_trajectory_id,
  arg_min_null(run_reasons.step_index, run_reasons.trajectory_id) AS step_index,
  arg_min_null(run_reasons.span_id, run_reasons.trajectory_id) AS span_id
FROM run_reasons
INNER JOIN trajectories USING (trajectory_id)
WHERE run_reasons.rank_in_run = 1 AND run_reasons.success IS FALSE
GROUP BY
  run_reasons.release, trajectories.agent_name, trajectories.run_mode, run_reasons.kind,
  run_reasons.object
ORDER BY
  trajectories.agent_name ASC,
  trajectories.run_mode ASC,
  run_reasons.release ASC,
  runs DESC,
  run_reasons.kind ASC,
  run_reasons.object ASC;
