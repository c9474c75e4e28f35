-- Whether each attempt shows each failure mode, where that can be known.
--
-- Source: Harness, "Failure-mode taxonomy"; metrics.md, section 9.
--
-- Reads:
--   attempts
--   call_totals
--   calls
--   cascades
--   failure_modes
--   goal_drifts
--   graph_faults
--   premature_commitments
--   sub_goal_examples
--   unread_repeats
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row for each trajectory_id and metric.
--   metric         VARCHAR  loop_trap | tool_hallucination | premature_commitment |
--                           cascading_error | goal_drift.
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

with_results AS (
  SELECT DISTINCT attempt_id
  FROM calls
  WHERE NOT result_missing
),

unknown AS (
  SELECT
    attempt_id,
    'premature_commitment' AS mode
  FROM premature_commitments
  WHERE detail IS NULL
  UNION ALL
  SELECT
    attempt_id,
    'cascading_error' AS mode
  FROM cascades
  WHERE detail IS NULL
  UNION ALL
  SELECT
    attempt_id,
    'goal_drift' AS mode
  FROM goal_drifts
  WHERE drifted IS NULL
),

unknowns AS (
  SELECT
    attempt_id,
    list(mode) AS modes
  FROM unknown
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
    coalesce(unread_repeats.thrice, FALSE) AS loop_hidden,
    coalesce(unknowns.modes, []) AS unknown_modes,
    'specification_error: ' || graph_faults.fault AS fault,
    CASE
      WHEN attempts.ambiguous THEN 'ambiguous_task'
      WHEN NOT attempts.specified THEN 'no_task'
      ELSE 'no_sub_goals'
    END AS no_graph,
    sub_goal_examples.attempt_id IS NOT NULL AS has_graph,
    with_results.attempt_id IS NOT NULL AS has_results,
    goal_drifts.attempt_id IS NOT NULL AS has_aim
  FROM attempts
  LEFT JOIN own_calls USING (attempt_id)
  LEFT JOIN shown USING (attempt_id)
  LEFT JOIN unread_repeats USING (attempt_id)
  LEFT JOIN unknowns USING (attempt_id)
  LEFT JOIN graph_faults USING (task_id)
  LEFT JOIN sub_goal_examples USING (attempt_id)
  LEFT JOIN with_results USING (attempt_id)
  LEFT JOIN goal_drifts USING (attempt_id)
),

metrics AS (
  SELECT
    attempt_id,
    modes,
    unnest([
      {
        'metric': 'loop_trap',
        'not_applicable': NULL,
        'error': if(loop_hidden, 'content_missing', NULL)
      },
      {
        'metric': 'tool_hallucination',
        'not_applicable': no_hallucination,
        'error': if(schema_hidden, 'content_missing', NULL)
      },
      {
        'metric': 'premature_commitment',
        'not_applicable': if(has_graph OR fault IS NOT NULL, NULL, no_graph),
        'error': coalesce(
          fault, if(list_contains(unknown_modes, 'premature_commitment'), 'content_missing', NULL)
        )
      },
      {
        'metric': 'cascading_error',
        'not_applicable': if(has_graph OR has_results, NULL, 'no_results'),
        'error': if(list_contains(unknown_modes, 'cascading_error'), 'content_missing', NULL)
      },
      {
        'metric': 'goal_drift',
        'not_applicable': if(has_aim OR fault IS NOT NULL, NULL, no_graph),
        'error': coalesce(
          fault, if(list_contains(unknown_modes, 'goal_drift'), 'content_missing', NULL)
        )
      }
    ]) AS score
  FROM measured
),

judged AS (
  SELECT
    attempt_id,
    score.metric,
    score.not_applicable,
    score.error,
    list_contains(modes, score.metric)::INTEGER::DOUBLE AS shows,
    CASE
      WHEN list_contains(modes, score.metric) THEN 'scored'
      WHEN score.not_applicable IS NOT NULL THEN 'not_applicable'
      WHEN score.error IS NOT NULL THEN 'error'
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
  CASE status WHEN 'error' THEN error WHEN 'not_applicable' THEN not_applicable END
    AS reason,
  'static' AS source
FROM judged
ORDER BY trajectory_id, metric;
