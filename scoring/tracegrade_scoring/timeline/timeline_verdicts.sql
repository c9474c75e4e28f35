-- What people, verifiers, judges and evaluations said of the success of one trajectory.
--
-- Reads:
--   trajectories
--   verdicts
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace, in whose files alone it is looked for.
--   $characters     BIGINT   Keep so many characters of each text.
-- Columns:
--   source    VARCHAR  Who judged: human:NAME, judge:NAME, gen_ai.evaluation.result, or a
--                      verifier's name. Equal verdicts are one row.
--   value     DOUBLE   As given; NULL if none was.
--   label     VARCHAR  As given; NULL if none was.
--   evidence  VARCHAR  Explanation that was given; NULL if none.
-- Order:
--   people first, source, evidence, value, label
WITH run AS (
  SELECT
    trajectory_id,
    -- The id of a trace alone means its outermost run.
    if(parent_trajectory_id IS NULL, trace_id, NULL) AS trace_id
  FROM trajectories
  WHERE date = $date AND trajectory_id = $trajectory_id
),

given AS (
  SELECT
    trajectory_id AS named,
    source,
    value,
    label,
    left(evidence, $characters) AS evidence
  FROM verdicts
  WHERE subject = 'success'
)

SELECT DISTINCT
  given.source,
  given.value,
  given.label,
  given.evidence
FROM given
INNER JOIN run ON given.named IN (run.trajectory_id, run.trace_id)
ORDER BY
  NOT starts_with(coalesce(given.source, ''), 'human:'),
  given.source,
  given.evidence,
  given.value,
  given.label;
