-- The verdict on each sub-goal, from its first source: people, verifier, evaluation result, judge.
--
-- Source: docs/metrics.md, sections 4.1 (`completion_source`) and 8.3 (the order).
--
-- Reads:
--   verdict_opinions
-- Needs:
--   verdict_opinions
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id and sub_goal.
--   sub_goal    VARCHAR  As the verdicts name it.
--   holds       BOOLEAN  Whether it was completed at the end; NULL if the first could not tell.
--   disagree    BOOLEAN  Verdicts of that source said yes and no.
-- Order:
--   none
SELECT
  attempt_id,
  sub_goal,
  arg_min_null(success, rank_order(rank)) AS holds,
  arg_min(disagree, rank_order(rank)) AS disagree
FROM verdict_opinions
WHERE sub_goal <> ''
GROUP BY attempt_id, sub_goal;
