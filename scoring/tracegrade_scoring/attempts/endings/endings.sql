-- Attempts that did not end by themselves, or not yet: what they lack is not the agent's choice.
--
-- A missing end does not show the cause: the run may continue, or its process may have died.
--
-- Source: docs/metrics.md, section 3.4.
--
-- Reads:
--   trajectories
--   verdict_readings
-- Columns:
--   trajectory_id  INTEGER  One row for each of these trajectories.
--   ending         VARCHAR  budget (a limit of output, turns or time ended it) | interrupted (it
--                           waits for a person) | crashed (root in error) | unfinished (the root,
--                           or its end, is missing).
-- Order:
--   trajectory_id
WITH limited AS (
  SELECT DISTINCT attempt_id AS trajectory_id
  FROM verdict_readings
  WHERE by_limit
),

run_endings AS (
  SELECT
    trajectories.trajectory_id,
    CASE
      -- The verdict says that a limit ended the attempt.
      WHEN limited.trajectory_id IS NOT NULL THEN 'budget'
      WHEN trajectories.interrupted THEN 'interrupted'
      WHEN names_limit(trajectories.finish_reasons) THEN 'budget'
      WHEN list_contains(trajectories.flags, 'limit_reached') THEN 'budget'
      -- What LangChain's and LangGraph's agents answer in place of a model.
      WHEN
        regexp_matches(
          trajectories.final_answer,
          '^(Agent stopped due to (max iterations|iteration limit|time limit)'
          || '|Sorry, need more steps to process this request\.)'
        )
        THEN 'budget'
      WHEN trajectories.root_failed THEN 'crashed'
      WHEN NOT trajectories.complete THEN 'unfinished'
    END AS ending
  FROM trajectories
  LEFT JOIN limited USING (trajectory_id)
)

SELECT
  trajectory_id,
  ending
FROM run_endings
WHERE ending IS NOT NULL
ORDER BY trajectory_id;
