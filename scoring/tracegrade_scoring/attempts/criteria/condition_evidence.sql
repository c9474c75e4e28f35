-- Moments at which each condition of a criterion, except any_of, began or ceased to hold, or
-- became unsure.
--
-- Moment -1 is before the first call, i is after call i, and the number of calls is the end of the
-- attempt. Between two rows of a condition nothing changes; before the first it does not hold.
-- Where calls were not recorded, conditions that calls decide are unsure. A recorded call was
-- made, but a state may have changed. Source: docs/metrics.md, section 0.1.
--
-- Reads:
--   answer_matches
--   attempt_bindings
--   attempts_with_unrecorded_answers
--   attempts_with_unrecorded_calls
--   calls
--   canonical_values
--   criterion_conditions
--   criterion_values
--   expression_results
--   found_values
--   sub_goal_verdicts
--   attempt_tasks
--   trajectories
-- Needs:
--   criterion_conditions or found_values or expression_results
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id, sub_goal, condition and moment.
--   sub_goal    VARCHAR  The sub-goal that the criterion belongs to; '' for the task itself.
--   condition   INTEGER  Which condition of its criterion, from 0; parts of any_of too.
--   moment      INTEGER  From -1 to the number of calls.
--   holds       BOOLEAN  NULL where content that was not captured, calls that were not recorded,
--                        or no verdict decide it.
-- Order:
--   none
WITH attempt_conditions AS (
  SELECT
    attempt_tasks.attempt_id,
    criterion_conditions.*
  FROM attempt_tasks
  INNER JOIN criterion_conditions USING (task_id)
),

call_counts AS (
  SELECT
    attempt_id,
    count(*)::INTEGER AS calls
  FROM calls
  GROUP BY attempt_id
),

ends AS (
  SELECT
    attempt_tasks.attempt_id,
    coalesce(call_counts.calls, 0) AS moment
  FROM attempt_tasks
  LEFT JOIN call_counts USING (attempt_id)
),

-- Typed equality is identity of canonical texts.
alternatives AS (
  SELECT
    found_values.*,
    CASE
      WHEN found_values.captured
        THEN matches_expected(
          actual_texts.canonical,
          expected_texts.canonical,
          found_values.pattern,
          found_values.low,
          found_values.high,
          found_values.optional
        )
    END AS fits
  FROM found_values
  LEFT JOIN canonical_values AS actual_texts ON found_values.actual = actual_texts.text
  LEFT JOIN canonical_values AS expected_texts ON found_values.expected = expected_texts.text
),

-- One of the alternatives at a place is enough.
compared AS (
  SELECT
    attempt_id,
    call_index,
    sub_goal,
    condition,
    kind,
    CASE WHEN bool_or(fits) THEN TRUE WHEN count(fits) = count(*) THEN FALSE END AS equal,
    bool_or(actual IS NOT NULL) AS has_path
  FROM alternatives
  GROUP BY attempt_id, call_index, sub_goal, condition, kind, part, path
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
  WHERE kind = 'values'
  GROUP BY attempt_id, call_index, sub_goal, condition
),

-- One call is enough for these.
single_calls AS (
  SELECT
    attempt_conditions.attempt_id,
    attempt_conditions.sub_goal,
    attempt_conditions.condition,
    calls.call_index,
    TRUE AS holds
  FROM attempt_conditions
  INNER JOIN calls USING (attempt_id, tool_name)
  WHERE
    attempt_conditions.kind = 'call'
    AND calls.failed = attempt_conditions.failed
  UNION ALL
  SELECT
    attempt_id,
    sub_goal,
    condition,
    call_index,
    holds
  FROM result_calls
  WHERE holds IS DISTINCT FROM FALSE
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

-- A state is what the last successful result that has the path says.
states AS (
  SELECT
    attempt_id,
    call_index,
    sub_goal,
    condition,
    equal
  FROM compared
  WHERE
    kind = 'state'
    AND has_path
),

-- What redaction (the collector's, or OpenInference's) or capping took out of an answer may have
-- been what was asked for. An answer that was given but not captured is unknown; without an answer
-- nothing matches.
answers AS (
  SELECT
    attempt_conditions.attempt_id,
    attempt_conditions.sub_goal,
    attempt_conditions.condition,
    ends.moment,
    coalesce(
      regexp_matches(trajectories.final_answer, '\[redacted|…\[capped: |__REDACTED__'), FALSE
    ) AS is_partial,
    if(
      attempt_conditions.input IS NULL,
      answer_matches.fits,
      contains(trajectories.final_answer, bound.value)
    ) AS fits
  FROM attempt_conditions
  INNER JOIN ends USING (attempt_id)
  INNER JOIN trajectories ON attempt_conditions.attempt_id = trajectories.trajectory_id
  LEFT JOIN attempt_bindings AS bound
    ON
      attempt_conditions.attempt_id = bound.attempt_id
      AND attempt_conditions.input = bound.name
  LEFT JOIN answer_matches
    ON
      attempt_conditions.attempt_id = answer_matches.attempt_id
      AND attempt_conditions.pattern = answer_matches.pattern
  LEFT JOIN attempts_with_unrecorded_answers AS lost_answers
    ON attempt_conditions.attempt_id = lost_answers.attempt_id
  WHERE
    attempt_conditions.kind = 'answer'
    AND (trajectories.final_answer IS NOT NULL OR lost_answers.attempt_id IS NOT NULL)
),

-- If none has it, results that were not captured could.
lost_states AS (
  SELECT
    compared.attempt_id,
    compared.call_index,
    compared.sub_goal,
    compared.condition
  FROM compared
  ANTI JOIN states
    ON
      compared.attempt_id = states.attempt_id
      AND compared.sub_goal = states.sub_goal
      AND compared.condition = states.condition
  WHERE
    compared.kind = 'state'
    AND compared.equal IS NULL
),

unrecorded AS (
  SELECT
    attempt_conditions.attempt_id,
    attempt_conditions.sub_goal,
    attempt_conditions.condition,
    ends.moment
  FROM attempt_conditions
  INNER JOIN attempts_with_unrecorded_calls USING (attempt_id)
  INNER JOIN ends USING (attempt_id)
  LEFT JOIN first_calls
    ON
      attempt_conditions.attempt_id = first_calls.attempt_id
      AND attempt_conditions.sub_goal = first_calls.sub_goal
      AND attempt_conditions.condition = first_calls.condition
  WHERE
    attempt_conditions.kind IN ('call', 'values', 'state')
    AND first_calls.attempt_id IS NULL
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
UNION ALL
-- Before any result has the path, what may be absent is.
SELECT DISTINCT
  attempt_conditions.attempt_id,
  attempt_conditions.sub_goal,
  attempt_conditions.condition,
  -1 AS moment,
  TRUE AS holds
FROM attempt_conditions
INNER JOIN criterion_values AS expected USING (task_id, sub_goal, condition)
WHERE
  attempt_conditions.kind = 'state'
  AND expected.optional
UNION ALL
SELECT
  attempt_id,
  sub_goal,
  condition,
  call_index AS moment,
  NULL AS holds
FROM lost_states
UNION ALL
SELECT
  attempt_id,
  sub_goal,
  condition,
  moment,
  if(is_partial, nullif(fits, FALSE), fits) AS holds
FROM answers
UNION ALL
SELECT
  expression_results.attempt_id,
  expression_results.sub_goal,
  expression_results.condition,
  CASE WHEN expression_results.at_end THEN ends.moment ELSE -1 END AS moment,
  CASE
    WHEN NOT expression_results.at_end OR unrecorded_of.attempt_id IS NULL
      THEN expression_results.holds
  END AS holds
FROM expression_results
INNER JOIN ends USING (attempt_id)
LEFT JOIN attempts_with_unrecorded_calls AS unrecorded_of USING (attempt_id)
UNION ALL
SELECT
  attempt_id,
  sub_goal,
  condition,
  moment,
  NULL AS holds
FROM unrecorded
UNION ALL
SELECT
  attempt_conditions.attempt_id,
  attempt_conditions.sub_goal,
  attempt_conditions.condition,
  ends.moment,
  sub_goal_verdicts.holds
FROM attempt_conditions
INNER JOIN ends USING (attempt_id)
LEFT JOIN sub_goal_verdicts USING (attempt_id, sub_goal)
WHERE attempt_conditions.kind = 'judge';
