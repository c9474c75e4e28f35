-- The calls and plans of each attempt in the order in which they were made.
--
-- Steps of one trajectory keep their order; steps of several agents are merged by time. A call
-- that started the run of a sub-agent hands over to it. It is left out unless the task file
-- declares it as a call. Source: docs/metrics.md, sections 0.3, 0.8 and 0.9.
--
-- Reads:
--   attempt_members
--   called_agents
--   steps
--   trajectories
-- Columns:
--   attempt_id     INTEGER  The root trajectory.
--   trajectory_id  INTEGER  The root or a sub-agent of it.
--   step_index     INTEGER  One row for each attempt_id, trajectory_id and step_index.
--   kind           VARCHAR  tool_call | plan.
--   calls_before   INTEGER  Tool calls of the attempt before it; the index of a call.
--   own_before     INTEGER  Tool calls of its trajectory before it.
-- Order:
--   attempt_id, calls_before, trajectory_id, step_index
WITH hand_overs AS (
  SELECT
    trajectories.parent_trajectory_id AS trajectory_id,
    trajectories.parent_step AS step_index
  FROM trajectories
  ANTI JOIN called_agents
    ON
      trajectories.parent_trajectory_id = called_agents.trajectory_id
      AND trajectories.parent_step = called_agents.step_index
  WHERE trajectories.parent_step IS NOT NULL
),

timed AS (
  SELECT
    attempt_members.attempt_id,
    attempt_members.depth,
    steps.trajectory_id,
    steps.step_index,
    steps.kind,
    -- A clock that never runs backwards, so that merging by time keeps the order of steps.
    max(steps.start_time) OVER so_far AS reached,
    (
      count_if(steps.kind = 'tool_call') OVER so_far - (steps.kind = 'tool_call')::INTEGER
    )::INTEGER AS own_before
  FROM steps
  INNER JOIN attempt_members USING (trajectory_id)
  ANTI JOIN hand_overs
    ON
      steps.trajectory_id = hand_overs.trajectory_id
      AND steps.step_index = hand_overs.step_index
  WHERE steps.kind IN ('tool_call', 'plan')
  WINDOW so_far AS (PARTITION BY steps.trajectory_id ORDER BY steps.step_index)
)

SELECT
  attempt_id,
  trajectory_id,
  step_index,
  kind,
  (
    coalesce(
      count_if(kind = 'tool_call') OVER (
        PARTITION BY attempt_id
        ORDER BY reached ASC NULLS FIRST, depth ASC, trajectory_id ASC, step_index ASC
        ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ),
      0
    )
  )::INTEGER AS calls_before,
  own_before
FROM timed
ORDER BY attempt_id, calls_before, trajectory_id, step_index;
