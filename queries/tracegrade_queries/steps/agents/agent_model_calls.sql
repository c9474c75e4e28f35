-- The model calls of each agent, with what each took.
--
-- Reads:
--   agent_rows
--   model_call_agents
--   model_calls
--   operations
--   token_counts_of_calls
-- Needs:
--   agent_rows
-- Columns:
--   agent                  BIGINT
--   start_ns               BIGINT   Start of the first of its spans.
--   end_ns                 BIGINT   End of the outermost one; NULL without an end.
--   input_tokens           BIGINT   As sent, as the next.
--   output_tokens          BIGINT
--   model_call             BIGINT   One row each; the rest as in token_counts_of_calls.
--   run                    BIGINT
--   model                  VARCHAR
--   counted                BOOLEAN
--   fresh_input_tokens     HUGEINT
--   cache_read_tokens      BIGINT
--   cache_write_tokens     BIGINT
--   visible_output_tokens  HUGEINT
--   reasoning_tokens       BIGINT
--   stated                 HUGEINT
-- Order:
--   none
SELECT
  if(model_call_agents.run = model_calls.run, model_call_agents.agent, model_calls.run) AS agent,
  model_calls.start_ns,
  if(operations.ended, operations.end_ns, NULL) AS end_ns,
  model_calls.input_tokens,
  model_calls.output_tokens,
  token_counts_of_calls.model_call,
  token_counts_of_calls.run,
  token_counts_of_calls.model,
  token_counts_of_calls.counted,
  token_counts_of_calls.fresh_input_tokens,
  token_counts_of_calls.cache_read_tokens,
  token_counts_of_calls.cache_write_tokens,
  token_counts_of_calls.visible_output_tokens,
  token_counts_of_calls.reasoning_tokens,
  token_counts_of_calls.stated
FROM model_calls
INNER JOIN token_counts_of_calls USING (model_call)
INNER JOIN operations ON model_calls.model_call = operations.key
LEFT JOIN model_call_agents ON model_calls.model_call = model_call_agents.model_call
WHERE model_calls.run IN (SELECT agent_rows.run FROM agent_rows);
