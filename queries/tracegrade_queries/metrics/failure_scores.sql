-- Whether each attempt shows each failure mode, where that can be known.
--
-- Source: Harness, "Failure-mode taxonomy"; metrics.md, section 9.
--
-- Reads:
--   attempts
--   call_totals
--   failure_modes
--   unread_repeats
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row for each trajectory_id and metric.
--   metric         VARCHAR  loop_trap | tool_hallucination.
--   value          DOUBLE   1 if it shows the mode, 0 if not; NULL if not scored.
--   numerator      DOUBLE   The same.
--   denominator    DOUBLE   1; NULL if not scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  static: no judge had a part in it.
-- Order:
--   trajectory_id, metric
WITH own_calls AS (
  SELECT
    attempt_id,
    sum(known) + sum(with_schema) > 0 AS comparable,
    sum(unreadable) > 0 AS unreadable
  FROM call_totals
  GROUP BY attempt_id
),

shown AS (
  SELECT
    attempt_id,
    list(mode) AS modes
  FROM failure_modes
  GROUP BY attempt_id
),

measured AS (
  SELECT
    attempts.attempt_id,
    coalesce(shown.modes, []) AS modes,
    CASE
      WHEN own_calls.attempt_id IS NULL THEN 'no_calls'
      WHEN NOT own_calls.comparable THEN 'no_offered_tools'
    END AS no_hallucination,
    coalesce(own_calls.unreadable, FALSE) AS schema_hidden,
    coalesce(unread_repeats.thrice, FALSE) AS loop_hidden
  FROM attempts
  LEFT JOIN own_calls USING (attempt_id)
  LEFT JOIN shown USING (attempt_id)
  LEFT JOIN unread_repeats USING (attempt_id)
),

metrics AS (
  SELECT
    attempt_id,
    modes,
    unnest([
      {
        'metric': 'loop_trap',
        'not_applicable': NULL,
        'hidden': loop_hidden
      },
      {
        'metric': 'tool_hallucination',
        'not_applicable': no_hallucination,
        'hidden': schema_hidden
      }
    ]) AS score
  FROM measured
),

judged AS (
  SELECT
    attempt_id,
    score.metric,
    score.not_applicable,
    list_contains(modes, score.metric)::INTEGER::DOUBLE AS shows,
    CASE
      WHEN list_contains(modes, score.metric) THEN 'scored'
      WHEN score.not_applicable IS NOT NULL THEN 'not_applicable'
      WHEN score.hidden THEN 'error'
      ELSE 'scored'
    END AS status
  FROM metrics
)

SELECT
  attempt_id AS trajectory_id,
  metric,
  if(status = 'scored', shows, NULL) AS value,
  if(status = 'scored', shows, NULL) AS numerator,
  if(status = 'scored', 1, NULL)::DOUBLE AS denominator,
  status,
  NULL::VARCHAR AS label,
  CASE status WHEN 'error' THEN 'content_missing' WHEN 'not_applicable' THEN not_applicable END
    AS reason,
  'static' AS source
FROM judged
ORDER BY trajectory_id, metric;
