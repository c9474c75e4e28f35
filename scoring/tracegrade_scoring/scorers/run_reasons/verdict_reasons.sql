-- Verdicts of failure by people, checks and judges that say more than that the run failed.
--
-- If the evidence of a trial names verifiers, each failed verifier is a check. A verdict without
-- evidence, whose label is a mere word for failure, is not a reason. A verdict that a limit ended
-- the run is a reason of `ending_reasons`. Source: docs/metrics.md, section 9.6.
--
-- Reads:
--   verdict_readings
-- Needs:
--   verdict_readings WHERE success IS FALSE
-- Columns:
--   attempt_id          INTEGER  The root trajectory.
--   precedence          INTEGER  Precedence of the kind, from the first.
--   kind                VARCHAR  person | check | judge.
--   object              VARCHAR  The verifier or evaluation; a person's tag, else NULL.
--   sentence            VARCHAR  Text of the verdict.
--   step_trajectory_id  INTEGER  NULL.
--   step_index          INTEGER  NULL.
--   span_id             VARCHAR  NULL.
--   only_reads          BOOLEAN  FALSE.
--   position            INTEGER  NULL.
--   source              VARCHAR  Who judged.
-- Order:
--   none
WITH failures AS (
  SELECT
    attempt_id,
    rank,
    judged_by,
    coalesce(source, 'a verifier') AS source,
    if(label_answer(label) IS FALSE OR lower(label) IN ('bad', 'budget'), NULL, label) AS label,
    by_limit,
    evidence,
    tag,
    CASE WHEN starts_with(evidence, '{') THEN try_cast(evidence AS JSON) END AS facts
  FROM verdict_readings
  WHERE sub_goal = '' AND success IS FALSE
),

checks AS (
  SELECT
    attempt_id,
    source,
    unnest(
      json_transform(
        facts -> '$.verifiers',
        '[{"verifier": "VARCHAR", "outcome": "VARCHAR", "evidence": "VARCHAR"}]'
      )
    ) AS checked
  FROM failures
  WHERE json_type(facts, '$.verifiers') = 'ARRAY'
),

opinions AS (
  SELECT
    attempt_id,
    CASE
      WHEN judged_by = 'human' THEN 'person' WHEN rank = 'judge' THEN 'judge' ELSE 'check'
    END AS kind,
    source,
    coalesce(nullif(split_part(source, ':', 2), ''), source) AS name,
    tag,
    coalesce(nullif(trim(evidence), ''), tag, label) AS opinion
  FROM failures
  WHERE
    coalesce(json_type(facts, '$.verifiers') <> 'ARRAY', TRUE)
    AND (judged_by = 'human' OR NOT by_limit)
),

reasons AS (
  SELECT
    attempt_id,
    if(kind = 'person', 1, if(kind = 'check', 2, 22)) AS precedence,
    kind,
    CASE kind WHEN 'check' THEN name WHEN 'person' THEN tag END AS object,
    CASE kind
      WHEN 'person' THEN concat(clipped(name, 40), ' says: ', opinion)
      WHEN 'judge' THEN concat('judge ', clipped(name, 40), ' says: ', opinion)
      ELSE concat('check failed: ', clipped(name, 40), ': ', opinion)
    END AS sentence,
    source
  FROM opinions
  WHERE opinion IS NOT NULL
  UNION ALL
  SELECT
    attempt_id,
    2 AS precedence,
    'check' AS kind,
    coalesce(checked.verifier, source) AS object,
    concat_ws(
      ': ', 'check failed', clipped(coalesce(checked.verifier, source), 40), checked.evidence
    ) AS sentence,
    source
  FROM checks
  WHERE checked.outcome = 'fail'
)

SELECT
  attempt_id,
  precedence,
  kind,
  object,
  left(sentence, 400) AS sentence,
  NULL::INTEGER AS step_trajectory_id,
  NULL::INTEGER AS step_index,
  NULL::VARCHAR AS span_id,
  FALSE AS only_reads,
  NULL::INTEGER AS position,
  source
FROM reasons;
