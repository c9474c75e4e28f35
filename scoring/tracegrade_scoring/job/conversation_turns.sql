-- The turns of its conversation that each run has, for conversations of several runs.
--
-- Turns are counted over the runs of one conversation of an attempt, in the order in which the
-- runs began. The turns of a task's `reference` are counted in the same way. A run that continues
-- a waiting run begins in the turn in which that run stopped. Source: docs/metrics.md, section
-- 2.1.
--
-- Reads:
--   trajectories
-- Parameters:
--   $by_turn  BOOLEAN  Some task gives turns; otherwise no rows are needed.
-- Columns:
--   trajectory_id  VARCHAR  A root; one row each.
--   trace_id       VARCHAR  Its trace.
--   first_turn     BIGINT   Turns that earlier runs of the conversation had.
--   end_turn       BIGINT   The first turn after it; NULL for the last run, which has all later
--                           turns.
-- Order:
--   trajectory_id
WITH placed AS (
  SELECT
    trajectory_id,
    trace_id,
    agent_name,
    release,
    run_mode,
    task_id,
    trial,
    conversation_id,
    coalesce(turn_count, 1) AS turns,
    -- The last turn of the run before it is its first one.
    coalesce(len(resumed_calls) > 0, FALSE) AND row_number() OVER conversation > 1 AS goes_on,
    row_number() OVER conversation AS position,
    lead(trajectory_id) OVER conversation AS next_id
  FROM trajectories
  WHERE
    $by_turn::BOOLEAN
    AND conversation_id IS NOT NULL
    AND parent_trajectory_id IS NULL
    AND kill_point IS NULL
    AND is_fragment IS NOT TRUE
  WINDOW
    conversation AS (
      PARTITION BY agent_name, release, run_mode, task_id, trial, conversation_id
      ORDER BY start_time, trajectory_id
    )
),

counted AS (
  SELECT
    trajectory_id,
    trace_id,
    turns,
    position,
    next_id,
    sum(turns - goes_on::INTEGER) OVER (
      PARTITION BY agent_name, release, run_mode, task_id, trial, conversation_id
      ORDER BY position
    )::BIGINT AS end_turn
  FROM placed
)

SELECT
  trajectory_id,
  trace_id,
  end_turn - turns AS first_turn,
  if(next_id IS NULL, NULL, end_turn) AS end_turn
FROM counted
WHERE position > 1 OR next_id IS NOT NULL
ORDER BY trajectory_id;
