-- Tool selection of each attempt, from its decision points.
--
-- Source: [Triangle], "Tool-Selection Accuracy" and "TSA exposes token economics";
-- docs/metrics.md, section 1.4. `tsa_source_text` is the article's literal ratio: missed points
-- count neither way.
--
-- Reads:
--   attempts
--   decision_rows
--   tasks
-- Columns:
--   trajectory_ids    INTEGER[]  Attempts whose scores are equal; each is in one row.
--   tsa               SCORE      Label: the criteria that applied, e.g. 'a, c'.
--   tsa_source_text   SCORE      Missed points count neither way.
--   wrong_call_rate   SCORE      Calls of counted points that are not a correct first pick.
--   missed_decisions  SCORE      A count.
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
    bool_or(list_contains(criteria, 'a')) FILTER (WHERE counted) AS has_a,
    bool_or(list_contains(criteria, 'b')) FILTER (WHERE counted) AS has_b,
    bool_or(list_contains(criteria, 'c')) FILTER (WHERE counted) AS has_c
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
    concat_ws(
      ', ', if(totals.has_a, 'a', NULL), if(totals.has_b, 'b', NULL), if(totals.has_c, 'c', NULL)
    ) AS criteria,
    coalesce(totals.has_a OR totals.has_c, FALSE) AS expects
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

cases AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    * EXCLUDE (attempt_id)
  FROM explained
  GROUP BY ALL
)

SELECT
  trajectory_ids,
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
FROM cases;
