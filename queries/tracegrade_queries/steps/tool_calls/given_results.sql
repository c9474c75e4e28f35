-- First model calls of agents' runs whose input ends with results, without a later user message.
--
-- Without an agent's span, a client's instrumentation may begin a trace with each model call.
-- There the results are history, of calls in earlier traces.
--
-- Reads:
--   message_parts
--   message_sources
--   model_calls
--   run_ids
-- Needs:
--   message_parts WHERE direction = 'in' AND part_type = 'tool_call_response'
-- Columns:
--   run            BIGINT   One row each.
--   model_call     BIGINT
--   trace_id       VARCHAR
--   root           BIGINT   Key of the run's root.
--   start_ns       BIGINT   Start of the model call.
--   user_position  HUGEINT  Position of the user's last message; -1 if there is none.
-- Order:
--   none
WITH firsts AS (
  SELECT
    model_calls.run,
    run_ids.trace_id,
    arg_min(model_calls.model_call, (model_calls.start_ns, model_calls.model_call))
      AS model_call,
    min(model_calls.start_ns) AS start_ns,
    any_value(run_ids.root) AS root
  FROM model_calls
  INNER JOIN run_ids USING (run)
  WHERE run_ids.root IS NOT NULL AND NOT model_calls.outside_agent AND NOT model_calls.below_plan
  GROUP BY model_calls.run, run_ids.trace_id
),

sources AS (
  SELECT
    firsts.*,
    message_sources.key
  FROM firsts
  INNER JOIN message_sources USING (model_call)
  WHERE message_sources.gives_input
),

ends AS (
  SELECT
    message_parts.key,
    max(pair_order(message_parts.message_position, message_parts.part_position)) FILTER (
      WHERE message_parts.part_type = 'tool_call_response' AND message_parts.call_id IS NOT NULL
    ) AS given,
    max(pair_order(message_parts.message_position, message_parts.part_position)) FILTER (
      WHERE message_parts.part_type = 'text' AND message_parts.role = 'user'
    ) AS user_position
  FROM message_parts
  WHERE message_parts.direction = 'in' AND message_parts.key IN (SELECT sources.key FROM sources)
  GROUP BY message_parts.key
)

SELECT
  sources.run,
  sources.model_call,
  sources.trace_id,
  sources.root,
  sources.start_ns,
  coalesce(ends.user_position, -1)::HUGEINT AS user_position
FROM sources
INNER JOIN ends USING (key)
WHERE ends.given > coalesce(ends.user_position, -1);
