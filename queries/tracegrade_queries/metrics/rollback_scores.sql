-- How each attempt that was killed left the world behind, at once and after recovery.
--
-- A rollback verdict is one kill: `value` is its score after the recovery command (10, 7, 3 or 0),
-- label `not_applicable` says that the run has no such point, `error` that it could not be judged.
-- `evidence` may be a JSON object with `immediate`, the score before recovery, and `boundary`, the
-- calls that had returned. Mid and late at one boundary are one kill. A human's word on a kill
-- comes before others, and alone may be a 5, with evidence; of several the lowest counts.
-- Source: Triangle, "Axis 3"; metrics.md, section 6.
--
-- Reads:
--   attempt_members
--   verdicts
-- Columns:
--   trajectory_id  VARCHAR  The attempt; one row for each trajectory_id and metric.
--   metric         VARCHAR  late_ra | ra_after_recovery | ra_immediate.
--   value          DOUBLE   Numerator / denominator, from 0 to 10; NULL if not scored.
--   numerator      DOUBLE   Sum of the kills' scores; NULL if not scored.
--   denominator    DOUBLE   Kills; NULL if not scored.
--   status         VARCHAR  scored | not_applicable | error.
--   label          VARCHAR  The kills that count, or no_writes where only the early one exists.
--   reason         VARCHAR  Why it was not scored; else NULL.
--   source         VARCHAR  Who judged; several are joined by commas.
-- Order:
--   trajectory_id, metric
WITH given AS (
  SELECT
    verdicts.trajectory_id,
    verdicts.injection,
    verdicts.source,
    verdicts.value AS after_recovery,
    lower(verdicts.label) AS label,
    regexp_matches(
      lower(concat_ws(' ', verdicts.source, verdicts.label)), 'human|manual|override|review|expert'
    ) AS by_human,
    coalesce(verdicts.evidence, '') <> '' AS explained,
    CASE WHEN json_valid(verdicts.evidence) THEN verdicts.evidence END AS facts
  FROM verdicts
  INNER JOIN attempt_members USING (trajectory_id)
  WHERE
    verdicts.subject = 'rollback'
    AND attempt_members.depth = 0
),

heard AS (
  SELECT
    *,
    try_cast(json_extract_string(facts, '$.immediate') AS DOUBLE) AS at_once,
    try_cast(json_extract_string(facts, '$.boundary') AS INTEGER) AS boundary,
    if(by_human AND explained, [0, 3, 5, 7, 10], [0, 3, 7, 10]) AS accepted
  FROM given
  QUALIFY by_human = bool_or(by_human) OVER (PARTITION BY trajectory_id, injection)
),

kills AS (
  SELECT
    trajectory_id,
    injection,
    bool_and(coalesce(label, '') = 'not_applicable') AS absent,
    bool_or(coalesce(label, '') = 'error' OR after_recovery IS NULL) AS unjudged,
    bool_and(coalesce(list_contains(accepted, after_recovery), FALSE)) AS valid,
    bool_and(coalesce(list_contains(accepted, at_once), at_once IS NULL)) AS valid_at_once,
    min(after_recovery) AS after_recovery,
    min(at_once) AS at_once,
    min(boundary) AS boundary,
    string_agg(DISTINCT source, ', ' ORDER BY source) AS source
  FROM heard
  GROUP BY trajectory_id, injection
),

counted AS (
  SELECT
    *,
    NOT absent
    AND NOT (
      injection = 'mid'
      AND coalesce(
        boundary = max(boundary) FILTER (WHERE injection = 'late' AND NOT absent) OVER (
          PARTITION BY trajectory_id
        ),
        FALSE
      )
    ) AS counts,
    CASE
      WHEN absent THEN NULL
      WHEN unjudged THEN 'not_judged: ' || injection
      WHEN NOT valid THEN 'no_such_score: ' || injection
    END AS fault
  FROM kills
),

summed AS (
  SELECT
    trajectory_id,
    sum(after_recovery) FILTER (WHERE counts) AS after_recovery,
    sum(at_once) FILTER (WHERE counts) AS at_once,
    min(after_recovery) FILTER (WHERE injection = 'late' AND NOT absent) AS late,
    count_if(counts)::DOUBLE AS kills,
    count(at_once) FILTER (WHERE counts) AS kills_at_once,
    count_if(injection = 'late' AND NOT absent)::DOUBLE AS late_kills,
    string_agg(fault, ', ' ORDER BY injection) AS fault,
    string_agg(fault, ', ' ORDER BY injection) FILTER (WHERE injection = 'late') AS late_fault,
    bool_and(valid_at_once) AS valid_at_once,
    if(
      count_if(absent AND injection IN ('mid', 'late')) = 2,
      'no_writes',
      string_agg(injection, ', ' ORDER BY list_position(['early', 'mid', 'late'], injection))
      FILTER (WHERE counts)
    ) AS label,
    string_agg(DISTINCT source, ', ' ORDER BY source) AS source
  FROM counted
  GROUP BY trajectory_id
),

metrics AS (
  SELECT
    trajectory_id,
    label,
    source,
    unnest([  -- noqa: AL03
      {
        'metric': 'ra_after_recovery',
        'numerator': after_recovery,
        'denominator': kills,
        'nothing': 'no_kill',
        'fault': fault
      },
      {
        'metric': 'ra_immediate',
        'numerator': at_once,
        'denominator': if(kills_at_once = 0, 0, kills),
        'nothing': 'not_measured',
        'fault': CASE
          WHEN kills_at_once > 0 AND kills_at_once < kills THEN 'not_measured'
          WHEN NOT valid_at_once THEN 'no_such_score'
        END
      },
      {
        'metric': 'late_ra',
        'numerator': late,
        'denominator': late_kills,
        'nothing': 'no_kill',
        'fault': late_fault
      }
    ], recursive := TRUE)
  FROM summed
),

judged AS (
  SELECT
    *,
    CASE
      WHEN fault IS NOT NULL THEN 'error'
      WHEN denominator = 0 THEN 'not_applicable'
      ELSE 'scored'
    END AS status
  FROM metrics
)

SELECT  -- noqa: ST06
  trajectory_id,
  metric,
  CASE WHEN status = 'scored' THEN numerator / denominator END AS value,  -- noqa: RF04
  CASE WHEN status = 'scored' THEN numerator END AS numerator,
  CASE WHEN status = 'scored' THEN denominator END AS denominator,
  status,
  CASE WHEN status = 'scored' THEN label END AS label,  -- noqa: RF04
  coalesce(fault, if(denominator = 0, nothing, NULL)) AS reason,
  CASE WHEN status = 'scored' THEN source END AS source  -- noqa: RF04
FROM judged
ORDER BY trajectory_id, metric;
