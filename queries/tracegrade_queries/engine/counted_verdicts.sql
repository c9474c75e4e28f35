-- The verdicts that count: the newest of each source on one subject, unless it was withdrawn.
--
-- Verdicts are on the same subject if they have one run, subject, sub-goal, span, kill point and
-- question. Without a span, they must also have one step. A verdict without a time counts if no
-- dated one exists. If several were made at the same time, all of them count. Source:
-- docs/metrics.md, section 8.3.
--
-- Reads:
--   verdicts
-- Columns:
--   *  As in verdicts.
-- Order:
--   none
WITH dated AS (
  SELECT
    trajectory_id,
    subject,
    sub_goal,
    if(span_id IS NULL, step_index, NULL) AS unnamed_step,
    span_id,
    kill_point,
    question,
    source,
    max(made_at) AS newest_at
  FROM verdicts
  WHERE made_at IS NOT NULL
  GROUP BY ALL
)

SELECT verdicts.*  -- noqa: AM04
FROM verdicts
ANTI JOIN dated
  ON
    verdicts.trajectory_id = dated.trajectory_id
    AND verdicts.subject IS NOT DISTINCT FROM dated.subject
    AND verdicts.sub_goal IS NOT DISTINCT FROM dated.sub_goal
    AND if(verdicts.span_id IS NULL, verdicts.step_index, NULL)
    IS NOT DISTINCT FROM dated.unnamed_step
    AND verdicts.span_id IS NOT DISTINCT FROM dated.span_id
    AND verdicts.kill_point IS NOT DISTINCT FROM dated.kill_point
    AND verdicts.question IS NOT DISTINCT FROM dated.question
    AND verdicts.source IS NOT DISTINCT FROM dated.source
    AND coalesce(verdicts.made_at < dated.newest_at, TRUE)
WHERE verdicts.withdrawn IS NOT TRUE;
