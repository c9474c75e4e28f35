-- The runs whose id begins with a text.
--
-- Reads:
--   run_index
-- Parameters:
--   $name  VARCHAR  The id or its beginning.
-- Columns:
--   trajectory_id  VARCHAR    One row each; an equal one comes first.
--   date           DATE       Date its trace was first received, UTC.
--   seq            INTEGER    Its place in the index.
--   dialects       VARCHAR[]  The dialects that read its spans, sorted.
-- Order:
--   equal to $name first, then trajectory_id; at most 10 rows
SELECT
  trajectory_id,
  date,
  seq,
  dialects
FROM run_index
WHERE starts_with(trajectory_id, $name)
ORDER BY trajectory_id != $name, trajectory_id
LIMIT 10;
