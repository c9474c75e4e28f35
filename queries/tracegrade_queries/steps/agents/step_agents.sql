-- The agent of each step, in runs in which more than one agent is named.
--
-- A step belongs to the agent of the model call that produced it, an observation to that of its
-- call. Where that is the run's own agent only since the model call is outside the agent's span,
-- the span of the step decides.
--
-- Reads:
--   model_call_agents
--   operation_agents
--   step_rows
-- Needs:
--   operation_agents
-- Columns:
--   run         BIGINT
--   step_index  INTEGER  One row for each of both.
--   agent       BIGINT   As in operation_agents.
-- Order:
--   none
WITH steps AS (
  SELECT
    step_rows.run,
    step_rows.step_index,
    coalesce(step_rows.model_call, called.model_call) AS model_call,
    coalesce(called.span_key, step_rows.span_key) AS span_key
  FROM step_rows
  LEFT JOIN step_rows AS called
    ON step_rows.observed_call = called.call AND step_rows.run = called.run
  WHERE step_rows.run IN (SELECT operation_agents.run FROM operation_agents)
)

SELECT
  steps.run,
  steps.step_index,
  coalesce(
    if(model_call_agents.run = steps.run, nullif(model_call_agents.agent, steps.run), NULL),
    if(operation_agents.run = steps.run, operation_agents.agent, NULL),
    steps.run
  ) AS agent
FROM steps
LEFT JOIN model_call_agents USING (model_call)
LEFT JOIN operation_agents ON steps.span_key = operation_agents.key;
