-- Decision points where the agent did not pick the right tool, equal ones together.
--
-- Reads:
--   decisions
--   trajectories
-- Parameters:
--   $rows  BIGINT  Keep the first so many rows of each release of each agent.
-- Columns:
--   release             VARCHAR    One row for each combination of the columns up to
--                                  failed_criteria.
--   agent_name          VARCHAR    NULL if the trace names none.
--   run_mode            VARCHAR    As the trace says: production | live | mocked; else NULL.
--   task_id             VARCHAR    NULL if the task is not known.
--   decision            VARCHAR    The task's name for the point; NULL if it expects none.
--   missed              BOOLEAN    True if no call was made for the point.
--   picked_tool         VARCHAR    NULL where missed.
--   expected_tool       VARCHAR    NULL if the task expects none.
--   failed_criteria     VARCHAR[]  Of a (tool), b (arguments), c (a safer or cheaper one existed).
--   reason              VARCHAR    One sentence, of the first of them.
--   times               BIGINT     Decision points together in this row; at least 1.
--   runs                BIGINT     Trajectories in which they stand.
--   step_trajectory_id  VARCHAR    Run of the agent that made the call; NULL where missed.
--   step_index          INTEGER    Of the call in that run; NULL where missed.
--   span_id             VARCHAR    Of the call; NULL where missed.
--   total               BIGINT     Rows of that release before $rows was applied.
--   trajectory_id       VARCHAR    The first of these.
-- Order:
--   agent_name, run_mode, release, times (most first), trajectory_id, position in it
WITH wrong AS (
  SELECT
    decisions.release,
    trajectories.agent_name,
    trajectories.run_mode,
    decisions.task_id,
    decisions.decision,
    decisions.picked_tool,
    decisions.expected_tool,
    decisions.reason,
    decisions.trajectory_id,
    decisions.step_trajectory_id,
    decisions.step_index,
    decisions.span_id,
    coalesce(decisions.missed, FALSE) AS missed,
    coalesce(decisions.failed_criteria, []) AS failed_criteria,
    (decisions.trajectory_id, decisions.decision_index) AS position
  FROM decisions
  LEFT JOIN trajectories USING (trajectory_id)
  WHERE
    decisions.counted
    AND NOT decisions.correct
),

kinds AS (
  SELECT
    release,
    agent_name,
    run_mode,
    task_id,
    decision,
    missed,
    picked_tool,
    expected_tool,
    failed_criteria,
    count(*) AS times,
    count(DISTINCT trajectory_id) AS runs,
    min(position) AS first_position,
    arg_min_null(reason, position) AS reason,
    arg_min_null(step_trajectory_id, position) AS step_trajectory_id,
    arg_min_null(step_index, position) AS step_index,
    arg_min_null(span_id, position) AS span_id
  FROM wrong
  GROUP BY
    release,
    agent_name,
    run_mode,
    task_id,
    decision,
    missed,
    picked_tool,
    expected_tool,
    failed_criteria
),

ranked_kinds AS (
  SELECT
    *,
    count(*) OVER (PARTITION BY agent_name, run_mode, release) AS total,
    row_number() OVER (
      PARTITION BY agent_name, run_mode, release ORDER BY times DESC, first_position ASC
    ) AS position
  FROM kinds
)

SELECT
  release,
  agent_name,
  run_mode,
  task_id,
  decision,
  missed,
  picked_tool,
  expected_tool,
  failed_criteria,
  reason,
  times,
  runs,
  step_trajectory_id,
  step_index,
  span_id,
  total,
  first_position[1] AS trajectory_id
FROM ranked_kinds
WHERE position <= $rows
ORDER BY agent_name, run_mode, release, position;
