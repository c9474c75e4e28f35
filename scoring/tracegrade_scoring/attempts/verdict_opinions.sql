-- The verdicts on the success of each attempt and on its sub-goals, by rank.
--
-- All verdicts of one rank must say yes, and one that could not tell makes the opinion unknown.
-- Among people the majority decides: a person who could not tell has no vote, and an even split is
-- unknown. Source: docs/metrics.md, section 8.3.
--
-- Reads:
--   verdict_readings
-- Needs:
--   verdict_readings
-- Columns:
--   attempt_id  INTEGER  One row for each attempt_id, sub_goal and rank.
--   sub_goal    VARCHAR  '' where it is about the attempt.
--   rank        VARCHAR  human | verifier | evaluation | judge.
--   success     BOOLEAN  NULL if one of them could not tell, or people are split evenly.
--   disagree    BOOLEAN  One of them said yes and another no.
-- Order:
--   none
SELECT
  attempt_id,
  sub_goal,
  rank,
  CASE
    WHEN rank <> 'human' AND count(success) = count(*) THEN bool_and(success)
    WHEN rank = 'human' AND 2 * count_if(success) <> count(success)
      THEN 2 * count_if(success) > count(success)
  END AS success,
  coalesce(bool_or(success) AND NOT bool_and(success), FALSE) AS disagree
FROM verdict_readings
GROUP BY attempt_id, sub_goal, rank
HAVING rank <> 'human' OR count(success) > 0;
