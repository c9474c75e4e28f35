-- Every decision point of each attempt, made or missed, and whether the pick was correct.
--
-- Source: Triangle, "Tool-Selection Accuracy" (criteria a, b and c, first picks only); metrics.md,
-- section 1. A criterion is NULL where it does not apply. Unknown is not wrong: a pick is wrong as
-- soon as one criterion fails, and unknown only if none fails and b cannot be read.
--
-- Reads:
--   attempts
--   better_alternatives
--   call_validity
--   calls
--   decision_points
--   endings
--   expectation_pairs
--   expectation_matches
--   task_expected
--   tasks
-- Columns:
--   trajectory_id    INTEGER    The attempt.
--   decision_index   INTEGER    Dense from 0; one row for each trajectory_id and decision_index.
--   decision         VARCHAR    The task's name for it, else the span's; NULL if neither names it.
--   picked_tool      VARCHAR    NULL where missed.
--   expected_tool    VARCHAR    NULL if none is expected there, or any of an effect.
--   correct          BOOLEAN    NULL if not counted, or if it cannot be known.
--   failed_criteria  VARCHAR[]  Of a (tool), b (arguments) and c (a better one was offered).
--   criteria         VARCHAR[]  Those that applied.
--   step_index       INTEGER    Of the first call in its trajectory; NULL where missed.
--   span_id          VARCHAR    Of the first call; NULL where missed.
--   reason           VARCHAR    Why it is wrong, unknown or not counted; NULL if correct.
--   missed           BOOLEAN    Expected, but no call was made for it.
--   counted          BOOLEAN    It is in the denominator.
--   calls            INTEGER    Calls of the point; 0 where missed.
--   call_index       INTEGER    Of the first call in the attempt; NULL where missed.
--   unknown_because  VARCHAR    content_missing | input_unbound, where correct cannot be known.
-- Order:
--   trajectory_id, decision_index
WITH picks AS (
  SELECT
    attempts.attempt_id,
    decision_points.point_index,
    expectation_matches.position,
    decision_points.calls,
    calls.call_index,
    calls.tool_name,
    calls.step_index,
    calls.span_id,
    calls.effect,
    expected.tool_name AS expected_tool,
    expected.effect AS expected_effect,
    coalesce(expected.decision, calls.decision) AS decision,
    pairs.wrong_argument,
    pairs.found,
    pairs.wanted,
    validity.message,
    better.alternative,
    better.effect AS better_effect,
    better.cost AS better_cost,
    calls.cost,
    pairs.tool_fits,
    -- Criterion a: the expected tool, or no expectation where the list is complete.
    CASE
      WHEN expectation_matches.position IS NULL
        THEN if(tasks.has_expected AND tasks.expected_complete = 'true', FALSE, NULL)
      ELSE
        pairs.tool_fits
        AND coalesce(calls.effect = expected.effect, expected.effect IS NULL)
    END AS a,
    -- Criterion b, in two halves: the schema and the task's own arguments.
    validity.attempt_id IS NOT NULL AS has_schema,
    validity.valid,
    coalesce(pairs.arguments_given, FALSE) AS has_arguments,
    pairs.arguments_fit,
    pairs.unknown_because,
    -- Criterion c.
    CASE
      WHEN better.attempt_id IS NULL THEN NULL
      ELSE better.alternative IS NULL OR coalesce(calls.tool_name = expected.tool_name, FALSE)
    END AS c
  FROM decision_points
  INNER JOIN attempts USING (attempt_id)
  INNER JOIN calls USING (attempt_id, call_index)
  LEFT JOIN tasks USING (task_id)
  LEFT JOIN expectation_matches
    ON
      decision_points.attempt_id = expectation_matches.attempt_id
      AND decision_points.point_index = expectation_matches.point_index
  LEFT JOIN task_expected AS expected
    ON attempts.task_id = expected.task_id AND expectation_matches.position = expected.position
  LEFT JOIN expectation_pairs AS pairs
    ON
      expectation_matches.attempt_id = pairs.attempt_id
      AND expectation_matches.point_index = pairs.point_index
      AND expectation_matches.position = pairs.position
  LEFT JOIN call_validity AS validity
    ON
      decision_points.attempt_id = validity.attempt_id
      AND decision_points.call_index = validity.call_index
  LEFT JOIN better_alternatives AS better
    ON
      decision_points.attempt_id = better.attempt_id
      AND decision_points.call_index = better.call_index
),

judged AS (
  SELECT
    *,
    (has_schema AND valid IS FALSE) OR (has_arguments AND arguments_fit IS FALSE) AS b_failed,
    (has_schema AND valid IS NULL) OR (has_arguments AND arguments_fit IS NULL) AS b_unknown,
    has_schema OR has_arguments AS b_applies
  FROM picks
),

made AS (
  SELECT
    attempt_id,
    position,
    call_index,
    decision,
    tool_name AS picked_tool,
    expected_tool,
    CASE
      WHEN a IS FALSE OR c IS FALSE OR b_failed THEN FALSE
      WHEN b_unknown THEN NULL
      WHEN a IS NOT NULL OR c IS NOT NULL OR b_applies THEN TRUE
    END AS correct,
    list_filter(
      [if(a IS FALSE, 'a', NULL), if(b_failed, 'b', NULL), if(c IS FALSE, 'c', NULL)],
      LAMBDA criterion: criterion IS NOT NULL
    ) AS failed_criteria,
    list_filter(
      [if(a IS NULL, NULL, 'a'), if(b_applies, 'b', NULL), if(c IS NULL, NULL, 'c')],
      LAMBDA criterion: criterion IS NOT NULL
    ) AS criteria,
    step_index,
    span_id,
    concat_ws(
      '; ',
      CASE
        WHEN a IS NOT FALSE THEN NULL
        WHEN position IS NULL THEN concat('picked ', tool_name, ' where no call is expected')
        WHEN tool_fits
          THEN concat(
            tool_name, ' has effect ', coalesce(effect, 'unknown'), ', expected ', expected_effect
          )
        ELSE
          concat(
            'picked ', tool_name, ', expected ', coalesce(expected_tool, 'any ' || expected_effect)
          )
      END,
      CASE
        WHEN has_schema AND NOT valid
          THEN concat('arguments of ', tool_name, ' break its schema: ', message)
      END,
      CASE
        WHEN has_arguments AND NOT arguments_fit
          THEN concat(
            'argument ', wrong_argument, ' of ', tool_name, ' is ', coalesce(found, 'missing'),
            ', expected ', wanted
          )
      END,
      CASE
        WHEN c IS FALSE
          THEN concat(
            alternative, ' was offered and does the job with effect ',
            coalesce(better_effect, 'unknown'), ' and cost ',
            coalesce(format('{:g}', better_cost), 'unknown'), ', ', tool_name, ' has ',
            coalesce(effect, 'unknown'), ' and ', coalesce(format('{:g}', cost), 'unknown')
          )
      END,
      CASE
        WHEN b_unknown
          THEN concat(
            'arguments of ', tool_name, ' cannot be compared: ',
            coalesce(unknown_because, 'content_missing')
          )
        WHEN a IS NULL AND c IS NULL AND NOT b_applies THEN 'nothing is known to judge it by'
      END
    ) AS reason,
    FALSE AS missed,
    a IS NOT NULL OR c IS NOT NULL OR b_applies AS counted,
    calls,
    if(b_unknown, coalesce(unknown_because, 'content_missing'), NULL) AS unknown_because
  FROM judged
),

-- A missed expectation stands after the last call that met an earlier one.
expectations AS (
  SELECT
    attempts.attempt_id,
    expected.*,
    expectation_matches.attempt_id IS NULL AS is_missed,
    max(decision_points.call_index) OVER (
      PARTITION BY attempts.attempt_id
      ORDER BY expected.position
    ) AS last_met
  FROM attempts
  INNER JOIN task_expected AS expected ON attempts.task_id = expected.task_id
  LEFT JOIN expectation_matches
    ON
      attempts.attempt_id = expectation_matches.attempt_id
      AND expected.position = expectation_matches.position
  LEFT JOIN decision_points
    ON
      expectation_matches.attempt_id = decision_points.attempt_id
      AND expectation_matches.point_index = decision_points.point_index
),

missed AS (
  SELECT
    expectations.attempt_id,
    expectations.position,
    coalesce(expectations.last_met, -1) AS call_index,
    expectations.decision,
    NULL AS picked_tool,
    expectations.tool_name AS expected_tool,
    if(endings.ending IS NULL, FALSE, NULL) AS correct,
    if(endings.ending IS NULL, ['a'], []) AS failed_criteria,
    ['a'] AS criteria,
    NULL AS step_index,
    NULL AS span_id,
    concat(
      'no call was made where ', coalesce(expectations.tool_name, 'any ' || expectations.effect),
      ' was expected',
      ', but the run ended early: ' || endings.ending
    ) AS reason,
    TRUE AS missed,
    endings.ending IS NULL AS counted,
    0 AS calls,
    NULL AS unknown_because
  FROM expectations
  LEFT JOIN endings ON expectations.attempt_id = endings.trajectory_id
  WHERE expectations.is_missed
),

rows AS (
  FROM made
  UNION ALL BY NAME
  FROM missed
)

SELECT
  attempt_id AS trajectory_id,
  (
    row_number() OVER (PARTITION BY attempt_id ORDER BY call_index, missed, position) - 1
  )::INTEGER AS decision_index,
  decision,
  picked_tool,
  expected_tool,
  correct,
  failed_criteria,
  criteria,
  step_index,
  span_id,
  left(nullif(reason, ''), 500) AS reason,
  missed,
  counted,
  calls,
  if(missed, NULL, call_index) AS call_index,
  unknown_because
FROM rows
ORDER BY trajectory_id, decision_index;
