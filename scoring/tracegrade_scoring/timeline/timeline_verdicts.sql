-- Verdicts of people, verifiers, judges and evaluations on one trajectory.
--
-- Reads:
--   trajectories
--   counted_verdicts
-- Parameters:
--   $trajectory_id  VARCHAR  The trajectory.
--   $date           DATE     The date of its trace; only files of that date are read.
--   $characters     BIGINT   Limit of the characters of each text.
--   $rows           BIGINT   Limit of the rows.
-- Columns:
--   subject     VARCHAR  success | sub_goal | served | planning | rollback.
--   sub_goal    VARCHAR  Which sub-goal; NULL unless subject is sub_goal or served.
--   step_index  INTEGER  Step of the call that serves it or not; NULL unless subject is served.
--   question    VARCHAR  Which question about the plan; NULL unless subject is planning.
--   kill_point  VARCHAR  early | mid | late; NULL unless subject is rollback.
--   source      VARCHAR  Who judged: human:NAME, judge:NAME, gen_ai.evaluation.result, or a
--                        verifier's name. Equal verdicts are one row.
--   value       DOUBLE   As given; NULL if none was.
--   label       VARCHAR  As given; NULL if none was.
--   evidence    VARCHAR  Explanation that was given; NULL if none.
--   total       BIGINT   Number of verdicts; the same in all rows.
-- Order:
--   subject in this order, sub_goal, step_index, question, kill_point, people first, source,
--   evidence, value, label
WITH names_of_run AS (
  -- The id of a trace alone means its outermost run.
  SELECT unnest([trajectory_id, if(parent_trajectory_id IS NULL, trace_id, NULL)]) AS named
  FROM trajectories
  WHERE date = $date AND trajectory_id = $trajectory_id
),

given AS (
  SELECT DISTINCT
    subject,
    sub_goal,
    step_index,
    question,
    kill_point,
    source,
    value,
    label,
    left(evidence, $characters) AS evidence
  FROM counted_verdicts
  WHERE trajectory_id IN (SELECT names_of_run.named FROM names_of_run)
)

SELECT
  subject,
  sub_goal,
  step_index,
  question,
  kill_point,
  source,
  value,
  label,
  evidence,
  count(*) OVER () AS total
FROM given
ORDER BY
  list_position(['success', 'sub_goal', 'served', 'planning', 'rollback'], subject),
  sub_goal,
  step_index,
  question,
  kill_point,
  NOT starts_with(coalesce(source, ''), 'human:'),
  source,
  evidence,
  value,
  label
LIMIT $rows;
