-- Judges whose verdicts decide on scores of each release, except for calibrated judges.
--
-- Source: docs/metrics.md, sections 4.2, 8.3 and 8.7.
--
-- Reads:
--   ambiguous_calls
--   sub_goals
--   trajectory_scores
--   counted_verdicts
-- Parameters:
--   $calibrated  VARCHAR[]  Sources of verdicts that are calibrated.
-- Columns:
--   release     VARCHAR    One row for each release, agent_name, run_mode and subject.
--   agent_name  VARCHAR    NULL if the trace names none.
--   run_mode    VARCHAR    As the trace says: production | live | mocked; else NULL.
--   subject     VARCHAR    success | sub_goal | served | planning.
--   sources     VARCHAR[]  Sources of such verdicts, sorted.
-- Order:
--   agent_name, run_mode, release, subject
WITH judged AS (
  SELECT
    trajectory_id,
    'success' AS subject,
    NULL AS sub_goal,
    NULL AS question
  FROM trajectory_scores
  WHERE success.source = 'judge'
  UNION ALL
  SELECT
    trajectory_id,
    'sub_goal' AS subject,
    sub_goal,
    NULL AS question
  FROM sub_goals
  WHERE completion_source = 'judge'
  UNION ALL
  SELECT
    trajectory_id,
    'planning' AS subject,
    NULL AS sub_goal,
    unnest(
      list_filter(
        [
          if(pq_dependency_ordering.source = 'judge', 'dependency_ordering', NULL),
          if(pq_branch_coverage.source = 'judge', 'branch_coverage', NULL),
          if(pq_scope_control.source = 'judge', 'scope_control', NULL),
          if(pq_reversibility.source = 'judge', 'reversibility', NULL)
        ],
        LAMBDA each: each IS NOT NULL
      )
    ) AS question
  FROM trajectory_scores
  WHERE pq_partial.source = 'judge'
),

-- A judge does not decide if another source has a verdict on the same subject.
opinions AS (
  SELECT
    judged.trajectory_id,
    judged.subject,
    verdicts.source,
    bool_and(split_part(coalesce(verdicts.source, ''), ':', 1) = 'judge') OVER (
      PARTITION BY judged.trajectory_id, judged.subject, judged.sub_goal, judged.question
    ) AS by_judges
  FROM judged
  INNER JOIN counted_verdicts AS verdicts
    ON
      left(judged.trajectory_id, 32) = left(verdicts.trajectory_id, 32)
      AND starts_with(judged.trajectory_id, verdicts.trajectory_id)
      AND judged.subject = verdicts.subject
      AND judged.sub_goal IS NOT DISTINCT FROM verdicts.sub_goal
      AND judged.question IS NOT DISTINCT FROM verdicts.question
  UNION ALL
  SELECT
    ambiguous_calls.trajectory_id,
    'served' AS subject,
    verdicts.source,
    TRUE AS by_judges
  FROM ambiguous_calls
  INNER JOIN counted_verdicts AS verdicts
    ON
      left(ambiguous_calls.step_trajectory_id, 32) = left(verdicts.trajectory_id, 32)
      AND starts_with(ambiguous_calls.step_trajectory_id, verdicts.trajectory_id)
      AND ambiguous_calls.step_index = verdicts.step_index
  WHERE
    ambiguous_calls.decided_by = 'judge'
    AND verdicts.subject = 'served'
    AND split_part(coalesce(verdicts.source, ''), ':', 1) = 'judge'
    AND list_contains(ambiguous_calls.candidates, verdicts.sub_goal)
)

SELECT
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  opinions.subject,
  list(DISTINCT opinions.source ORDER BY opinions.source) AS sources
FROM opinions
INNER JOIN trajectory_scores USING (trajectory_id)
WHERE opinions.by_judges AND NOT list_contains($calibrated, opinions.source)  -- noqa: RF02
GROUP BY
  trajectory_scores.release,
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  opinions.subject
ORDER BY
  trajectory_scores.agent_name,
  trajectory_scores.run_mode,
  trajectory_scores.release,
  opinions.subject;
