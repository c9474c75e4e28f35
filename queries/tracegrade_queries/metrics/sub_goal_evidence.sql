-- When each condition of a sub-goal's criterion began to hold, ceased to, or became unsure.
--
-- Moment -1 is before the first call, i is after call i, and the number of calls is the end of the
-- attempt. Between two rows of a condition nothing changes; before the first it does not hold.
--
-- Reads:
--   attempt_bindings
--   attempts
--   calls
--   graph_conditions
--   sub_goal_attribution
--   sub_goal_sql
--   sub_goal_texts
--   sub_goal_values
--   steps
-- Columns:
--   attempt_id  VARCHAR  One row for each attempt_id, sub_goal, condition and moment.
--   sub_goal    VARCHAR  A counted sub-goal of the attempt's task.
--   condition   INTEGER  Which condition of its criterion, from 0.
--   moment      INTEGER  From -1 to the number of calls.
--   holds       BOOLEAN  NULL where content that was not captured decides it.
-- Order:
--   attempt_id, sub_goal, condition, moment
WITH ends AS (
  SELECT
    attempts.attempt_id,
    attempts.task_id,
    attempts.final_answer,
    count(calls.call_index)::INTEGER AS moment
  FROM attempts
  LEFT JOIN calls USING (attempt_id)
  GROUP BY attempts.attempt_id, attempts.task_id, attempts.final_answer
),

-- An answer that was given but not captured is unknown; none at all is no answer.
lost_answers AS (
  SELECT DISTINCT trajectory_id AS attempt_id
  FROM steps
  WHERE
    kind = 'answer'
    AND content IS NULL
),

-- Typed equality is identity of canonical texts.
compared AS (
  SELECT
    sub_goal_values.attempt_id,
    sub_goal_values.call_index,
    sub_goal_values.sub_goal,
    sub_goal_values.condition,
    CASE
      WHEN NOT sub_goal_values.captured THEN NULL
      WHEN sub_goal_values.found IS NULL THEN FALSE
      ELSE found_texts.canonical = wanted_texts.canonical
    END AS equal,
    sub_goal_values.found IS NOT NULL AS has_path
  FROM sub_goal_values
  LEFT JOIN sub_goal_texts AS found_texts ON sub_goal_values.found = found_texts.text
  LEFT JOIN sub_goal_texts AS wanted_texts ON sub_goal_values.wanted = wanted_texts.text
),

result_calls AS (
  SELECT
    attempt_id,
    call_index,
    sub_goal,
    condition,
    CASE
      WHEN bool_or(NOT equal) THEN FALSE
      WHEN count(equal) = count(*) THEN TRUE
    END AS holds
  FROM compared
  GROUP BY attempt_id, call_index, sub_goal, condition
),

-- One call is enough for these: without a criterion one that serves it, with `tool` one of it.
single_calls AS (
  SELECT
    calls.attempt_id,
    calls.call_index,
    graph_conditions.sub_goal,
    graph_conditions.condition,
    sub_goal_attribution.certain OR NULL AS holds
  FROM sub_goal_attribution
  INNER JOIN calls USING (attempt_id, call_index)
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN graph_conditions
    ON
      attempts.task_id = graph_conditions.task_id
      AND sub_goal_attribution.sub_goal = graph_conditions.sub_goal
  WHERE
    graph_conditions.kind = 'served'
    AND NOT calls.failed
  UNION ALL
  SELECT
    calls.attempt_id,
    calls.call_index,
    graph_conditions.sub_goal,
    graph_conditions.condition,
    TRUE AS holds
  FROM calls
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN graph_conditions USING (task_id, tool_name)
  WHERE
    graph_conditions.kind = 'call'
    AND calls.failed = graph_conditions.failed
  UNION ALL
  SELECT
    result_calls.attempt_id,
    result_calls.call_index,
    result_calls.sub_goal,
    result_calls.condition,
    result_calls.holds
  FROM result_calls
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN graph_conditions USING (task_id, sub_goal, condition)
  WHERE
    graph_conditions.kind = 'result'
    AND result_calls.holds IS DISTINCT FROM FALSE
),

-- A state is what the last successful result that has the path says; if none has it, results that
-- were not captured could.
states AS (
  SELECT
    compared.*,
    bool_or(compared.has_path) OVER (
      PARTITION BY compared.attempt_id, compared.sub_goal, compared.condition
    ) AS any_has_path
  FROM compared
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN graph_conditions USING (task_id, sub_goal, condition)
  WHERE graph_conditions.kind = 'state'
),

first_calls AS (
  SELECT
    attempt_id,
    sub_goal,
    condition,
    min(call_index) FILTER (WHERE holds) AS sure_at,
    min(call_index) FILTER (WHERE holds IS NULL) AS unsure_at
  FROM single_calls
  GROUP BY attempt_id, sub_goal, condition
)

SELECT
  attempt_id,
  sub_goal,
  condition,
  sure_at AS moment,
  TRUE AS holds
FROM first_calls
WHERE sure_at IS NOT NULL
UNION ALL
SELECT
  attempt_id,
  sub_goal,
  condition,
  unsure_at AS moment,
  NULL AS holds
FROM first_calls
WHERE unsure_at < coalesce(sure_at, unsure_at + 1)
UNION ALL
SELECT
  attempt_id,
  sub_goal,
  condition,
  call_index AS moment,
  equal AS holds
FROM states
WHERE has_path OR (equal IS NULL AND NOT any_has_path)
UNION ALL
SELECT
  ends.attempt_id,
  graph_conditions.sub_goal,
  graph_conditions.condition,
  ends.moment,
  CASE
    WHEN graph_conditions.input IS NULL
      THEN regexp_matches(ends.final_answer, graph_conditions.pattern)
    ELSE contains(ends.final_answer, bound.value)
  END AS holds
FROM ends
INNER JOIN graph_conditions USING (task_id)
LEFT JOIN attempt_bindings AS bound
  ON
    ends.attempt_id = bound.attempt_id
    AND graph_conditions.input = bound.name
LEFT JOIN lost_answers ON ends.attempt_id = lost_answers.attempt_id
WHERE
  graph_conditions.kind = 'answer'
  AND (ends.final_answer IS NOT NULL OR lost_answers.attempt_id IS NOT NULL)
UNION ALL
SELECT
  sub_goal_sql.attempt_id,
  sub_goal_sql.sub_goal,
  sub_goal_sql.condition,
  CASE WHEN sub_goal_sql.at_end THEN ends.moment ELSE -1 END AS moment,
  sub_goal_sql.holds
FROM sub_goal_sql
INNER JOIN ends USING (attempt_id)
ORDER BY attempt_id, sub_goal, condition, moment;
