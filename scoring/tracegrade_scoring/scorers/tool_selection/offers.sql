-- The tools offered to each trajectory, by a key: many trajectories share few offers.
--
-- Reads:
--   trajectories
-- Columns:
--   trajectory_id  INTEGER  One row for each trajectory whose offer is known.
--   offer          INTEGER  The first trajectory, by id, with the same offer.
-- Order:
--   trajectory_id
WITH firsts AS (
  SELECT
    offered_tools,
    min(trajectory_id) AS offer
  FROM trajectories
  GROUP BY offered_tools
)

SELECT
  trajectories.trajectory_id,
  firsts.offer
FROM trajectories
INNER JOIN firsts USING (offered_tools)
ORDER BY trajectories.trajectory_id;
