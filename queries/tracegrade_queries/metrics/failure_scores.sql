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
--   trajectory_id         INTEGER  One row for each attempt. 1: it shows the mode; else 0.
--   loop_trap             SCORE    Calls went round in circles.
--   tool_hallucination    SCORE    A tool was not offered, or its schema broken.
--   premature_commitment  SCORE    It wrote or answered before what that depends on.
--   cascading_error       SCORE    One wrong call led to two more that failed.
--   goal_drift            SCORE    It failed, and its last calls served nothing that was left.
-- Order:
--   none
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
)

SELECT
  attempt_id AS trajectory_id,
  mode_score(list_contains(modes, 'loop_trap'), NULL, if(loop_hidden, 'content_missing', NULL))
    AS loop_trap,
  mode_score(
    list_contains(modes, 'tool_hallucination'),
    no_hallucination,
    if(schema_hidden, 'content_missing', NULL)
  ) AS tool_hallucination,
  mode_score(
    list_contains(modes, 'premature_commitment'),
    if(has_graph OR fault IS NOT NULL, NULL, no_graph),
    coalesce(
      fault, if(list_contains(unknown_modes, 'premature_commitment'), 'content_missing', NULL)
    )
  ) AS premature_commitment,
  mode_score(
    list_contains(modes, 'cascading_error'),
    if(has_graph OR has_results, NULL, 'no_results'),
    if(list_contains(unknown_modes, 'cascading_error'), 'content_missing', NULL)
  ) AS cascading_error,
  mode_score(
    list_contains(modes, 'goal_drift'),
    if(has_aim OR fault IS NOT NULL, NULL, no_graph),
    coalesce(fault, if(list_contains(unknown_modes, 'goal_drift'), 'content_missing', NULL))
  ) AS goal_drift
FROM measured;
