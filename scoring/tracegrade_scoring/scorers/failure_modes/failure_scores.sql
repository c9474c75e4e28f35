-- Whether each attempt shows each failure mode, where that can be known.
--
-- Source: [Harness], "Failure-mode taxonomy"; docs/metrics.md, section 9.
--
-- Reads:
--   attempt_graph_faults
--   attempts
--   call_totals
--   calls
--   cascades
--   goal_drifts
--   loop_traps
--   premature_commitments
--   sub_goal_examples
--   unread_repeats
-- Columns:
--   trajectory_ids        INTEGER[]  Attempts whose scores are equal; each is in one row.
--                                    1: it shows the mode; else 0.
--   loop_trap             SCORE      Calls went round in circles.
--   tool_hallucination    SCORE      A tool was not offered, or its schema broken.
--   premature_commitment  SCORE      It wrote before what that depends on, or claimed what
--                                    was not done.
--   cascading_error       SCORE      One wrong call led to two more that failed.
--   goal_drift            SCORE      It failed, and did what served nothing that was left.
-- Order:
--   none
WITH own_calls AS (
  SELECT
    attempt_id,
    sum(known) + sum(with_schema) > 0 AS comparable,
    sum(unreadable) > 0 AS unreadable,
    count(first_unoffered) + count(first_invalid) > 0 AS hallucinated
  FROM call_totals
  GROUP BY attempt_id
),

with_results AS (
  SELECT DISTINCT attempt_id
  FROM calls
  WHERE NOT result_missing
),

measured AS (
  SELECT
    attempts.attempt_id,
    loop_traps.attempt_id IS NOT NULL AS looped,
    coalesce(unread_repeats.thrice, FALSE) AS loop_hidden,
    coalesce(own_calls.hallucinated, FALSE) AS hallucinated,
    CASE
      WHEN own_calls.attempt_id IS NULL THEN 'no_calls'
      WHEN NOT own_calls.comparable THEN 'no_offered_tools'
    END AS no_hallucination,
    coalesce(own_calls.unreadable, FALSE) AS schema_hidden,
    premature.detail IS NOT NULL AS committed,
    premature.attempt_id IS NOT NULL AS may_have_committed,
    cascades.detail IS NOT NULL AS cascaded,
    cascades.attempt_id IS NOT NULL AS may_have_cascaded,
    coalesce(goal_drifts.drifted, FALSE) AS drifted,
    goal_drifts.attempt_id IS NOT NULL AS has_aim,
    goal_drifts.attempt_id IS NOT NULL AND goal_drifts.drifted IS NULL AS may_have_drifted,
    faults.fault,
    if(faults.in_variants, faults.fault, NULL) AS variant_fault,
    CASE
      WHEN attempts.ambiguous THEN 'ambiguous_task'
      WHEN NOT attempts.specified THEN 'no_task'
      ELSE 'no_sub_goals'
    END AS no_graph,
    sub_goal_examples.attempt_id IS NOT NULL AS has_graph,
    sub_goal_examples.attempt_id IS NOT NULL OR with_results.attempt_id IS NOT NULL AS has_results
  FROM attempts
  LEFT JOIN loop_traps USING (attempt_id)
  LEFT JOIN unread_repeats USING (attempt_id)
  LEFT JOIN own_calls USING (attempt_id)
  LEFT JOIN premature_commitments AS premature USING (attempt_id)
  LEFT JOIN cascades USING (attempt_id)
  LEFT JOIN goal_drifts USING (attempt_id)
  LEFT JOIN attempt_graph_faults AS faults USING (attempt_id)
  LEFT JOIN sub_goal_examples USING (attempt_id)
  LEFT JOIN with_results USING (attempt_id)
),

cases AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    * EXCLUDE (attempt_id)
  FROM measured
  GROUP BY ALL
)

SELECT
  trajectory_ids,
  mode_score(looped, NULL, if(loop_hidden, 'content_missing', NULL)) AS loop_trap,
  mode_score(hallucinated, no_hallucination, if(schema_hidden, 'content_missing', NULL))
    AS tool_hallucination,
  mode_score(
    committed,
    if(has_graph OR fault IS NOT NULL, NULL, no_graph),
    coalesce(fault, if(may_have_committed, 'content_missing', NULL))
  ) AS premature_commitment,
  mode_score(
    cascaded,
    if(has_results OR fault IS NOT NULL, NULL, 'no_results'),
    coalesce(fault, if(may_have_cascaded, 'content_missing', NULL))
  ) AS cascading_error,
  mode_score(
    drifted,
    if(has_aim OR variant_fault IS NOT NULL, NULL, no_graph),
    coalesce(variant_fault, if(may_have_drifted, 'content_missing', NULL))
  ) AS goal_drift
FROM cases;
