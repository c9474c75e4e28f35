-- The replanning scores of each attempt: how often, after what, and whether failures led to one.
--
-- Source: Plan graph text, "Replanning frequency"; its own definition, any inequality of two lists
-- in a row, is kept as replans_source_text. metrics.md, section 4.
--
-- Reads:
--   attempts
--   calls
--   plan_texts
--   plans
--   replan_events
-- Columns:
--   trajectory_id  VARCHAR  An attempt that declared a plan; one row for each and metric.
--   metric         VARCHAR  Name of the score.
--   value          DOUBLE   Numerator / denominator; a count is its numerator. NULL if not scored.
--   numerator      DOUBLE   Replans; of replan_given_failure the failures that led to one.
--   denominator    DOUBLE   1 for counts, else hundreds of calls, or failures; NULL if not scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  NULL.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  static: no judge had a part in it.
-- Order:
--   none
WITH planned AS (
  SELECT
    attempt_id,
    count(*) = count(plan) AS captured
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

-- A failure is answered by a replan that stands between it and the next call.
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

-- The literal definition knows no empty plans.
lists AS (
  SELECT
    plans.attempt_id,
    plan_texts.canonical
    <> lag(plan_texts.canonical) OVER (PARTITION BY plans.attempt_id ORDER BY plans.plan_index)
      AS changed
  FROM plans
  INNER JOIN plan_texts USING (plan_key)
  WHERE NOT plan_texts.is_empty
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
    planned.captured,
    coalesce(replanned.replans, 0)::DOUBLE AS replans,
    coalesce(replanned.reactive, 0)::DOUBLE AS reactive,
    coalesce(made.calls, 0)::DOUBLE AS calls,
    coalesce(made.failures, 0)::DOUBLE AS failures,
    coalesce(answered.failures, 0)::DOUBLE AS answered,
    coalesce(changed_lists.changes, 0)::DOUBLE AS list_changes
  FROM attempts
  INNER JOIN planned USING (attempt_id)
  LEFT JOIN replanned USING (attempt_id)
  LEFT JOIN made USING (attempt_id)
  LEFT JOIN answered USING (attempt_id)
  LEFT JOIN changed_lists USING (attempt_id)
),

metrics AS (
  SELECT
    attempt_id,
    captured,
    unnest([  -- noqa: AL03
      {
        'metric': 'replans',
        'numerator': replans,
        'denominator': 1::DOUBLE,
        'nothing': NULL
      },
      {
        'metric': 'replans_per_100_calls',
        'numerator': replans,
        'denominator': calls / 100,
        'nothing': 'no_calls'
      },
      {
        'metric': 'replans_reactive',
        'numerator': reactive,
        'denominator': 1,
        'nothing': NULL
      },
      {
        'metric': 'replans_spontaneous',
        'numerator': replans - reactive,
        'denominator': 1,
        'nothing': NULL
      },
      {
        'metric': 'replan_given_failure',
        'numerator': answered,
        'denominator': failures,
        'nothing': 'no_failure'
      },
      {
        'metric': 'replans_source_text',
        'numerator': list_changes,
        'denominator': 1,
        'nothing': NULL
      }
    ], recursive := TRUE)
  FROM measured
),

judged AS (
  SELECT
    *,
    CASE
      WHEN NOT captured THEN 'error'
      WHEN denominator = 0 THEN 'not_applicable'
      ELSE 'scored'
    END AS status,
    CASE
      WHEN NOT captured THEN 'content_missing'
      WHEN denominator = 0 THEN nothing
    END AS reason
  FROM metrics
)

SELECT  -- noqa: ST06
  attempt_id AS trajectory_id,
  metric,
  CASE WHEN status = 'scored' THEN numerator / denominator END AS value,  -- noqa: RF04
  CASE WHEN status = 'scored' THEN numerator END AS numerator,
  CASE WHEN status = 'scored' THEN denominator END AS denominator,
  status,
  NULL::VARCHAR AS label,  -- noqa: RF04
  reason,
  'static' AS source  -- noqa: RF04
FROM judged;
