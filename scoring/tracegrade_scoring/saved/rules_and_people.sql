-- Agreement of rules and people on which runs went wrong, and at which step.
--
-- Rules say that a run went wrong if they find a reason, and that a step did if they find a wrong
-- decision or a failure mode. Source: docs/metrics.md, sections 8.3 and 9.6.
--
-- Reads:
--   counted_verdicts
--   decisions
--   failures
--   run_reasons
-- Columns:
--   source            VARCHAR  One row for each person: human:NAME.
--   runs              BIGINT   Runs that the person called good or bad; at least 1.
--   agreed            BIGINT   Bad with a reason of rules, or good without one.
--   agreed_share      DOUBLE   agreed / runs, in [0, 1].
--   only_person_bad   BIGINT   The person said bad, and rules found nothing.
--   only_rules_bad    BIGINT   The person said good, and rules found a reason.
--   steps             BIGINT   Steps that failed by the person's verdict.
--   steps_with_rule   BIGINT   Steps among them at which rules found something.
-- Order:
--   source
WITH labeled AS (
  SELECT
    trajectory_id,
    source,
    value = 0 AS is_bad
  FROM counted_verdicts
  WHERE subject = 'success' AND starts_with(source, 'human:') AND value IN (0, 1)
),

by_rules AS (
  SELECT DISTINCT trajectory_id
  FROM run_reasons
  WHERE source = 'static' AND kind NOT IN ('wrong_answer', 'unexplained')
),

found_spans AS (
  SELECT
    trajectory_id,
    span_id
  FROM decisions
  WHERE counted AND correct IS FALSE
  UNION
  SELECT
    trajectory_id,
    span_id
  FROM failures
),

step_counts AS (
  SELECT
    verdicts.source,
    count(*) AS steps,
    count(found_spans.span_id) AS steps_with_rule
  FROM counted_verdicts AS verdicts
  LEFT JOIN found_spans USING (trajectory_id, span_id)
  WHERE verdicts.subject = 'step' AND starts_with(verdicts.source, 'human:')
  GROUP BY verdicts.source
),

run_counts AS (
  SELECT
    labeled.source,
    count(*) AS runs,
    count(*) FILTER (WHERE labeled.is_bad = (by_rules.trajectory_id IS NOT NULL)) AS agreed,
    count(*) FILTER (WHERE labeled.is_bad AND by_rules.trajectory_id IS NULL) AS only_person_bad,
    count(*) FILTER (WHERE NOT labeled.is_bad AND by_rules.trajectory_id IS NOT NULL)
      AS only_rules_bad
  FROM labeled
  LEFT JOIN by_rules ON labeled.trajectory_id = by_rules.trajectory_id
  GROUP BY labeled.source
)

SELECT
  run_counts.source,
  run_counts.runs,
  run_counts.agreed,
  run_counts.agreed / run_counts.runs AS agreed_share,
  run_counts.only_person_bad,
  run_counts.only_rules_bad,
  coalesce(step_counts.steps, 0) AS steps,
  coalesce(step_counts.steps_with_rule, 0) AS steps_with_rule
FROM run_counts
LEFT JOIN step_counts ON run_counts.source = step_counts.source
ORDER BY run_counts.source;
