-- The replanning scores of each attempt: how often it replanned, after what, and whether failures
-- led to a replan.
--
-- Source: [Plan graph], "Replanning frequency". Its own definition, any inequality of two lists in
-- a row, is reported as replans_source_text. docs/metrics.md, section 4.6.
--
-- Reads:
--   attempts
--   calls
--   plan_numbers
--   plans
--   replan_events
-- Columns:
--   trajectory_ids         INTEGER[]  Attempts whose scores are equal; each is in one row.
--   replans                SCORE      A count.
--   replans_per_100_calls  SCORE      Replans / hundreds of calls.
--   replans_reactive       SCORE      A count.
--   replans_spontaneous    SCORE      A count.
--   replan_given_failure   SCORE      Failures that led to a replan / failures.
--   replans_source_text    SCORE      A count.
-- Order:
--   none
WITH planned AS (
  SELECT
    attempt_id,
    TRUE AS has_plan,
    min(fault) AS fault  -- content that is missing comes first
  FROM plans
  GROUP BY attempt_id
),

replanned AS (
  SELECT
    attempt_id,
    count(*) AS replans,
    count_if(reactive) AS reactive
  FROM replan_events
  GROUP BY attempt_id
),

made AS (
  SELECT
    attempt_id,
    count(*) AS calls,
    count_if(failed) AS failures
  FROM calls
  GROUP BY attempt_id
),

-- A replan answers a failure if it is between the failure and the next call.
answered AS (
  SELECT
    calls.attempt_id,
    count(*) AS failures
  FROM calls
  SEMI JOIN replan_events
    ON
      calls.attempt_id = replan_events.attempt_id
      AND calls.call_index + 1 = replan_events.calls_before
  WHERE calls.failed
  GROUP BY calls.attempt_id
),

-- The literal definition has no empty plans.
lists AS (
  SELECT
    attempt_id,
    canonical <> lag(canonical) OVER (PARTITION BY attempt_id ORDER BY plan_index) AS changed
  FROM plan_numbers
  WHERE NOT is_empty
),

changed_lists AS (
  SELECT
    attempt_id,
    count_if(changed) AS changes
  FROM lists
  GROUP BY attempt_id
),

measured AS (
  SELECT
    attempts.attempt_id,
    if(planned.has_plan, NULL, 'no_plan') AS nothing,
    planned.fault,
    if(planned.has_plan, 'static', NULL) AS source,  -- noqa: RF04
    coalesce(replanned.replans, 0)::DOUBLE AS replans,
    coalesce(replanned.reactive, 0)::DOUBLE AS reactive,
    coalesce(made.calls, 0)::DOUBLE AS calls,
    coalesce(made.failures, 0)::DOUBLE AS failures,
    coalesce(answered.failures, 0)::DOUBLE AS answered,
    coalesce(changed_lists.changes, 0)::DOUBLE AS list_changes
  FROM attempts
  LEFT JOIN planned USING (attempt_id)
  LEFT JOIN replanned USING (attempt_id)
  LEFT JOIN made USING (attempt_id)
  LEFT JOIN answered USING (attempt_id)
  LEFT JOIN changed_lists USING (attempt_id)
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
  score_of(replans, 1, nothing, fault, NULL, source) AS replans,
  score_of(
    replans,
    calls / 100,
    coalesce(nothing, if(fault IS NULL AND calls = 0, 'no_calls', NULL)),
    fault,
    NULL,
    source
  ) AS replans_per_100_calls,
  score_of(reactive, 1, nothing, fault, NULL, source) AS replans_reactive,
  score_of(replans - reactive, 1, nothing, fault, NULL, source) AS replans_spontaneous,
  score_of(
    answered,
    failures,
    coalesce(nothing, if(fault IS NULL AND failures = 0, 'no_failure', NULL)),
    fault,
    NULL,
    source
  ) AS replan_given_failure,
  score_of(list_changes, 1, nothing, fault, NULL, source) AS replans_source_text
FROM cases;
