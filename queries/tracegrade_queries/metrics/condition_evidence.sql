-- When each condition of a criterion but any_of began to hold, ceased to, or became unsure.
--
-- Moment -1 is before the first call, i is after call i, and the number of calls is the end of the
-- attempt. Between two rows of a condition nothing changes; before the first it does not hold.
--
-- Reads:
--   attempt_bindings
--   calls
--   canonical_values
--   criterion_conditions
--   expression_results
--   found_values
--   steps
--   sub_goal_verdicts
--   task_matches
--   trajectories
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id, sub_goal, condition and moment.
--   sub_goal    VARCHAR  The sub-goal that the criterion belongs to; '' for the task itself.
--   condition   INTEGER  Which condition of its criterion, from 0; parts of any_of too.
--   moment      INTEGER  From -1 to the number of calls.
--   holds       BOOLEAN  NULL where content that was not captured, or no verdict, decides it.
-- Order:
--   none
WITH asked AS (
  SELECT
    task_matches.attempt_id,
    criterion_conditions.*
  FROM task_matches
  INNER JOIN criterion_conditions USING (task_id)
),

ends AS (
  SELECT
    task_matches.attempt_id,
    trajectories.final_answer,
    count(calls.call_index)::INTEGER AS moment
  FROM task_matches
  SEMI JOIN criterion_conditions USING (task_id)
  INNER JOIN trajectories ON task_matches.attempt_id = trajectories.trajectory_id
  LEFT JOIN calls ON task_matches.attempt_id = calls.attempt_id
  GROUP BY task_matches.attempt_id, trajectories.final_answer
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
    found_values.attempt_id,
    found_values.call_index,
    found_values.sub_goal,
    found_values.condition,
    CASE
      WHEN found_values.captured
        THEN fits_wanted(
          found_texts.canonical,
          wanted_texts.canonical,
          found_values.pattern,
          found_values.low,
          found_values.high
        )
    END AS equal,
    found_values.found IS NOT NULL AS has_path
  FROM found_values
  LEFT JOIN canonical_values AS found_texts ON found_values.found = found_texts.text
  LEFT JOIN canonical_values AS wanted_texts ON found_values.wanted = wanted_texts.text
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

-- One call is enough for these.
single_calls AS (
  SELECT
    asked.attempt_id,
    asked.sub_goal,
    asked.condition,
    calls.call_index,
    TRUE AS holds
  FROM asked
  INNER JOIN calls USING (attempt_id, tool_name)
  WHERE
    asked.kind = 'call'
    AND calls.failed = asked.failed
  UNION ALL
  SELECT
    result_calls.attempt_id,
    result_calls.sub_goal,
    result_calls.condition,
    result_calls.call_index,
    result_calls.holds
  FROM result_calls
  INNER JOIN asked USING (attempt_id, sub_goal, condition)
  WHERE
    asked.kind = 'values'
    AND result_calls.holds IS DISTINCT FROM FALSE
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
  INNER JOIN asked USING (attempt_id, sub_goal, condition)
  WHERE asked.kind = 'state'
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
  asked.attempt_id,
  asked.sub_goal,
  asked.condition,
  ends.moment,
  CASE
    WHEN asked.input IS NULL THEN regexp_matches(ends.final_answer, asked.pattern)
    ELSE contains(ends.final_answer, bound.value)
  END AS holds
FROM asked
INNER JOIN ends USING (attempt_id)
LEFT JOIN attempt_bindings AS bound
  ON
    asked.attempt_id = bound.attempt_id
    AND asked.input = bound.name
LEFT JOIN lost_answers ON asked.attempt_id = lost_answers.attempt_id
WHERE
  asked.kind = 'answer'
  AND (ends.final_answer IS NOT NULL OR lost_answers.attempt_id IS NOT NULL)
UNION ALL
SELECT
  expression_results.attempt_id,
  expression_results.sub_goal,
  expression_results.condition,
  CASE WHEN expression_results.at_end THEN ends.moment ELSE -1 END AS moment,
  expression_results.holds
FROM expression_results
INNER JOIN ends USING (attempt_id)
UNION ALL
SELECT
  asked.attempt_id,
  asked.sub_goal,
  asked.condition,
  ends.moment,
  sub_goal_verdicts.holds
FROM asked
INNER JOIN ends USING (attempt_id)
LEFT JOIN sub_goal_verdicts USING (attempt_id, sub_goal)
WHERE asked.kind = 'judge';
