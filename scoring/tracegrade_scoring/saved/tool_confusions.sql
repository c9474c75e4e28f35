-- The tools that agents pick where another was expected, most frequent first.
--
-- Right or accepted tools with only wrong arguments (criterion b) are in `decisions`, and not
-- here.
--
-- Runs that were killed on purpose or replaced by a later run of their trial do not count.
--
-- Reads:
--   decisions
--   killed_runs
--   superseded_runs
-- Columns:
--   expected_tool  VARCHAR    NULL where none was. One row for each of the first three.
--   picked_tool    VARCHAR    NULL where no call was made.
--   release        VARCHAR    NULL if not sent.
--   decisions      BIGINT     At least 1.
--   tasks          BIGINT     Distinct tasks.
--   criteria       VARCHAR[]  Criteria that failed, sorted; empty if none is recorded.
--   example        VARCHAR    A trajectory with it, the first by id.
-- Order:
--   decisions DESC, expected_tool, picked_tool, release
WITH counted AS (
  SELECT decisions.*
  FROM decisions
  ANTI JOIN superseded_runs ON decisions.trajectory_id = superseded_runs.trajectory_id
  ANTI JOIN killed_runs ON decisions.trajectory_id = killed_runs.trajectory_id
)

SELECT
  expected_tool,
  picked_tool,
  release,
  count(*) AS decisions,
  count(DISTINCT task_id) AS tasks,
  list_sort(list_distinct(flatten(list(failed_criteria)))) AS criteria,
  min(trajectory_id) AS example
FROM counted
WHERE
  counted
  AND NOT correct
  AND picked_tool IS DISTINCT FROM expected_tool
  AND failed_criteria IS DISTINCT FROM ['b']
GROUP BY expected_tool, picked_tool, release
ORDER BY count(*) DESC, expected_tool ASC, picked_tool ASC, release ASC;
