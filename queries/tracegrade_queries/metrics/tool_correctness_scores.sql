-- How far the calls of each attempt are those that its task expects: four dimensions, and one.
--
-- Where expectations are given by turn, a score is the mean over the turns that have it.
-- Source: Agentic, "Tool Correctness"; metrics.md, section 2.
--
-- Reads:
--   attempts
--   grading_weights
--   tool_grades
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row for each trajectory_id and metric.
--   metric         VARCHAR  tool_correct | tool_correctness | tool_parameters |
--                           tool_selection_jaccard | tool_sequence | tool_utilization.
--   value          DOUBLE   Numerator / denominator; NULL if not scored.
--   numerator      DOUBLE   By turn: the sum of the turns' values. NULL if not scored.
--   denominator    DOUBLE   By turn: the number of turns. NULL if not scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  static: no judge had a part in it.
-- Order:
--   trajectory_id, metric
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
      -- Without calls on either side there is nothing to be correct, whatever was read.
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

metrics AS (
  SELECT
    attempt_id,
    no_grade,
    unnest([
      {
        'metric': 'tool_correctness',
        'numerator': parts[1],
        'denominator': wholes[1],
        'not_applicable': 'no_calls',
        'error': errors[1]
      },
      {
        'metric': 'tool_correct',
        'numerator': correct::INTEGER::DOUBLE,
        'denominator': 1,
        'not_applicable': 'no_calls',
        'error': errors[1]
      },
      {
        'metric': 'tool_selection_jaccard',
        'numerator': parts[2],
        'denominator': wholes[2],
        'not_applicable': 'no_calls',
        'error': errors[2]
      },
      {
        'metric': 'tool_parameters',
        'numerator': parts[3],
        'denominator': wholes[3],
        'not_applicable': 'no_arguments_expected',
        'error': errors[3]
      },
      {
        'metric': 'tool_sequence',
        'numerator': parts[4],
        'denominator': wholes[4],
        'not_applicable': 'no_calls_expected',
        'error': errors[4]
      },
      {
        'metric': 'tool_utilization',
        'numerator': parts[5],
        'denominator': wholes[5],
        'not_applicable': 'no_distinctive_result',
        'error': errors[5]
      }
    ]) AS score
  FROM measured
),

judged AS (
  SELECT
    attempt_id,
    no_grade,
    score,
    CASE
      WHEN score.numerator IS NULL THEN 'not_applicable'
      WHEN score.error IS NOT NULL THEN 'error'
      ELSE 'scored'
    END AS status
  FROM metrics
)

SELECT
  attempt_id AS trajectory_id,
  score.metric,
  if(status = 'scored', score.numerator / score.denominator, NULL) AS value,
  if(status = 'scored', score.numerator, NULL) AS numerator,
  if(status = 'scored', score.denominator, NULL)::DOUBLE AS denominator,
  status,
  NULL::VARCHAR AS label,
  CASE status
    WHEN 'error' THEN score.error
    WHEN 'not_applicable' THEN coalesce(no_grade, score.not_applicable)
  END AS reason,
  'static' AS source
FROM judged
ORDER BY trajectory_id, score.metric;
