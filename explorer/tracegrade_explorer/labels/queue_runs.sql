-- Unlabeled runs of a filter, in the order in which to label them.
--
-- Runs that were killed on purpose, or sent in addition to the run of their trial, are left out:
-- no rate counts them, and people score what a kill left on its own page.
--
-- Reads:
--   counted_verdicts
--   matching_runs
-- Parameters:
--   $name         VARCHAR    The labeler's name: two people get different random orders.
--   $queue_order  VARCHAR    random | newest | sampled | disagree: runs on which a judge and the
--                            score disagree come first.
--   $labeled      VARCHAR[]  Runs that were labeled since the lake was read.
--   $sampled      VARCHAR[]  Only these runs; NULL for all.
--   $rows         BIGINT     Runs at most.
-- Columns:
--   trajectory_id  VARCHAR  One row each.
--   waiting        BIGINT   Such runs in all; the same in all rows.
--   disagreeing    BIGINT   Those on which a judge and the score disagree; the same in all rows.
-- Order:
--   as asked for, then newest first
SELECT
  waiting.trajectory_id,
  count(*) OVER () AS waiting,
  -- Not FILTER, with which a window over 98,000 runs takes seconds.
  count(if(waiting.disagrees, 1, NULL)) OVER () AS disagreeing
FROM (
  SELECT
    runs.seq,
    runs.trajectory_id,
    CASE
      WHEN $queue_order::VARCHAR = 'random'  -- noqa: RF02
        THEN hash(runs.trajectory_id, $name::VARCHAR)::DOUBLE  -- noqa: RF02
      WHEN $queue_order::VARCHAR = 'disagree'  -- noqa: RF02
        THEN if(judges.success <> (runs.outcome = 'succeeded'), 0, 1)
      ELSE 0
    END AS place,
    judges.success <> (runs.outcome = 'succeeded') AS disagrees
  FROM matching_runs AS runs
  LEFT JOIN (
    SELECT
      trajectory_id,
      bool_or(verdict_answer(label, value, 'judge')) AS success
    FROM counted_verdicts
    WHERE subject = 'success' AND split_part(source, ':', 1) = 'judge'
    GROUP BY trajectory_id
  ) AS judges ON runs.trajectory_id = judges.trajectory_id
  ANTI JOIN (
    SELECT trajectory_id
    FROM counted_verdicts
    WHERE subject = 'success' AND split_part(source, ':', 1) = 'human'
  ) AS people ON runs.trajectory_id = people.trajectory_id
  WHERE
    NOT runs.killed
    AND NOT list_contains($labeled::VARCHAR[], runs.trajectory_id)  -- noqa: RF02
    AND coalesce(list_contains($sampled::VARCHAR[], runs.trajectory_id), TRUE)  -- noqa: RF02
) AS waiting
ORDER BY waiting.place, waiting.seq
LIMIT $rows;
