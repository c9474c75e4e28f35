-- Verdicts on the plan of each attempt, by question: the lowest of the first rank.
--
-- A label that is a word for yes or no is 1 or 0, else the value counts, from 0 to 1. People are
-- verifiers. The lowest verdict of one rank counts, and one that could not tell makes it unknown.
-- Source: docs/metrics.md, sections 5.4 and 8.3.
--
-- Reads:
--   verdicts
-- Needs:
--   verdicts WHERE subject = 'planning'
-- Columns:
--   attempt_id                  INTEGER  One row each, for attempts that such verdicts are about.
--   answered                    BOOLEAN  At least one of them answers a question.
--   dependency_ordering_rank    VARCHAR  verifier | evaluation | judge: rank of the verdict; NULL
--                                        if there is none.
--   dependency_ordering_share   DOUBLE   From 0 to 1; NULL if there is none or it could not tell.
--   branch_coverage_rank        VARCHAR  As dependency_ordering_rank.
--   branch_coverage_share       DOUBLE   As dependency_ordering_share.
--   scope_control_rank          VARCHAR  As dependency_ordering_rank.
--   scope_control_share         DOUBLE   As dependency_ordering_share.
--   reversibility_rank          VARCHAR  As dependency_ordering_rank.
--   reversibility_share         DOUBLE   As dependency_ordering_share.
-- Order:
--   none
WITH answers AS (
  SELECT
    trajectory_id AS attempt_id,
    question,
    verdict_rank(source) AS rank,
    coalesce(
      label_answer(label)::DOUBLE,
      CASE WHEN lower(label) = 'error' THEN NULL WHEN value BETWEEN 0 AND 1 THEN value END
    ) AS share
  FROM verdicts
  WHERE subject = 'planning'
),

ranked AS (
  SELECT
    attempt_id,
    question,
    rank,
    CASE WHEN count(share) = count(*) THEN min(share) END AS share
  FROM answers
  GROUP BY attempt_id, question, rank
),

deciding AS (
  SELECT *
  FROM ranked
  QUALIFY
    rank_order(rank)
    = min(rank_order(rank)) OVER (
      PARTITION BY attempt_id, question
    )
)

SELECT
  attempt_id,
  count(share) > 0 AS answered,
  max(rank) FILTER (WHERE question = 'dependency_ordering') AS dependency_ordering_rank,
  max(share) FILTER (WHERE question = 'dependency_ordering') AS dependency_ordering_share,
  max(rank) FILTER (WHERE question = 'branch_coverage') AS branch_coverage_rank,
  max(share) FILTER (WHERE question = 'branch_coverage') AS branch_coverage_share,
  max(rank) FILTER (WHERE question = 'scope_control') AS scope_control_rank,
  max(share) FILTER (WHERE question = 'scope_control') AS scope_control_share,
  max(rank) FILTER (WHERE question = 'reversibility') AS reversibility_rank,
  max(share) FILTER (WHERE question = 'reversibility') AS reversibility_share
FROM deciding
GROUP BY attempt_id;
