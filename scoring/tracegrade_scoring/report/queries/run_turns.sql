-- The turn in which each run begins, for conversations of several runs.
--
-- Turns are counted over the runs of one attempt (cohort, task, trial and conversation), in the
-- order in which the runs began. The turns of a task's expected calls are counted in the same way.
-- Source: docs/metrics.md, sections 2.1 and 8.2.
--
-- Reads:
--   superseded_runs
--   trajectories
--   trajectory_scores
-- Columns:
--   trajectory_id    VARCHAR  A scored run, one row each.
--   release          VARCHAR  NULL if not sent.
--   agent_name       VARCHAR  NULL if the trace names none.
--   run_mode         VARCHAR  As the trace says: production | live | mocked; else NULL.
--   task_id          VARCHAR  NULL if no task is known.
--   trial            INTEGER  NULL if not declared.
--   conversation_id  VARCHAR  Never NULL.
--   turn             BIGINT   From 1; a run of several turns begins in the first of them.
--   turns            BIGINT   Turns of the conversation.
--   runs             BIGINT   Runs of the conversation; at least 2.
-- Order:
--   none
WITH earlier_parts AS (
  -- A run that waited is a part of the run that continued it: its last turn is that run's first.
  SELECT
    trajectories.parent_trajectory_id AS trajectory_id,
    sum(coalesce(trajectories.turn_count, 1) - 1)::BIGINT AS turns
  FROM trajectories
  INNER JOIN superseded_runs USING (trajectory_id)
  WHERE
    superseded_runs.continued_by IS NOT NULL
    AND superseded_runs.root_id = superseded_runs.trajectory_id
  GROUP BY trajectories.parent_trajectory_id
),

placed AS (
  SELECT
    trajectory_scores.trajectory_id,
    trajectory_scores.release,
    trajectory_scores.agent_name,
    trajectory_scores.run_mode,
    trajectory_scores.task_id,
    trajectories.trial,
    trajectories.conversation_id,
    coalesce(trajectories.turn_count, 1) + coalesce(earlier_parts.turns, 0) AS turns,
    -- If the part that it continues is missing, it begins in the turn before.
    coalesce(len(trajectories.resumed_calls) > 0, FALSE)
    AND earlier_parts.trajectory_id IS NULL
    AND row_number() OVER conversation > 1 AS goes_on,
    row_number() OVER conversation AS position
  FROM trajectory_scores
  INNER JOIN trajectories USING (trajectory_id)
  LEFT JOIN earlier_parts USING (trajectory_id)
  WHERE
    trajectories.parent_trajectory_id IS NULL
    AND trajectories.conversation_id IS NOT NULL
    AND trajectories.kill_point IS NULL
    AND trajectories.is_fragment IS NOT TRUE
  WINDOW
    conversation AS (
      PARTITION BY
        trajectory_scores.release,
        trajectory_scores.agent_name,
        trajectory_scores.run_mode,
        trajectory_scores.task_id,
        trajectories.trial,
        trajectories.conversation_id
      ORDER BY trajectories.start_time, trajectory_scores.trajectory_id
    )
),

counted AS (
  SELECT
    placed.*,
    sum(turns - goes_on::INTEGER) OVER (
      PARTITION BY release, agent_name, run_mode, task_id, trial, conversation_id
      ORDER BY position
    )::BIGINT AS end_turn
  FROM placed
)

SELECT
  trajectory_id,
  release,
  agent_name,
  run_mode,
  task_id,
  trial,
  conversation_id,
  (end_turn - turns + 1)::BIGINT AS turn,
  max(end_turn) OVER conversation AS turns,
  count(*) OVER conversation AS runs
FROM counted
WINDOW
  conversation AS (
    PARTITION BY release, agent_name, run_mode, task_id, trial, conversation_id
  )
QUALIFY count(*) OVER conversation > 1;
