-- Conduct of each attempt: redundant calls, recovery from failures, and its ending.
--
-- The value of termination is 1 only if the agent stopped at success; its label says how the
-- attempt ended. Source: [Harness], "Trajectory scoring"; docs/metrics.md, section 3.
--
-- Reads:
--   attempts
--   call_repeats
--   calls
--   endings
--   last_needed_calls
--   loop_traps
--   failed_call_recoveries
--   unread_repeats
-- Columns:
--   trajectory_ids   INTEGER[]  Attempts whose scores are equal; each is in one row.
--   redundant_calls  SCORE      A count.
--   recovery_rate    SCORE      Label: 'retried: N' where the same call went well, N of them.
--   termination      SCORE      Label: budget | crashed | looped | late | at_success | early |
--                               unknown.
-- Order:
--   none
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
  FROM failed_call_recoveries
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

cases AS (
  SELECT
    list(attempt_id) AS trajectory_ids,
    * EXCLUDE (attempt_id)
  FROM measured
  GROUP BY ALL
)

SELECT
  trajectory_ids,
  score_of(redundant, 1, NULL, if(repeats_hidden, 'content_missing', NULL), NULL, 'static')
    AS redundant_calls,
  score_of(
    recovered,
    failures,
    if(failures IS NULL, 'no_failed_call', NULL),
    if(recovery_hidden, 'content_missing', NULL),
    if(retried > 0 AND NOT recovery_hidden, concat('retried: ', retried), NULL),
    'static'
  ) AS recovery_rate,
  score_of(
    (ending = 'at_success')::INTEGER,
    1,
    CASE
      WHEN ending IN ('interrupted', 'unfinished') THEN ending
      WHEN ending = 'unknown' AND success IS NULL THEN 'success_unknown'
      WHEN ending = 'unknown' THEN 'no_needed_call'
    END,
    NULL,
    ending,
    'static'
  ) AS termination
FROM cases;
