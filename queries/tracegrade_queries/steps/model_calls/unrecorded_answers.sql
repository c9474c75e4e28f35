-- Runs whose last model call may have answered, and whose trace does not hold what it said.
--
-- Its span has no output, or parts without content, or the exporter cut it and no text is left. It
-- neither failed nor
-- stopped to call tools, it did not report that it used no output tokens, and no call of the run
-- follows.
--
-- Reads:
--   calls
--   cut_contents
--   dialect_messages
--   empty_outputs
--   model_calls
--   model_members
--   model_parts
--   operations
--   stop_reasons
--   utility_calls
-- Needs:
--   model_calls
-- Columns:
--   run  BIGINT  One row each.
-- Order:
--   none
WITH last_calls AS (
  SELECT
    model_calls.run,
    arg_max(model_calls.model_call, (model_calls.start_ns, model_calls.model_call)) AS model_call,
    max(model_calls.start_ns) AS start_ns
  FROM model_calls
  ANTI JOIN utility_calls ON model_calls.model_call = utility_calls.model_call
  WHERE NOT model_calls.below_plan
  GROUP BY model_calls.run
),

-- A part without content is an output that was not captured.
recorded AS (
  SELECT key FROM dialect_messages
  WHERE direction = 'out' AND coalesce(text, tool_name, arguments, result) IS NOT NULL
  UNION
  SELECT key FROM empty_outputs
),

cut AS (
  SELECT key FROM cut_contents
  WHERE direction = 'out'
),

silent AS (
  SELECT
    last_calls.run,
    last_calls.model_call,
    last_calls.start_ns
  FROM last_calls
  INNER JOIN model_members USING (model_call)
  INNER JOIN operations USING (key)
  LEFT JOIN stop_reasons USING (key)
  GROUP BY last_calls.run, last_calls.model_call, last_calls.start_ns
  HAVING
    bool_and(operations.ended AND NOT operations.failed)
    AND NOT coalesce(bool_or(stop_reasons.for_tools), FALSE)
    AND coalesce(max(operations.output_tokens), 1) > 0
    AND (bool_or(operations.key IN (FROM cut)) OR NOT bool_or(operations.key IN (FROM recorded)))
),

-- Thoughts are not an answer.
answering AS (
  SELECT DISTINCT model_call
  FROM model_parts
  WHERE
    direction = 'out'
    AND part_type <> 'reasoning'
    AND coalesce(text, tool_name, arguments, result) IS NOT NULL
)

SELECT silent.run
FROM silent
ANTI JOIN answering ON silent.model_call = answering.model_call
ANTI JOIN calls
  ON
    silent.run = calls.run
    AND silent.start_ns <= coalesce(calls.execution_ns, calls.anchor_ns);
