-- Runs in whose place a later one counts, with the runs of their sub-agents: it replaced them as
-- the run of their trial, or goes on with them.
--
-- Of two runs of one cohort, task and trial the later counts. Where runs name a conversation they
-- are the turns of one attempt, and none is replaced. Killed runs neither count nor supersede,
-- and neither do those that wait for somebody, unless they were judged.
-- Source: docs/metrics.md, sections 6.1 and 8.2.
--
-- Reads:
--   continued_runs
--   trajectory_scores
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   root_id        VARCHAR  The run that was replaced: itself, or the one it is part of.
--   continued_by   VARCHAR  The run that goes on with the latter; NULL if one replaced it.
-- Order:
--   trajectory_id
WITH RECURSIVE ranked AS (
  SELECT
    trajectory_scores.trajectory_id,
    row_number() OVER (
      PARTITION BY
        trajectory_scores.agent_name,
        trajectory_scores.release,
        trajectory_scores.run_mode,
        trajectory_scores.task_id,
        trajectories.trial
      ORDER BY trajectories.start_time DESC, trajectories.trajectory_id DESC
    ) AS rank
  FROM trajectory_scores
  INNER JOIN trajectories USING (trajectory_id)
  ANTI JOIN continued_runs USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND trajectories.kill_point IS NULL
    AND trajectories.conversation_id IS NULL
    AND trajectories.trial IS NOT NULL
    AND trajectory_scores.task_id IS NOT NULL
    AND NOT (
      coalesce(trajectories.interrupted, FALSE)
      AND trajectory_scores.success.status <> 'scored'
    )
),

superseded AS (
  SELECT
    trajectory_id,
    trajectory_id AS root_id,
    NULL::VARCHAR AS continued_by
  FROM ranked
  WHERE rank > 1
  UNION
  SELECT
    trajectory_id,
    trajectory_id AS root_id,
    continued_by
  FROM continued_runs
  UNION
  SELECT
    trajectories.trajectory_id,
    superseded.root_id,
    superseded.continued_by
  FROM superseded
  INNER JOIN trajectories ON superseded.trajectory_id = trajectories.parent_trajectory_id
)

SELECT
  trajectory_id,
  root_id,
  continued_by
FROM superseded
ORDER BY trajectory_id;
