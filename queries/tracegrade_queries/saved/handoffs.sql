-- Hand-overs from agent to agent, and the number of these trajectories that end in an answer.
--
-- Reads:
--   steps
--   trajectories
-- Columns:
--   agent_name    VARCHAR  Agent that hands over; NULL if not named. One row for each of the first
--                          two.
--   handed_to     VARCHAR  Name of the hand-over's tool, which usually contains the other agent's
--                          name.
--   handoffs      BIGINT   At least 1.
--   trajectories  BIGINT   Trajectories that contain these hand-overs.
--   returned      BIGINT   Trajectories in which the agent hands over to the same one again.
--   answered      BIGINT   Trajectories that end in an answer.
-- Order:
--   handoffs DESC, agent_name, handed_to
WITH handoffs AS (
  SELECT
    steps.trajectory_id,
    steps.agent_name,
    steps.tool_name AS handed_to,
    count(*) AS handoffs,
    any_value(trajectories.final_answer) IS NOT NULL AS is_answered
  FROM steps
  INNER JOIN trajectories USING (trajectory_id)
  WHERE steps.kind = 'handoff'
  GROUP BY steps.trajectory_id, steps.agent_name, steps.tool_name
)

SELECT
  agent_name,
  handed_to,
  sum(handoffs)::BIGINT AS handoffs,
  count(*) AS trajectories,
  count(*) FILTER (WHERE handoffs.handoffs > 1) AS returned,
  count(*) FILTER (WHERE is_answered) AS answered
FROM handoffs
GROUP BY agent_name, handed_to
ORDER BY sum(handoffs.handoffs) DESC, agent_name ASC, handed_to ASC;
