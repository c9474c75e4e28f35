-- The most common way in which runs of each task succeeded, for task files to expect. Other runs
-- are read on request.
--
-- A path is the list of tools of the calls of a run and its sub-agents that did not fail, in
-- order. Calls without a name are left out. A run succeeded if its scores say that it did, or,
-- without scores, if its own trace says it. An argument is constant if each of the runs gave it,
-- with the same value, in its call at that place.
--
-- Reads:
--   attempt_members
--   attempt_order
--   failed_calls
--   steps
--   trajectories
--   trajectory_scores
-- Parameters:
--   $agent_name   VARCHAR    Only runs of this agent; NULL for all.
--   $any_outcome  BOOLEAN    Also runs that are not known to have succeeded.
--   $runs         VARCHAR[]  Only these runs, however they ended; NULL for all.
-- Columns:
--   agent_name   VARCHAR    NULL if none is named.
--   task_id      VARCHAR    As scored, else as named by a span; NULL if not known. One row for
--                           each agent and task.
--   path         VARCHAR[]  The first by its tools if several are equally common.
--   runs         BIGINT     Runs that succeeded in this way.
--   all_runs     BIGINT     Runs of the task that succeeded.
--   all_calls    VARCHAR    JSON list of the runs of the task, at most the first 1,000 by id, each
--                           a list of its calls that did not fail, in order, each with `tool` and
--                           `arguments` (text of JSON; null if it is not JSON, or redacted or
--                           cut).
--   constants    VARCHAR    JSON list of the constant arguments, each with `position` (of the
--                           call, from 1), `name` and `value`; [] if there are none, or for one
--                           run.
--   sub_goals    VARCHAR    JSON list of the sub-goals that steps of these runs declare, the first
--                           served first, with `name` and `tools` (whose calls that did not fail
--                           served it); [] if there are none.
-- Order:
--   agent_name, task_id
WITH known AS (
  SELECT
    trajectories.trajectory_id,
    trajectories.agent_name,
    coalesce(trajectory_scores.task_id, trajectories.task_id) AS task_id,
    coalesce(
      trajectory_scores.success.value = 1, trajectories.outcome = 'success', FALSE
    ) AS succeeded
  FROM trajectories
  LEFT JOIN trajectory_scores USING (trajectory_id)
  WHERE trajectories.parent_trajectory_id IS NULL
),

chosen AS (
  SELECT * FROM known
  WHERE
    ($agent_name::VARCHAR IS NULL OR agent_name = $agent_name::VARCHAR)
    AND CASE
      WHEN $runs::VARCHAR[] IS NULL THEN succeeded OR $any_outcome::BOOLEAN
      ELSE list_contains($runs::VARCHAR[], trajectory_id)
    END
),

calls AS (
  SELECT
    attempt_order.attempt_id AS trajectory_id,
    attempt_order.trajectory_id AS step_trajectory_id,
    attempt_order.step_index,
    attempt_order.calls_before,
    steps.tool_name,
    CASE
      WHEN json_valid(steps.arguments) AND NOT list_has_any(steps.flags, ['redacted', 'truncated'])
        THEN steps.arguments
    END AS arguments,
    steps.tool_name <> ''
    AND steps.status NOT IN ('error', 'not_executed', 'interrupted')
    AND failed_calls.step_index IS NULL AS went_well
  FROM attempt_order
  INNER JOIN steps USING (trajectory_id, step_index)
  -- If the lake is scored, patterns of task files may show more of them.
  LEFT JOIN failed_calls
    ON
      attempt_order.trajectory_id = failed_calls.step_trajectory_id
      AND attempt_order.step_index = failed_calls.step_index
  SEMI JOIN chosen ON attempt_order.attempt_id = chosen.trajectory_id
  WHERE attempt_order.kind = 'tool_call'
),

good_calls AS (
  SELECT
    trajectory_id,
    tool_name,
    row_number() OVER (PARTITION BY trajectory_id ORDER BY calls_before) AS call_position,
    arguments
  FROM calls
  WHERE went_well
),

walks AS (
  SELECT
    chosen.trajectory_id,
    chosen.agent_name,
    chosen.task_id,
    coalesce(
      list(good_calls.tool_name ORDER BY good_calls.call_position)
      FILTER (WHERE good_calls.tool_name IS NOT NULL),
      []
    ) AS path,
    coalesce(
      list(
        { 'tool': good_calls.tool_name, 'arguments': good_calls.arguments }
        ORDER BY good_calls.call_position
      ) FILTER (WHERE good_calls.tool_name IS NOT NULL),
      []
    ) AS calls
  FROM chosen
  LEFT JOIN good_calls USING (trajectory_id)
  GROUP BY chosen.trajectory_id, chosen.agent_name, chosen.task_id
),

all_walks AS (
  SELECT
    agent_name,
    task_id,
    to_json(list(calls ORDER BY trajectory_id)[:1000])::VARCHAR AS all_calls
  FROM walks
  GROUP BY agent_name, task_id
),

paths AS (
  SELECT
    agent_name,
    task_id,
    path,
    count(*) AS runs,
    (sum(count(*)) OVER (PARTITION BY agent_name, task_id))::BIGINT AS all_runs
  FROM walks
  GROUP BY agent_name, task_id, path
  QUALIFY
    row_number() OVER (PARTITION BY agent_name, task_id ORDER BY count(*) DESC, path ASC) = 1
),

common_walks AS (
  SELECT walks.*
  FROM walks
  INNER JOIN paths
    ON
      walks.path = paths.path
      AND walks.agent_name IS NOT DISTINCT FROM paths.agent_name
      AND walks.task_id IS NOT DISTINCT FROM paths.task_id
),

named AS (
  SELECT
    common_walks.agent_name,
    common_walks.task_id,
    common_walks.path,
    good_calls.call_position,
    good_calls.arguments,
    unnest(json_keys(good_calls.arguments)) AS name
  FROM common_walks
  INNER JOIN good_calls USING (trajectory_id)
),

argument_values AS (
  SELECT
    agent_name,
    task_id,
    path,
    call_position,
    name,
    json_extract(arguments, '/' || replace(replace(name, '~', '~0'), '/', '~1'))::VARCHAR AS value
  FROM named
),

shared AS (
  SELECT
    agent_name,
    task_id,
    path,
    call_position,
    name,
    count(*) AS runs,
    min(value) AS value
  FROM argument_values
  GROUP BY agent_name, task_id, path, call_position, name
  HAVING count(DISTINCT value) = 1
),

constants AS (
  SELECT
    paths.agent_name,
    paths.task_id,
    paths.path,
    to_json(
      list(
        { 'position': shared.call_position, 'name': shared.name, 'value': shared.value::JSON }
        ORDER BY shared.call_position, shared.name
      )
    )::VARCHAR AS constants
  FROM paths
  INNER JOIN shared
    ON
      paths.path = shared.path
      AND paths.agent_name IS NOT DISTINCT FROM shared.agent_name
      AND paths.task_id IS NOT DISTINCT FROM shared.task_id
      AND paths.runs = shared.runs
  WHERE paths.runs > 1
  GROUP BY paths.agent_name, paths.task_id, paths.path
),

serving AS (
  SELECT
    common_walks.agent_name,
    common_walks.task_id,
    common_walks.path,
    steps.sub_goal,
    min(calls.calls_before) FILTER (WHERE calls.went_well) AS first_call,
    coalesce(
      list_sort(list(DISTINCT calls.tool_name) FILTER (WHERE calls.went_well)), []
    ) AS tools
  FROM common_walks
  INNER JOIN attempt_members ON common_walks.trajectory_id = attempt_members.attempt_id
  INNER JOIN steps ON attempt_members.trajectory_id = steps.trajectory_id
  LEFT JOIN calls
    ON
      steps.trajectory_id = calls.step_trajectory_id
      AND steps.step_index = calls.step_index
  WHERE steps.sub_goal <> ''
  GROUP BY common_walks.agent_name, common_walks.task_id, common_walks.path, steps.sub_goal
),

declared AS (
  SELECT
    agent_name,
    task_id,
    path,
    to_json(
      list(
        { 'name': sub_goal, 'tools': tools }
        ORDER BY first_call ASC NULLS LAST, sub_goal ASC
      )
    )::VARCHAR AS sub_goals
  FROM serving
  GROUP BY agent_name, task_id, path
)

SELECT
  paths.agent_name,
  paths.task_id,
  paths.path,
  paths.runs,
  paths.all_runs,
  all_walks.all_calls,
  coalesce(constants.constants, '[]') AS constants,
  coalesce(declared.sub_goals, '[]') AS sub_goals
FROM paths
INNER JOIN all_walks
  ON
    paths.agent_name IS NOT DISTINCT FROM all_walks.agent_name
    AND paths.task_id IS NOT DISTINCT FROM all_walks.task_id
LEFT JOIN constants
  ON
    paths.path = constants.path
    AND paths.agent_name IS NOT DISTINCT FROM constants.agent_name
    AND paths.task_id IS NOT DISTINCT FROM constants.task_id
LEFT JOIN declared
  ON
    paths.path = declared.path
    AND paths.agent_name IS NOT DISTINCT FROM declared.agent_name
    AND paths.task_id IS NOT DISTINCT FROM declared.task_id
ORDER BY paths.agent_name, paths.task_id;
