-- What each trajectory was offered, by a key: few offers stand behind many trajectories.
--
-- Reads:
--   trajectories
-- Columns:
--   trajectory_id  INTEGER  One row for each trajectory of which it is known.
--   offer          INTEGER  The first trajectory, by id, that was offered the same.
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
