-- Steps that went wrong according to people, checks and judges.
--
-- A step is found again by its span, which stays the same if steps are renumbered. If a span has
-- several steps, the step with the given number counts, else the first call. Without a span the
-- number counts. Source: docs/metrics.md, section 9.6.
--
-- Reads:
--   steps
--   verdicts
-- Needs:
--   verdicts WHERE subject = 'step'
-- Columns:
--   attempt_id          INTEGER  The root trajectory.
--   precedence          INTEGER  Precedence of the kind, from the first.
--   kind                VARCHAR  person | check | judge.
--   object              VARCHAR  The verifier; a person's tag, else NULL.
--   sentence            VARCHAR  Text of the verdict.
--   step_trajectory_id  INTEGER  The root or sub-agent that made the step.
--   step_index          INTEGER  In that trajectory; NULL if the step is not there.
--   span_id             VARCHAR  Span of the step.
--   only_reads          BOOLEAN  FALSE.
--   position            INTEGER  NULL.
--   source              VARCHAR  Who judged.
-- Order:
--   none
WITH labels AS (
  SELECT
    row_number() OVER () AS label_number,
    trajectory_id,
    coalesce(step_trajectory_id, trajectory_id) AS step_trajectory_id,
    step_index,
    span_id,
    nullif(trim(tag), '') AS tag,
    nullif(trim(evidence), '') AS note,
    coalesce(source, 'a verifier') AS source,
    CASE
      WHEN split_part(coalesce(source, ''), ':', 1) = 'human' THEN 'person'
      WHEN verdict_rank(source) = 'judge' THEN 'judge'
      ELSE 'check'
    END AS kind
  FROM verdicts
  WHERE subject = 'step' AND verdict_answer(label, value, verdict_rank(source)) IS FALSE
),

found AS (
  SELECT
    labels.label_number,
    arg_min(
      struct_pack(step_index := steps.step_index, span_id := steps.span_id),
      (
        steps.step_index IS DISTINCT FROM labels.step_index, steps.kind <> 'tool_call',
        steps.step_index
      )
    ) AS step
  FROM labels
  INNER JOIN steps
    ON
      labels.step_trajectory_id = steps.trajectory_id
      AND coalesce(
        labels.span_id = steps.span_id,
        labels.span_id IS NULL AND labels.step_index = steps.step_index
      )
  GROUP BY labels.label_number
),

named AS (
  SELECT
    labels.*,
    coalesce(nullif(split_part(labels.source, ':', 2), ''), labels.source) AS name,
    coalesce(labels.note, labels.tag, 'this step failed') AS opinion,
    found.step
  FROM labels
  LEFT JOIN found USING (label_number)
)

SELECT
  trajectory_id AS attempt_id,
  CASE kind WHEN 'person' THEN 1 WHEN 'check' THEN 2 ELSE 22 END AS precedence,
  kind,
  CASE kind WHEN 'check' THEN name WHEN 'person' THEN tag END AS object,
  left(
    CASE kind
      WHEN 'person' THEN concat(clipped(name, 40), ' says: ', opinion)
      WHEN 'judge' THEN concat('judge ', clipped(name, 40), ' says: ', opinion)
      ELSE concat('check failed: ', clipped(name, 40), ': ', opinion)
    END,
    400
  ) AS sentence,
  step_trajectory_id,
  step.step_index,
  coalesce(step.span_id, span_id) AS span_id,
  FALSE AS only_reads,
  NULL::INTEGER AS position,
  source
FROM named;
