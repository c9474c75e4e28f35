-- Tool selection of each attempt, from its decision points.
--
-- Source: Triangle, "Tool-Selection Accuracy" and "TSA exposes token economics"; metrics.md,
-- section 1. `tsa_source_text` is the article's literal ratio: missed points count neither way.
--
-- Reads:
--   attempts
--   decision_rows
--   tasks
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row for each trajectory_id and metric.
--   metric         VARCHAR  tsa | tsa_source_text | wrong_call_rate | missed_decisions.
--   value          DOUBLE   Numerator / denominator; NULL if not scored.
--   numerator      DOUBLE   NULL if not scored.
--   denominator    DOUBLE   1 for missed_decisions; NULL if not scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  Of tsa: the criteria that applied, e.g. 'a, c'; else NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  static: no judge had a part in it.
-- Order:
--   trajectory_id, metric
WITH totals AS (
  SELECT
    trajectory_id,
    count_if(counted) AS counted,
    count_if(counted AND correct) AS correct,
    count_if(counted AND missed) AS missed,
    coalesce(sum(calls) FILTER (WHERE counted), 0) AS calls,
    min(unknown_because) FILTER (WHERE counted AND correct IS NULL) AS unknown_because,
    list_sort(list_distinct(flatten(list(criteria) FILTER (WHERE counted)))) AS criteria
  FROM decision_rows
  GROUP BY trajectory_id
),

measured AS (
  SELECT
    attempts.attempt_id,
    coalesce(tasks.has_expected, FALSE) AS has_expected,
    CASE
      WHEN attempts.ambiguous THEN 'ambiguous_task'
      WHEN attempts.task_id IS NULL THEN 'no_task'
      ELSE 'no_expectation'
    END AS why_not_expected,
    coalesce(totals.counted, 0) AS counted,
    coalesce(totals.correct, 0) AS correct,
    coalesce(totals.missed, 0) AS missed,
    coalesce(totals.calls, 0) AS calls,
    totals.unknown_because,
    array_to_string(totals.criteria, ', ') AS criteria,
    coalesce(list_has_any(totals.criteria, ['a', 'c']), FALSE) AS expects
  FROM attempts
  LEFT JOIN tasks USING (task_id)
  LEFT JOIN totals ON attempts.attempt_id = totals.trajectory_id
),

explained AS (
  SELECT
    *,
    CASE
      WHEN has_expected AND counted = 0 THEN 'no_decision_point'
      WHEN NOT expects AND why_not_expected = 'ambiguous_task' THEN why_not_expected
      WHEN NOT expects THEN 'no_expectation'
    END AS not_applicable
  FROM measured
),

metrics AS (
  SELECT
    attempt_id,
    unnest([
      {
        'metric': 'tsa',
        'numerator': correct,
        'denominator': counted,
        'not_applicable': not_applicable,
        'error': unknown_because,
        'label': criteria
      },
      {
        'metric': 'tsa_source_text',
        'numerator': correct,
        'denominator': counted - missed,
        'not_applicable': not_applicable,
        'error': unknown_because,
        'label': NULL
      },
      {
        'metric': 'wrong_call_rate',
        'numerator': calls - correct,
        'denominator': calls,
        'not_applicable': not_applicable,
        'error': unknown_because,
        'label': NULL
      },
      {
        'metric': 'missed_decisions',
        'numerator': missed,
        'denominator': 1,
        'not_applicable': if(has_expected, NULL, why_not_expected),
        'error': NULL,
        'label': NULL
      }
    ]) AS score
  FROM explained
),

judged AS (
  SELECT
    attempt_id,
    score,
    CASE
      WHEN score.not_applicable IS NOT NULL OR score.denominator = 0 THEN 'not_applicable'
      WHEN score.error IS NOT NULL THEN 'error'
      ELSE 'scored'
    END AS status
  FROM metrics
)

SELECT
  attempt_id AS trajectory_id,
  score.metric,
  if(status = 'scored', score.numerator / score.denominator, NULL)::DOUBLE AS value,
  if(status = 'scored', score.numerator, NULL)::DOUBLE AS numerator,
  if(status = 'scored', score.denominator, NULL)::DOUBLE AS denominator,
  status,
  if(status = 'scored', score.label, NULL) AS label,
  CASE status
    WHEN 'not_applicable' THEN coalesce(score.not_applicable, 'no_decision_point')
    WHEN 'error' THEN score.error
  END AS reason,
  'static' AS source
FROM judged
ORDER BY trajectory_id, score.metric;
