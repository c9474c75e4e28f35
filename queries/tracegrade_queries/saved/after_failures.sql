-- The next action of agents after a failed call, by release.
--
-- The action is the next plan, tool call, hand-over or answer of the same trajectory.
--
-- A call's status decides whether it failed; a result that reports an error sets the status. The
-- scoring package's queries about failed calls also count results that match a task file's
-- error_pattern.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   release   VARCHAR  NULL if the spans name none.
--   reaction  VARCHAR  replanned | repeated (same tool and arguments) | changed_arguments |
--                      other_tool | handed_over | answered | stopped. One row for each release.
--   failures  BIGINT   Failed calls before this reaction; at least 1.
--   share     DOUBLE   failures / all failed calls of the release, in (0, 1].
-- Order:
--   release, failures DESC, reaction
WITH acts AS (
  SELECT
    trajectory_id,
    step_index,
    kind,
    tool_name,
    arguments,
    coalesce(status IN ('error', 'not_executed'), FALSE) AS failed,
    lead(kind) OVER following AS next_kind,
    lead(tool_name) OVER following AS next_tool,
    lead(arguments) OVER following AS next_arguments
  FROM steps
  WHERE kind IN ('plan', 'tool_call', 'handoff', 'answer')
  WINDOW following AS (PARTITION BY trajectory_id ORDER BY step_index)
),

reactions AS (
  SELECT
    trajectories.release,
    CASE
      WHEN acts.next_kind IS NULL THEN 'stopped'
      WHEN acts.next_kind = 'plan' THEN 'replanned'
      WHEN acts.next_kind = 'handoff' THEN 'handed_over'
      WHEN acts.next_kind = 'answer' THEN 'answered'
      WHEN acts.next_tool <> acts.tool_name THEN 'other_tool'
      WHEN acts.next_arguments = acts.arguments THEN 'repeated'
      ELSE 'changed_arguments'
    END AS reaction
  FROM acts
  INNER JOIN trajectories USING (trajectory_id)
  WHERE acts.failed
)

SELECT
  release,
  reaction,
  count(*) AS failures,
  count(*) / sum(count(*)) OVER (PARTITION BY release) AS share
FROM reactions
GROUP BY release, reaction
ORDER BY release ASC, failures DESC, reaction ASC;
