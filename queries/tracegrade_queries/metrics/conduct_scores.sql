-- How each attempt went about it: redundant calls, recovery from failures, and how it ended.
--
-- The value of termination is 1 only where the agent stopped at success; its label says how it
-- ended. Source: Harness, "Trajectory scoring"; metrics.md, section 3.
--
-- Reads:
--   attempts
--   call_repeats
--   calls
--   endings
--   last_needed_calls
--   loop_traps
--   recoveries
--   unread_repeats
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row for each trajectory_id and metric.
--   metric         VARCHAR  recovery_rate | redundant_calls | termination.
--   value          DOUBLE   Numerator / denominator; NULL if not scored.
--   numerator      DOUBLE   NULL if not scored.
--   denominator    DOUBLE   1 for redundant_calls and termination; NULL if not scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  Of termination: budget | crashed | looped | late | at_success |
--                           early | unknown. Of recovery_rate: 'retried: N' where the same call
--                           went well.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  static: no judge had a part in it.
-- Order:
--   trajectory_id, metric
WITH call_counts AS (
  SELECT
    attempt_id,
    count(*) AS calls
  FROM calls
  GROUP BY attempt_id
),

redundancies AS (
  SELECT
    attempt_id,
    count_if(redundant) AS redundant
  FROM call_repeats
  GROUP BY attempt_id
),

recovery_counts AS (
  SELECT
    attempt_id,
    count(*) AS failures,
    count(*) FILTER (WHERE recovered) AS recovered,
    count(*) > count(recovered) AS hidden,
    count_if(retried) AS retried
  FROM recoveries
  GROUP BY attempt_id
),

measured AS (
  SELECT
    attempts.attempt_id,
    coalesce(redundancies.redundant, 0) AS redundant,
    coalesce(unread_repeats.twice, FALSE) AS repeats_hidden,
    recovery_counts.failures,
    recovery_counts.recovered,
    recovery_counts.hidden AS recovery_hidden,
    recovery_counts.retried,
    CASE
      WHEN endings.ending IS NOT NULL THEN endings.ending
      WHEN
        attempts.success IS NOT TRUE
        AND loop_traps.last_call >= call_counts.calls - 3
        THEN 'looped'
      WHEN attempts.success IS FALSE THEN 'early'
      WHEN attempts.success IS NULL THEN 'unknown'
      WHEN coalesce(call_counts.calls, 0) = 0 THEN 'at_success'
      WHEN needed.call_index IS NULL THEN 'unknown'
      WHEN needed.call_index < call_counts.calls - 1 THEN 'late'
      ELSE 'at_success'
    END AS ending,
    attempts.success
  FROM attempts
  LEFT JOIN call_counts USING (attempt_id)
  LEFT JOIN redundancies USING (attempt_id)
  LEFT JOIN unread_repeats USING (attempt_id)
  LEFT JOIN recovery_counts USING (attempt_id)
  LEFT JOIN loop_traps USING (attempt_id)
  LEFT JOIN last_needed_calls AS needed USING (attempt_id)
  LEFT JOIN endings ON attempts.attempt_id = endings.trajectory_id
),

metrics AS (
  SELECT
    attempt_id,
    unnest([
      {
        'metric': 'redundant_calls',
        'numerator': redundant,
        'denominator': 1,
        'not_applicable': NULL,
        'error': if(repeats_hidden, 'content_missing', NULL),
        'label': NULL
      },
      {
        'metric': 'recovery_rate',
        'numerator': recovered,
        'denominator': failures,
        'not_applicable': if(failures IS NULL, 'no_failed_call', NULL),
        'error': if(recovery_hidden, 'content_missing', NULL),
        'label': if(retried > 0, concat('retried: ', retried), NULL)
      },
      {
        'metric': 'termination',
        'numerator': (ending = 'at_success')::INTEGER,
        'denominator': 1,
        'not_applicable': if(
          ending = 'unknown', if(success IS NULL, 'success_unknown', 'no_needed_call'), NULL
        ),
        'error': NULL,
        'label': ending
      }
    ]) AS score
  FROM measured
),

judged AS (
  SELECT
    attempt_id,
    score,
    CASE
      WHEN score.not_applicable IS NOT NULL THEN 'not_applicable'
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
  if(status = 'error', NULL, score.label) AS label,
  CASE status WHEN 'error' THEN score.error WHEN 'not_applicable' THEN score.not_applicable END
    AS reason,
  'static' AS source
FROM judged
ORDER BY trajectory_id, score.metric;
