-- Whether each attempt succeeded, and which source decided it.
--
-- The first source with a result decides: people, a verifier, the task's criterion, an evaluation
-- result, a judge (at least 0.7), the trace itself. Verdicts of one rank must all agree on it; of
-- people most decide. A verifier in error makes success an error, and people who are split make it
-- unknown; later sources are not asked then.
-- Source: docs/metrics.md, section 8.3.
--
-- Reads:
--   attempt_members
--   criterion_results
--   trajectories
--   verdict_opinions
-- Columns:
--   attempt_id       INTEGER  One row each.
--   success          BOOLEAN  NULL if not known or in error.
--   success_source   VARCHAR  human | verifier | task | evaluation | judge | trace; NULL if not
--                             known.
--   verifier_failed  BOOLEAN  A verifier gave no usable result, and no person decided.
--   disagree         BOOLEAN  Verdicts of the source that decided said yes and no.
-- Order:
--   attempt_id
WITH opinions AS (
  SELECT
    attempt_id,
    max(success) FILTER (WHERE rank = 'human') AS by_human,
    coalesce(bool_or(rank = 'human'), FALSE) AS has_human,
    max(success) FILTER (WHERE rank = 'verifier') AS by_verifier,
    coalesce(bool_or(rank = 'verifier' AND success IS NULL), FALSE) AS verifier_failed,
    max(success) FILTER (WHERE rank = 'evaluation') AS by_evaluation,
    max(success) FILTER (WHERE rank = 'judge') AS by_judge,
    list(rank) FILTER (WHERE disagree) AS disagreeing
  FROM verdict_opinions
  WHERE sub_goal = ''
  GROUP BY attempt_id
),

known AS (
  SELECT
    attempt_members.attempt_id,
    coalesce(opinions.verifier_failed AND NOT opinions.has_human, FALSE) AS verifier_failed,
    coalesce(opinions.has_human, FALSE) AS has_human,
    opinions.by_human,
    opinions.by_verifier,
    opinions.disagreeing,
    -- A run that waits for somebody is not at its end.
    CASE WHEN trajectories.interrupted IS NOT TRUE THEN criterion_results.success END AS by_task,
    opinions.by_evaluation,
    opinions.by_judge,
    CASE trajectories.outcome WHEN 'success' THEN TRUE WHEN 'failure' THEN FALSE END AS by_trace
  FROM attempt_members
  INNER JOIN trajectories USING (trajectory_id)
  LEFT JOIN opinions ON attempt_members.attempt_id = opinions.attempt_id
  LEFT JOIN criterion_results ON attempt_members.attempt_id = criterion_results.attempt_id
  WHERE attempt_members.depth = 0
)

SELECT  -- noqa: ST06
  attempt_id,
  CASE
    WHEN has_human THEN by_human
    WHEN NOT verifier_failed
      THEN coalesce(by_verifier, by_task, by_evaluation, by_judge, by_trace)
  END AS success,
  CASE
    WHEN has_human THEN 'human'
    WHEN verifier_failed OR by_verifier IS NOT NULL THEN 'verifier'
    WHEN by_task IS NOT NULL THEN 'task'
    WHEN by_evaluation IS NOT NULL THEN 'evaluation'
    WHEN by_judge IS NOT NULL THEN 'judge'
    WHEN by_trace IS NOT NULL THEN 'trace'
  END AS success_source,
  verifier_failed,
  coalesce(list_contains(disagreeing, success_source), FALSE) AS disagree
FROM known
ORDER BY attempt_id;
