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
--   trajectory_id     INTEGER  One row for each attempt.
--   tsa               SCORE    Label: the criteria that applied, e.g. 'a, c'.
--   tsa_source_text   SCORE    Missed points count neither way.
--   wrong_call_rate   SCORE    Calls of counted points that are no correct first pick.
--   missed_decisions  SCORE    A count.
-- Order:
--   none
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
)

SELECT
  attempt_id AS trajectory_id,
  score_of(
    correct,
    counted,
    coalesce(not_applicable, if(counted = 0, 'no_decision_point', NULL)),
    unknown_because,
    if(not_applicable IS NULL AND counted > 0 AND unknown_because IS NULL, criteria, NULL),
    'static'
  ) AS tsa,
  score_of(
    correct,
    counted - missed,
    coalesce(not_applicable, if(counted = missed, 'no_decision_point', NULL)),
    unknown_because,
    NULL,
    'static'
  ) AS tsa_source_text,
  score_of(
    calls - correct,
    calls,
    coalesce(not_applicable, if(calls = 0, 'no_decision_point', NULL)),
    unknown_because,
    NULL,
    'static'
  ) AS wrong_call_rate,
  score_of(missed, 1, if(has_expected, NULL, why_not_expected), NULL, NULL, 'static')
    AS missed_decisions
FROM explained;
