-- Runs that a later run of their trial replaced, or continues, with the runs of their sub-agents.
--
-- Among runs of one cohort, task and trial, the last counts. Runs that name a conversation are the
-- turns of one attempt, and no run among them is replaced. Killed runs do not count and do not
-- supersede. The same holds for runs that wait for a person, unless they were judged. Source:
-- docs/metrics.md, sections 6.1 and 8.2.
--
-- Reads:
--   continued_runs
--   trajectory_scores
--   trajectories
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   root_id        VARCHAR  The superseded run: itself, or the run that it is part of.
--   continued_by   VARCHAR  The run that continues root_id; NULL if a run replaced it.
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
