-- Agreement of each attempt's calls with the calls that its task expects: four dimensions, and
-- their mean.
--
-- A score is the mean over the turns that have it, if expectations are given by turn. Source:
-- [Agentic], "Tool Correctness"; docs/metrics.md, section 2.3.
--
-- Reads:
--   attempts
--   grading_weights
--   tool_grades
-- Columns:
--   trajectory_ids          INTEGER[]  Attempts whose scores are equal; each is in one row.
--                                      By turn, a score is the sum of values / turns.
--   tool_correctness        SCORE      The weighted mean of the four dimensions.
--   tool_correct            SCORE      1 if tool_correctness reaches the threshold, else 0.
--   tool_selection_jaccard  SCORE      Calls matched by name / expected and made calls together.
--   tool_parameters         SCORE      Mean similarity of arguments to the stated ones.
--   tool_sequence           SCORE      Calls in the expected order / expected calls.
--   tool_utilization        SCORE      Results used later / results with a distinctive token.
-- Order:
--   none
WITH grades AS (
  SELECT
    tool_grades.*,
    grading_weights.threshold,
    grading_weights.weights
  FROM tool_grades
  CROSS JOIN grading_weights
),

weighted AS (
  SELECT
    *,
    list_sum(
      list_transform(
        [1, 2, 3, 4], LAMBDA i: coalesce(weights[i] * parts[i] / wholes[i], 0)
      )
    ) AS weighted_sum,
    list_sum(
      list_transform([1, 2, 3, 4], LAMBDA i: if(parts[i] IS NULL, 0, weights[i]))
    ) AS weight
  FROM grades
),

turns AS (
  SELECT
    attempt_id,
    turn,
    threshold,
    CASE
      WHEN all_wrong THEN [0]
      -- Without calls on either side nothing can be correct, even if something was read.
      WHEN parts[1] IS NOT NULL AND weight > 0 THEN [weighted_sum]
      ELSE [NULL]
    END
    || parts AS parts,
    [if(all_wrong AND weight = 0, 1, weight)] || wholes AS wholes,
    [
      CASE
        WHEN hidden IS NOT NULL AND weights[2] > 0 THEN hidden
        WHEN hidden_order IS NOT NULL AND weights[3] > 0 THEN hidden_order
      END,
      NULL,
      hidden,
      hidden_order,
      NULL
    ] AS errors
  FROM weighted
),

graded AS (
  SELECT
    attempt_id,
    parts,
    wholes,
    errors,
    parts[1] / wholes[1] >= threshold - 1e-9 AS correct
  FROM turns
  WHERE turn = -1
  UNION ALL
  SELECT
    attempt_id,
    [
      sum(parts[1] / wholes[1] ORDER BY turn),
      sum(parts[2] / wholes[2] ORDER BY turn),
      sum(parts[3] / wholes[3] ORDER BY turn),
      sum(parts[4] / wholes[4] ORDER BY turn),
      sum(parts[5] / wholes[5] ORDER BY turn)
    ] AS parts,
    [count(parts[1]), count(parts[2]), count(parts[3]), count(parts[4]), count(parts[5])]
      AS wholes,
    [max(errors[1]), max(errors[2]), max(errors[3]), max(errors[4]), max(errors[5])] AS errors,
    bool_and(parts[1] / wholes[1] >= threshold - 1e-9) AS correct
  FROM turns
  WHERE turn >= 0
  GROUP BY attempt_id
),

measured AS (
  SELECT
    attempts.attempt_id,
    graded.parts,
    graded.wholes,
    graded.errors,
    graded.correct,
    CASE
      WHEN attempts.ambiguous THEN 'ambiguous_task'
      WHEN NOT attempts.specified THEN 'no_task'
      WHEN graded.attempt_id IS NULL THEN 'no_expectation'
    END AS no_grade
  FROM attempts
  LEFT JOIN graded USING (attempt_id)
),

explained AS (
  SELECT
    *,
    [
      -- There are calls, but the weighted parts are missing: arguments, or recognizable results.
      CASE
        WHEN parts[1] IS NOT NULL THEN NULL
        WHEN parts[2] IS NULL THEN coalesce(no_grade, 'no_calls')
        WHEN parts[3] IS NULL THEN 'no_arguments_expected'
        ELSE 'no_distinctive_result'
      END,
      if(parts[2] IS NULL, coalesce(no_grade, 'no_calls'), NULL),
      if(parts[3] IS NULL, coalesce(no_grade, 'no_arguments_expected'), NULL),
      if(parts[4] IS NULL, coalesce(no_grade, 'no_calls_expected'), NULL),
      if(parts[5] IS NULL, coalesce(no_grade, 'no_distinctive_result'), NULL)
    ] AS nothing
  FROM measured
),

cases AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    * EXCLUDE (attempt_id)
  FROM explained
  GROUP BY ALL
)

SELECT
  trajectory_ids,
  score_of(parts[1], wholes[1], nothing[1], errors[1], NULL, 'static') AS tool_correctness,
  score_of(correct::INTEGER, 1, nothing[1], errors[1], NULL, 'static') AS tool_correct,
  score_of(parts[2], wholes[2], nothing[2], NULL, NULL, 'static') AS tool_selection_jaccard,
  score_of(parts[3], wholes[3], nothing[3], errors[3], NULL, 'static') AS tool_parameters,
  score_of(parts[4], wholes[4], nothing[4], errors[4], NULL, 'static') AS tool_sequence,
  score_of(parts[5], wholes[5], nothing[5], NULL, NULL, 'static') AS tool_utilization
FROM cases;
