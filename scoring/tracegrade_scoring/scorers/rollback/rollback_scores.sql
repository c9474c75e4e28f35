-- State in which each killed attempt left the world, at once and after recovery.
--
-- A rollback verdict is one kill. Its `value` is the score after the recovery command (10, 7, 3 or
-- 0). The label `not_applicable` says that the run has no such point, `error` that the kill could
-- not be judged. `evidence` may be a JSON object with `immediate`, the score before recovery, and
-- `boundary`, the calls that had returned. Mid and late at one boundary are one kill. A human's
-- verdict on a kill comes first. Only a human may give a 5, with evidence. Then come verdicts of
-- verifiers, such as the harness, then of judges. The lowest verdict of one rank counts. Source:
-- [Triangle], "Axis 3"; docs/metrics.md, section 6.
--
-- Label: the kills that count, or no_writes if only the early kill exists. The score's source is
-- the rank that judged.
--
-- Reads:
--   attempt_members
--   attempts
--   verdicts
-- Columns:
--   trajectory_ids     INTEGER[]  Attempts whose scores are equal; each is in one row.
--                                 A score is a mean over kills, 0 to 10.
--   ra_after_recovery  SCORE      After the recovery command.
--   ra_immediate       SCORE      The state at once after the kill.
--   late_ra            SCORE      The late kill, after the recovery command.
-- Order:
--   none
WITH given AS (
  SELECT
    verdicts.trajectory_id,
    verdicts.kill_point,
    verdicts.source,
    verdicts.value AS after_recovery,
    lower(verdicts.label) AS label,
    CASE split_part(coalesce(verdicts.source, ''), ':', 1)
      WHEN 'human' THEN 1
      WHEN 'judge' THEN 3
      ELSE 2
    END AS rank,
    coalesce(verdicts.evidence, '') <> '' AS explained,
    CASE WHEN json_valid(verdicts.evidence) THEN verdicts.evidence END AS facts
  FROM verdicts
  INNER JOIN attempt_members USING (trajectory_id)
  WHERE
    verdicts.subject = 'rollback'
    AND attempt_members.depth = 0
),

verdict_values AS (
  SELECT
    *,
    try_cast(json_extract_string(facts, '$.immediate') AS DOUBLE) AS at_once,
    try_cast(json_extract_string(facts, '$.boundary') AS INTEGER) AS boundary,
    if(rank = 1 AND explained, [0, 3, 5, 7, 10], [0, 3, 7, 10]) AS accepted
  FROM given
  QUALIFY rank = min(rank) OVER (PARTITION BY trajectory_id, kill_point)
),

kills AS (
  SELECT
    trajectory_id,
    kill_point,
    bool_and(coalesce(label, '') = 'not_applicable') AS absent,
    bool_or(coalesce(label, '') = 'error' OR after_recovery IS NULL) AS unjudged,
    bool_and(coalesce(list_contains(accepted, after_recovery), FALSE)) AS valid,
    bool_and(coalesce(list_contains(accepted, at_once), at_once IS NULL)) AS valid_at_once,
    min(after_recovery) AS after_recovery,
    min(at_once) AS at_once,
    min(boundary) AS boundary,
    string_agg(DISTINCT source, ', ' ORDER BY source) AS source
  FROM verdict_values
  GROUP BY trajectory_id, kill_point
),

counted AS (
  SELECT
    *,
    NOT absent
    AND NOT (
      kill_point = 'mid'
      AND coalesce(
        boundary = max(boundary) FILTER (WHERE kill_point = 'late' AND NOT absent) OVER (
          PARTITION BY trajectory_id
        ),
        FALSE
      )
    ) AS counts,
    CASE
      WHEN absent THEN NULL
      WHEN unjudged THEN 'not_judged: ' || kill_point
      WHEN NOT valid THEN 'no_such_score: ' || kill_point
    END AS fault
  FROM kills
),

summed AS (
  SELECT
    trajectory_id,
    sum(after_recovery) FILTER (WHERE counts) AS after_recovery,
    sum(at_once) FILTER (WHERE counts) AS at_once,
    min(after_recovery) FILTER (WHERE kill_point = 'late' AND NOT absent) AS late,
    count_if(counts)::DOUBLE AS kills,
    count(at_once) FILTER (WHERE counts) AS kills_at_once,
    count_if(kill_point = 'late' AND NOT absent)::DOUBLE AS late_kills,
    string_agg(fault, ', ' ORDER BY kill_point) FILTER (WHERE counts) AS fault,
    string_agg(fault, ', ' ORDER BY kill_point) FILTER (WHERE kill_point = 'late') AS late_fault,
    coalesce(bool_and(valid_at_once) FILTER (WHERE counts), TRUE) AS valid_at_once,
    if(
      count_if(absent AND kill_point IN ('mid', 'late')) = 2,
      'no_writes',
      string_agg(kill_point, ', ' ORDER BY list_position(['early', 'mid', 'late'], kill_point))
      FILTER (WHERE counts)
    ) AS label,
    string_agg(DISTINCT source, ', ' ORDER BY source) AS source
  FROM counted
  GROUP BY trajectory_id
),

kills_of AS (
  SELECT
    attempts.attempt_id,
    summed.after_recovery,
    summed.at_once,
    summed.late,
    summed.kills,
    summed.kills_at_once,
    summed.late_kills,
    summed.fault,
    summed.late_fault,
    summed.label,
    summed.source,
    if(summed.trajectory_id IS NULL, 'not_killed', 'no_kill') AS none,
    CASE
      WHEN summed.kills_at_once > 0 AND summed.kills_at_once < summed.kills THEN 'not_measured'
      WHEN NOT summed.valid_at_once THEN 'no_such_score'
    END AS fault_at_once
  FROM attempts
  LEFT JOIN summed ON attempts.attempt_id = summed.trajectory_id
),

explained AS (
  SELECT
    *,
    if(fault IS NULL AND coalesce(kills, 0) = 0, none, NULL) AS nothing,
    CASE
      WHEN coalesce(kills, 0) = 0 THEN none
      WHEN fault_at_once IS NOT NULL THEN NULL
      WHEN kills_at_once = 0 THEN 'not_measured'
    END AS nothing_at_once,
    if(late_fault IS NULL AND coalesce(late_kills, 0) = 0, none, NULL) AS nothing_late
  FROM kills_of
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
    after_recovery,
    kills,
    nothing,
    fault,
    if(coalesce(nothing, fault) IS NULL, label, NULL),
    if(coalesce(nothing, fault) IS NULL, source, NULL)
  ) AS ra_after_recovery,
  score_of(
    at_once,
    kills,
    nothing_at_once,
    fault_at_once,
    if(coalesce(nothing_at_once, fault_at_once) IS NULL, label, NULL),
    if(coalesce(nothing_at_once, fault_at_once) IS NULL, source, NULL)
  ) AS ra_immediate,
  score_of(
    late,
    late_kills,
    nothing_late,
    late_fault,
    if(coalesce(nothing_late, late_fault) IS NULL, label, NULL),
    if(coalesce(nothing_late, late_fault) IS NULL, source, NULL)
  ) AS late_ra
FROM cases;
