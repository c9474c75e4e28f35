-- Agreement of each pair of verdict sources on the success of the same trajectory.
--
-- Reads:
--   counted_verdicts
-- Columns:
--   source           VARCHAR  One row for each source and other_source, in the order of names.
--   other_source     VARCHAR
--   trajectories     BIGINT   Trajectories that both sources judged with a number; at least 1.
--   agreed           BIGINT   Trajectories that both put at 0.5 or more, or both below.
--   agreed_share     DOUBLE   agreed / trajectories, in [0, 1].
--   source_higher    BIGINT   Trajectories that only source puts at 0.5 or more.
--   mean_difference  DOUBLE   Mean of source's value minus other_source's.
-- Order:
--   source, other_source
WITH judged AS (
  SELECT
    trajectory_id,
    source,
    avg(value ORDER BY value) AS value
  FROM counted_verdicts
  WHERE subject = 'success' AND value IS NOT NULL
  GROUP BY trajectory_id, source
)

SELECT
  judged.source,
  others.source AS other_source,
  count(*) AS trajectories,
  count(*) FILTER (WHERE (judged.value >= 0.5) = (others.value >= 0.5)) AS agreed,
  agreed / trajectories AS agreed_share,
  count(*) FILTER (WHERE judged.value >= 0.5 AND others.value < 0.5) AS source_higher,
  avg(judged.value - others.value ORDER BY judged.trajectory_id) AS mean_difference
FROM judged
INNER JOIN judged AS others
  ON judged.trajectory_id = others.trajectory_id AND judged.source < others.source
GROUP BY judged.source, others.source
ORDER BY judged.source, others.source;
